// Tables for the rules of pods: defaults, what is rejected with which message, what an update may change.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { decode } from '../../../../schema/decoding/decode.ts'
import { withDefaults } from '../../../../schema/decoding/defaults.ts'
import { fieldErrorText } from '../../../../schema/validation/field-error.ts'
import { validateFields } from '../../../../schema/validation/validate.ts'
import { deployment } from '../../../apps/v1/deployment.ts'
import { replicaSet } from '../../../apps/v1/replica-set.ts'
import type { Kind } from '../../../kind/kind.ts'
import type { ApiObject } from '../../../meta/object.ts'
import { validateFieldRef } from '../container/downward-api-rules.ts'
import { networkSources } from '../volume/network-volume-rules.ts'
import { pod } from './pod.ts'

/** The object as it is in the API server before validation. */
function made<T extends ApiObject>(kind: Kind<T>, spec: object, annotations: object = {}): T {
  const metadata = { name: 'x', namespace: 'default', annotations }
  const { value } = decode(kind.message, { metadata, spec })
  return kind.applyDefaults(withDefaults(kind.message, value as unknown as T))
}

function errorsOf<T extends ApiObject>(kind: Kind<T>, spec: object): string[] {
  const object = made(kind, spec)
  return [...validateFields(kind.message, object), ...kind.validate(object)].map(fieldErrorText)
}

const container = { name: 'c', image: 'i' }
const withContainer = (more: object, spec: object = {}): object => ({
  containers: [{ ...container, ...more }],
  ...spec,
})
const withVolume = (volume: object): object => ({ containers: [container], volumes: [volume] })
const withSpec = (spec: object): object => ({ containers: [container], ...spec })
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

const restartRule = (more: object = {}) => ({
  action: 'Restart',
  exitCodes: { operator: 'In', values: [3] },
  ...more,
})
const withRules = (...restartPolicyRules: object[]) => withContainer({ restartPolicy: 'Never', restartPolicyRules })
const ruleAt = 'spec.containers[0].restartPolicyRules'

type Row = [why: string, spec: object, errors: string[]]

const accepted: Row[] = [
  ['only a container', withSpec({}), []],
  ['a variable that no shell could set', withContainer({ env: [{ name: 'Bad Value!', value: 'x' }] }), []],
  [
    'a downward API file',
    withVolume({ name: 'd', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: "metadata.labels['a']" } }] } }),
    [],
  ],
  ['a negative grace period', withSpec({ terminationGracePeriodSeconds: -1 }), []],
  [
    'a sidecar with a probe',
    withSpec({
      initContainers: [{ ...container, name: 's', restartPolicy: 'Always', livenessProbe: { tcpSocket: { port: 1 } } }],
    }),
    [],
  ],
  [
    'a rule with RestartAllContainers',
    withContainer({ restartPolicy: 'Never', restartPolicyRules: [restartRule({ action: 'RestartAllContainers' })] }),
    [],
  ],
  ['an extended resource', withContainer({ resources: { limits: { 'a.b/c': '2' } } }), []],
  ['an Exists without a key', withSpec({ tolerations: [{ operator: 'Exists' }] }), []],
]

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

