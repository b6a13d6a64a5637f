// Tables for the rules of pods: defaults, and what is rejected with which message.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { fieldErrorText } from '../../../../schema/validation/field-error.ts'
import { deployment } from '../../../apps/v1/deployment.ts'
import { replicaSet } from '../../../apps/v1/replica-set.ts'
import type { Kind } from '../../../kind/kind.ts'
import { validateFieldRef } from '../container/downward-api-rules.ts'
import { networkSources } from '../volume/network-volume-rules.ts'
import { pod } from './pod.ts'
import {
  checkRows,
  container,
  errorsOf,
  label,
  made,
  restartRule,
  type Row,
  withContainer,
  withSpec,
  withVolume,
} from './pod-rules.harness.ts'

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

checkRows([...accepted, ...volumes, ...security, ...placement, ...network])

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
