// Tables for the rules of containers: their fields, environment and probes.
import {
  checkRows,
  container,
  restartRule,
  type Row,
  ruleAt,
  withContainer,
  withRules,
  withSpec,
} from './pod-rules.harness.ts'

const containers: Row[] = [
  [
    'a container with the name of an init container',
    withSpec({ initContainers: [container] }),
    ['spec.initContainers[0].name: Duplicate value: "c"'],
  ],
  [
    'an image with spaces',
    withSpec({ containers: [{ ...container, image: ' i' }] }),
    ['spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace'],
  ],
  [
    'an unknown restart policy',
    withSpec({ restartPolicy: 'Sometimes' }),
    ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
  ],
  [
    'restart rules without a policy',
    withContainer({ restartPolicyRules: [restartRule()] }),
    ['spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used'],
  ],
  [
    'an unknown restart policy of an init container',
    withSpec({ initContainers: [{ ...container, name: 's', restartPolicy: 'Sometimes' }] }),
    [
      'spec.initContainers[0].restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"',
    ],
  ],
  [
    'a rule with an unknown action',
    withRules(restartRule(), restartRule({ action: 'DoNotRestart' })),
    [`${ruleAt}[1].action: Unsupported value: "DoNotRestart": supported values: "Restart", "RestartAllContainers"`],
  ],
  [
    'a rule without an action and exit codes',
    withRules({}),
    [
      `${ruleAt}[0].action: Unsupported value: "": supported values: "Restart", "RestartAllContainers"`,
      `${ruleAt}[0].exitCodes: Required value: must be specified`,
    ],
  ],
  [
    'exit codes with an unknown operator or none',
    withRules(
      restartRule({ exitCodes: { operator: 'Equals', values: [3] } }),
      restartRule({ exitCodes: { values: [3] } }),
    ),
    [
      `${ruleAt}[0].exitCodes.operator: Unsupported value: "Equals": supported values: "In", "NotIn"`,
      `${ruleAt}[1].exitCodes.operator: Unsupported value: "": supported values: "In", "NotIn"`,
    ],
  ],
  [
    'too many rules and exit codes',
    withRules(
      restartRule({ exitCodes: { operator: 'In', values: Array.from({ length: 256 }, (_, code) => code) } }),
      ...Array.from({ length: 20 }, () => restartRule()),
    ),
    [
      `${ruleAt}: Too many: 21: must have at most 20 items`,
      `${ruleAt}[0].exitCodes.values: Too many: 256: must have at most 255 items`,
    ],
  ],
  [
    'a port without a number',
    withContainer({ ports: [{}] }),
    ['spec.containers[0].ports[0].containerPort: Required value'],
  ],
  [
    'a port above 65535',
    withContainer({ ports: [{ containerPort: 99_999 }] }),
    ['spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive'],
  ],
  [
    'a duplicate host port',
    withContainer({
      ports: [
        { containerPort: 1, hostPort: 80 },
        { containerPort: 2, hostPort: 80 },
      ],
    }),
    ['spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"'],
  ],
  [
    'another port on the host network',
    withContainer({ ports: [{ containerPort: 1, hostPort: 2 }] }, { hostNetwork: true }),
    ['spec.containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is true'],
  ],
  [
    'a mount of an unknown volume',
    withContainer({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
    ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
  ],
  [
    'a volume device of an emptyDir',
    { containers: [{ ...container, volumeDevices: [{ name: 'v', devicePath: '/v' }] }], volumes: [{ name: 'v' }] },
    [
      'spec.containers[0].volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
    ],
  ],
  [
    'a probe in an init container',
    withSpec({ initContainers: [{ ...container, name: 'i', livenessProbe: { tcpSocket: { port: 1 } } }] }),
    [
      'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
    ],
  ],
  [
    'an ephemeral container with a port and an unknown target',
    withSpec({
      ephemeralContainers: [{ name: 'e', image: 'i', targetContainerName: 't', ports: [{ containerPort: 1 }] }],
    }),
    [
      'spec.ephemeralContainers[0].targetContainerName: Not found: "t"',
      'spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
      'spec.ephemeralContainers: Forbidden: cannot be set on create',
    ],
  ],
  [
    'a nodeName for a gated pod',
    withSpec({ nodeName: 'n', schedulingGates: [{ name: 'example.com/gate' }] }),
    ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
  ],
  [
    'a request above its limit',
    withContainer({ resources: { requests: { cpu: '5' }, limits: { cpu: '1' } } }),
    ['spec.containers[0].resources.requests: Invalid value: "5": must be less than or equal to cpu limit of 1'],
  ],
  [
    'a request below the limit of an extended resource',
    withContainer({ resources: { requests: { 'a.b/c': '1' }, limits: { 'a.b/c': '2' } } }),
    ['spec.containers[0].resources.requests: Invalid value: "1": must be equal to a.b/c limit of 2'],
  ],
  [
    'a fraction of an extended resource',
    withContainer({ resources: { limits: { 'a.b/c': '500m' } } }),
    [
      'spec.containers[0].resources.limits[a.b/c]: Invalid value: "500m": must be an integer',
      'spec.containers[0].resources.requests[a.b/c]: Invalid value: "500m": must be an integer',
    ],
  ],
  [
    'a negative limit',
    withContainer({ resources: { limits: { cpu: '-1' } } }),
    [
      'spec.containers[0].resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ],
  ],
  [
    'a claim that the pod does not have',
    withContainer({ resources: { claims: [{ name: 'gpu' }] } }),
    ['spec.containers[0].resources.claims[0].name: Not found: "gpu"'],
  ],
]

const environment: Row[] = [
  [
    'an environment variable with an empty source',
    withContainer({ env: [{ name: 'A', valueFrom: {} }] }),
    [
      'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    ],
  ],
  [
    'an environment variable with two sources',
    withContainer({ env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
    ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
  ],
  [
    'a field that is not available to variables',
    withContainer({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } }] }),
    [
      'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
    ],
  ],
  [
    'an unknown field',
    withContainer({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.nope' } } }] }),
    [
      'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.nope": error converting fieldPath: field label not supported: spec.nope',
    ],
  ],
  [
    'a divisor of memory for cpu',
    withContainer({
      env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1Mi' } } }],
    }),
    [
      `spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
    ],
  ],
  [
    'an invalid key of a secret',
    withContainer({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: '..' } } }] }),
    [`spec.containers[0].env[0].valueFrom.secretKeyRef.key: Invalid value: "..": must not be '..'`],
  ],
  [
    'an envFrom with an empty source',
    withContainer({ envFrom: [{}] }),
    ['spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
  ],
]

const probes: Row[] = [
  [
    'a probe without a handler',
    withContainer({ readinessProbe: {} }),
    ['spec.containers[0].readinessProbe: Required value: must specify a handler type'],
  ],
  [
    'a probe with two handlers',
    withContainer({ readinessProbe: { exec: { command: ['x'] }, grpc: { port: 1 } } }),
    ['spec.containers[0].readinessProbe.grpc: Forbidden: may not specify more than 1 handler type'],
  ],
  [
    'a liveness probe with a success threshold of 2',
    withContainer({ livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } }),
    ['spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1'],
  ],
  [
    'a probe with a negative period',
    withContainer({ readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: -1 } }),
    ['spec.containers[0].readinessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'a port name that is a number',
    withContainer({ livenessProbe: { httpGet: { port: '1' } } }),
    ['spec.containers[0].livenessProbe.httpGet.port: Invalid value: "1": must contain at least one letter (a-z)'],
  ],
  [
    'a hook that sleeps too long',
    withContainer({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
    [
      'spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)',
    ],
  ],
  [
    'an empty command',
    withContainer({ lifecycle: { postStart: { exec: {} } } }),
    ['spec.containers[0].lifecycle.postStart.exec.command: Required value'],
  ],
]

checkRows([...containers, ...environment, ...probes])