const volumes: Row[] = [
  ['a bad volume name', withVolume({ name: 'Bad!' }), [`spec.volumes[0].name: Invalid value: "Bad!": ${label}`]],
  [
    'two sources',
    withVolume({ name: 'v', emptyDir: {}, nfs: { server: 's', path: '/' } }),
    ['spec.volumes[0].nfs: Forbidden: may not specify more than 1 volume type'],
  ],
  [
    'a secret without a name',
    withVolume({ name: 'v', secret: {} }),
    ['spec.volumes[0].secret.secretName: Required value'],
  ],
  [
    'a path that leaves its volume',
    withVolume({ name: 'v', configMap: { name: 'c', items: [{ key: 'k', path: '../x', mode: 512 }] } }),
    [
      `spec.volumes[0].configMap.items[0].path: Invalid value: "../x": must not contain '..'`,
      'spec.volumes[0].configMap.items[0].mode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive',
    ],
  ],
  [
    'a downward API file without a source',
    withVolume({ name: 'v', downwardAPI: { items: [{ path: 'p' }] } }),
    ['spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required'],
  ],
  [
    'a token with a short lifetime',
    withVolume({ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 60 } }] } }),
    [
      'spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
    ],
  ],
  [
    'files with the same path',
    withVolume({
      name: 'v',
      projected: {
        sources: [
          { serviceAccountToken: { path: 't' } },
          { configMap: { name: 'c', items: [{ key: 'k', path: 't' }] } },
        ],
      },
    }),
    ['spec.volumes[0].projected: Invalid value: "c": conflicting duplicate paths'],
  ],
  [
    'a relative NFS path',
    withVolume({ name: 'v', nfs: { server: 's', path: 'x' } }),
    ['spec.volumes[0].nfs.path: Invalid value: "x": must be an absolute path'],
  ],
  [
    'a claim without a name',
    withVolume({ name: 'v', persistentVolumeClaim: {} }),
    ['spec.volumes[0].persistentVolumeClaim.claimName: Required value'],
  ],
]

const security: Row[] = [
  [
    'a negative user',
    withSpec({ securityContext: { runAsUser: -1 } }),
    ['spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
  ],
  [
    'a local seccomp profile without a file',
    withSpec({ securityContext: { seccompProfile: { type: 'Localhost' } } }),
    [
      'spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
    ],
  ],
  [
    'a duplicate sysctl',
    withSpec({
      securityContext: {
        sysctls: [
          { name: 'a.b', value: '1' },
          { name: 'a.b', value: '2' },
        ],
      },
    }),
    ['spec.securityContext.sysctls[1].name: Duplicate value: "a.b"'],
  ],
  [
    'a sysctl of the host',
    withSpec({ hostNetwork: true, securityContext: { sysctls: [{ name: 'net.a', value: '1' }] } }),
    [`spec.securityContext.sysctls[0].name: Invalid value: "net.a": may not be specified when 'hostNetwork' is true`],
  ],
  [
    'a shared process namespace with the host',
    withSpec({ hostPID: true, shareProcessNamespace: true }),
    ['spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled'],
  ],
  [
    'privileges on Windows',
    withContainer({ securityContext: { privileged: true } }, { os: { name: 'windows' } }),
    ['spec.containers[0].securityContext.privileged: Forbidden: cannot be set for a windows pod'],
  ],
]

const term = { topologyKey: 'zone' }
const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }
const placement: Row[] = [
  [
    'a node affinity without terms',
    withSpec({
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
    }),
    [
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term',
    ],
  ],
  [
    'an operator that does not exist',
    withSpec({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'Like' }] }],
          },
        },
      },
    }),
    [
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
    ],
  ],
  [
    'a weight above the maximum',
    withSpec({
      affinity: {
        podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, podAffinityTerm: term }] },
      },
    }),
    [
      'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100',
    ],
  ],
  [
    'no skew',
    withSpec({ topologySpreadConstraints: [{ ...spread, maxSkew: 0 }] }),
    ['spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero'],
  ],
  [
    'a duplicate spread constraint',
    withSpec({ topologySpreadConstraints: [spread, spread] }),
    ['spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"'],
  ],
  [
    'tolerationSeconds without NoExecute',
    withSpec({ tolerations: [{ key: 'k', tolerationSeconds: 5 }] }),
    [`spec.tolerations[0].effect: Invalid value: "": effect must be 'NoExecute' when \`tolerationSeconds\` is set`],
  ],
  [
    'a toleration without a key',
    withSpec({ tolerations: [{}] }),
    [
      'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  [
    'a duplicate scheduling gate',
    withSpec({ schedulingGates: [{ name: 'g' }, { name: 'g' }] }),
    ['spec.schedulingGates[1]: Duplicate value: "g"'],
  ],
  [
    'a deadline of zero',
    withSpec({ activeDeadlineSeconds: 0 }),
    ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
  ],
]

const network: Row[] = [
  [
    'a bad alias',
    withSpec({ hostAliases: [{ ip: 'x', hostnames: ['h'] }] }),
    ['spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [
    'dnsPolicy None without a configuration',
    withSpec({ dnsPolicy: 'None' }),
    ['spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
  ],
  [
    'too many name servers',
    withSpec({ dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] } }),
    [
      'spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]: must not have more than 3 nameservers',
    ],
  ],
  ['a bad host name', withSpec({ hostname: 'Bad!' }), [`spec.hostname: Invalid value: "Bad!": ${label}`]],
]

for (const [why, spec, expected] of [
  ...accepted,
  ...containers,
  ...environment,
  ...probes,
  ...volumes,
  ...security,
  ...placement,
  ...network,
])
  test(`a Pod with ${why} is ${expected.length === 0 ? 'accepted' : 'rejected'}`, () => {
    deepEqual(errorsOf(pod, spec), expected)
  })

test('a Pod: defaults', () => {
  const { spec } = made(pod, {
    initContainers: [{ name: 'i', image: 'i', resources: { limits: { cpu: '1' } } }],
    containers: [{ ...container, startupProbe: { grpc: { port: 80 } }, livenessProbe: { httpGet: { port: 80 } } }],
    volumes: [{ name: 'v' }, { name: 'h', hostPath: { path: '/' } }, { name: 'i', image: { reference: 'a:1' } }],
    serviceAccount: 'robot',
  })
  deepEqual(spec.volumes, [
    { name: 'v', emptyDir: {} },
    { name: 'h', hostPath: { path: '/', type: '' } },
    { name: 'i', image: { reference: 'a:1', pullPolicy: 'IfNotPresent' } },
  ])
  const times = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }
  deepEqual(spec.containers[0]?.startupProbe, { grpc: { port: 80, service: '' }, ...times })
  deepEqual(spec.containers[0]?.livenessProbe, { httpGet: { port: 80, path: '/', scheme: 'HTTP' }, ...times })
  deepEqual(spec.initContainers?.[0]?.resources.requests, { cpu: '1' })
  equal(spec.initContainers?.[0]?.imagePullPolicy, 'Always')
  deepEqual([spec.serviceAccountName, spec.enableServiceLinks], ['robot', true])
})

test('a negative grace period is 1 in a Pod, and is kept in a template', () => {
  const grace = (seconds: number) => withSpec({ terminationGracePeriodSeconds: seconds })
  const inPod = (seconds: number) => made(pod, grace(seconds)).spec.terminationGracePeriodSeconds
  deepEqual([inPod(-5), inPod(0), inPod(7)], [1, 0, 7])
  equal(made(deployment, { template: { spec: grace(-5) } }).spec.template.spec.terminationGracePeriodSeconds, -5)
})

test('a template does not get all defaults of a Pod: requests, host ports and service links are set later', () => {
  const ports = [{ containerPort: 80 }]
  const template = { spec: withContainer({ ports, resources: { limits: { cpu: '1' } } }, { hostNetwork: true }) }
  const { spec } = made(deployment, { template }).spec.template
  deepEqual(spec.containers[0]?.ports, [{ containerPort: 80, protocol: 'TCP' }])
  deepEqual(spec.containers[0]?.resources, { limits: { cpu: '1' } })
  equal(spec.enableServiceLinks, undefined)
})

test('a Pod with a deletion cost that is not a number is rejected', () => {
  const cost = 'controller.kubernetes.io/pod-deletion-cost'
  const errors = (value: string) => pod.validate(made(pod, withSpec({}), { [cost]: value })).map(fieldErrorText)
  deepEqual(errors('-5'), [])
  deepEqual(errors('much'), [`metadata.annotations[${cost}]: Invalid value: "much": must be a 32bit integer`])
})

const before = withSpec({
  activeDeadlineSeconds: 5,
  tolerations: [{ key: 'a', operator: 'Exists' }],
  schedulingGates: [{ name: 'g' }],
  nodeSelector: { a: 'b' },
})
const updates: [why: string, change: object, errors: (string | RegExp)[]][] = [
  ['another image', { containers: [{ ...container, image: 'j' }] }, []],
  ['a shorter deadline', { activeDeadlineSeconds: 4 }, []],
  [
    'a longer deadline',
    { activeDeadlineSeconds: 6 },
    ['spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value'],
  ],
  [
    'an additional toleration',
    {
      tolerations: [
        { key: 'a', operator: 'Exists' },
        { key: 'b', operator: 'Exists' },
      ],
    },
    [],
  ],
  [
    'a removed toleration',
    { tolerations: [] },
    ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
  ],
  ['a removed gate', { schedulingGates: [] }, []],
  [
    'a new gate',
    { schedulingGates: [{ name: 'g' }, { name: 'h' }] },
    [`spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'h'`],
  ],
  ['a narrower selector of a gated pod', { nodeSelector: { a: 'b', c: 'd' } }, []],
  [
    'another selector of a gated pod',
    { nodeSelector: { c: 'd' } },
    [
      'spec.nodeSelector: Invalid value: {"c":"d"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ],
  ],
  [
    'a second container',
    { containers: [container, { ...container, name: 'd' }] },
    ['spec.containers: Forbidden: pod updates may not add or remove containers'],
  ],
]
for (const [why, change, expected] of updates)
  test(`an update of a Pod with ${why}`, () => {
    const errors = pod.validateUpdate(made(pod, { ...before, ...change }), made(pod, before))
    deepEqual(errors.map(fieldErrorText), expected)
  })

const mirror = 'kubernetes.io/config.mirror'
const appArmor = 'container.apparmor.security.beta.kubernetes.io/c'
const annotated: [why: string, annotations: Record<string, string>, spec: object, errors: string[]][] = [
  [
    'a mirror annotation without a node',
    { [mirror]: 'h' },
    {},
    [`metadata.annotations[${mirror}]: Invalid value: "h": must set spec.nodeName if mirror pod annotation is set`],
  ],
  ['a mirror annotation and a node', { [mirror]: 'h' }, { nodeName: 'n' }, []],
  ['AppArmor profiles', { [appArmor]: 'localhost/p' }, {}, []],
  [
    'an AppArmor profile that does not exist, of a container that does not exist',
    { [`${appArmor}2`]: 'off' },
    {},
    [
      `metadata.annotations[${appArmor}2]: Invalid value: "c2": container not found`,
      `metadata.annotations[${appArmor}2]: Invalid value: "off": invalid AppArmor profile name: "off"`,
    ],
  ],
]
for (const [why, annotations, spec, expected] of annotated)
  test(`the annotations of a Pod: ${why}`, () =>
    deepEqual(pod.validate(made(pod, withSpec(spec), annotations)).map(fieldErrorText), expected))

const annotationUpdates: [why: string, now: Record<string, string>, old: Record<string, string>, error?: string][] = [
  ['another annotation', { a: 'b' }, { c: 'd' }],
  ['the same mirror annotation', { [mirror]: 'h' }, { [mirror]: 'h' }],
  ['a new mirror annotation', { [mirror]: 'h' }, {}, `${mirror}]: Forbidden: may not add mirror pod annotation`],
  [
    'a changed mirror annotation',
    { [mirror]: 'i' },
    { [mirror]: 'h' },
    `${mirror}]: Forbidden: may not remove or update mirror pod annotation`,
  ],
  [
    'a removed mirror annotation',
    {},
    { [mirror]: 'h' },
    `${mirror}]: Forbidden: may not remove or update mirror pod annotation`,
  ],
  [
    'a new AppArmor annotation',
    { [appArmor]: 'unconfined' },
    {},
    `${appArmor}]: Forbidden: may not add AppArmor annotations`,
  ],
  [
    'a changed AppArmor annotation',
    { [appArmor]: 'unconfined' },
    { [appArmor]: 'runtime/default' },
    `${appArmor}]: Forbidden: may not remove or update AppArmor annotations`,
  ],
]
for (const [why, now, old, error] of annotationUpdates)
  test(`an update of a Pod, or of its status, with ${why}`, () => {
    const object = made(pod, withSpec({ nodeName: 'n' }), now)
    const oldPod = made(pod, withSpec({ nodeName: 'n' }), old)
    const expected = error === undefined ? [] : [`metadata.annotations[${error}`]
    deepEqual(pod.validateUpdate(object, oldPod).map(fieldErrorText), expected)
    deepEqual(pod.validateStatusUpdate?.(object, oldPod).map(fieldErrorText), expected)
  })

const owned = (spec: object, more: object = {}): object => ({
  selector: { matchLabels: { a: 'b' } },
  template: { metadata: { labels: { a: 'b' } }, spec },
  ...more,
})

test('pods of Deployments and ReplicaSets must always restart', () => {
  for (const kind of [deployment, replicaSet] as Kind[])
    deepEqual(errorsOf(kind, owned(withSpec({ activeDeadlineSeconds: 5 }))), [
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
    ])
})

test('a Deployment: unknown strategies, and a maximum above 100 %', () => {
  const rejected = (strategy: object) => errorsOf(deployment, owned(withSpec({}), { strategy }))
  deepEqual(rejected({ type: 'Blue' }), [
    'spec.strategy: Unsupported value: {"Type":"Blue","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
  ])
  deepEqual(rejected({ rollingUpdate: { maxUnavailable: '101%' } }), [
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
  ])
})

test('a Pod: readiness gates are counted', () => {
  const cell = pod.columns.find(({ name }) => name === 'Readiness Gates')?.cell
  const waiting = made(pod, withSpec({ readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] }))
  const status = { conditions: [{ type: 'a', status: 'True' }] }
  equal(cell?.({ ...waiting, status }, 0), '1/2')
  equal(cell?.(made(pod, withSpec({})), 0), '<none>')
})

/** A backtracking pattern takes minutes for these. */
const long = 300_000
const subscripts: [fieldPath: string, isValid: boolean][] = [
  ["metadata.labels['a']", true],
  ["metadata.annotations['a/b']", true],
  ["metadata.labels['a']['b']", false],
  ["metadata.labels['']", false],
  ["metadata.labels[']", false],
  ["['a']", false],
  [`metadata.labels${"['".repeat(long)}`, false],
  [`${"['".repeat(long)}']`, false],
]
for (const [fieldPath, isValid] of subscripts)
  test(`the field path ${fieldPath.slice(0, 30)} is ${isValid ? 'valid' : 'invalid'}`, () =>
    equal(validateFieldRef({ apiVersion: 'v1', fieldPath }, 'environment', 'at').length === 0, isValid))

const initiators: [iqn: string, isValid: boolean][] = [
  ['iqn.2001-04.com.example:storage', true],
  ['iqnx iqn.2001-04.com.example:storage', true],
  ['iqn.2001-04.com.example', false],
  ['iqn.2001-04.com.example:', false],
  ['iqn.2001-04.com.example:a b', false],
  ['iqn.2001-04.com.example:a,iqn.2001-04.b:c', true],
  [`${'iqn.2001-04.'.repeat(long)}!`, false],
  [`${'iqn.2001-04.a:'.repeat(long)},`, false],
]
for (const [iqn, isValid] of initiators)
  test(`the initiator name ${iqn.slice(0, 40)} is ${isValid ? 'valid' : 'invalid'}`, () => {
    const iscsi = { targetPortal: '10.0.0.1:3260', iqn, lun: 0 }
    equal(networkSources.iscsi({ iscsi } as never, 'at').length, isValid ? 0 : 1)
  })
