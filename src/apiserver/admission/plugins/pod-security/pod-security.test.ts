import { deepEqual, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { PodSpec } from '../../../../api/core/v1/pod-spec/pod-spec.ts'
import { ConfigReader } from '../../../config/config-reader.ts'
import { startServer } from '../../../server.harness.ts'
import { defaultAdmissionPlugins } from '../../plugins.ts'
import { checkedPod } from './pod-security-check.ts'
import { podSecurityConfiguration } from './pod-security-configuration.ts'
import { violationsOf, violationText } from './violations.ts'
import { labelErrors, policyOf, policyText, type Level } from './pod-security-level.ts'
import { podSecurity } from './pod-security.ts'
import { openPolicies } from '../../../open-policies.ts'

const hardened = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}
const container = (more: object = {}, name = 'c') => ({ name, image: 'i', resources: {}, ...more })
const hard = (context: object, name = 'c') => container({ securityContext: { ...hardened, ...context } }, name)
const specOf = (more: object) => ({ containers: [hard({})], ...more }) as unknown as PodSpec

const rows: [string, Level, object, string[], { minor?: number; annotations?: Record<string, string> }?][] = [
  ['a hardened pod meets every level', 'restricted', {}, []],
  ['privileged allows everything', 'privileged', { hostPID: true }, []],
  [
    'a bare container violates restricted',
    'restricted',
    { containers: [container(), container({}, 'd')] },
    [
      'allowPrivilegeEscalation != false (containers "c", "d" must set securityContext.allowPrivilegeEscalation=false)',
      'unrestricted capabilities (containers "c", "d" must set securityContext.capabilities.drop=["ALL"])',
      'runAsNonRoot != true (pod or containers "c", "d" must set securityContext.runAsNonRoot=true)',
      'seccompProfile (pod or containers "c", "d" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ],
  ],
  ['a bare container meets baseline', 'baseline', { containers: [container()] }, []],
  [
    'host namespaces',
    'baseline',
    { hostNetwork: true, hostPID: true, hostIPC: true },
    ['host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)'],
  ],
  [
    'hostPath volumes',
    'baseline',
    {
      volumes: [
        { name: 'a', hostPath: {} },
        { name: 'b', hostPath: {} },
      ],
    },
    ['hostPath volumes (volumes "a", "b")'],
  ],
  [
    'volume types',
    'restricted',
    {
      volumes: [
        { name: 'a', hostPath: {} },
        { name: 'b', emptyDir: {} },
      ],
    },
    ['restricted volume types (volume "a" uses restricted volume type "hostPath")'],
  ],
  [
    'host ports',
    'baseline',
    { containers: [container({ ports: [{ containerPort: 1, hostPort: 80 }] })] },
    ['hostPort (container "c" uses hostPort 80)'],
  ],
  [
    'a privileged container with capabilities',
    'baseline',
    {
      containers: [container({ securityContext: { privileged: true, capabilities: { add: ['NET_ADMIN', 'CHOWN'] } } })],
    },
    [
      'non-default capabilities (container "c" must not include "NET_ADMIN" in securityContext.capabilities.add)',
      'privileged (container "c" must not set securityContext.privileged=true)',
    ],
  ],
  [
    'capabilities that are not dropped',
    'restricted',
    { containers: [hard({ capabilities: { drop: ['ALL'], add: ['CHOWN', 'NET_BIND_SERVICE'] } })] },
    ['unrestricted capabilities (container "c" must not include "CHOWN" in securityContext.capabilities.add)'],
  ],
  [
    'custom SELinux options',
    'baseline',
    { securityContext: { seLinuxOptions: { type: 'spc_t', user: 'u' } } },
    ['seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set)'],
  ],
  [
    'proc unmasked',
    'baseline',
    { containers: [container({ securityContext: { procMount: 'Unmasked' } })] },
    ['procMount (container "c" must not set securityContext.procMount to "Unmasked")'],
  ],
  [
    'seccomp off',
    'baseline',
    { securityContext: { seccompProfile: { type: 'Unconfined' } } },
    ['seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")'],
  ],
  [
    'sysctls outside the allowed list',
    'baseline',
    {
      securityContext: {
        sysctls: [
          { name: 'kernel.msgmax', value: '1' },
          { name: 'net.ipv4.tcp_rmem', value: '1' },
        ],
      },
    },
    ['forbidden sysctls (kernel.msgmax)'],
  ],
  [
    'sysctls that an older version does not allow',
    'baseline',
    { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } },
    ['forbidden sysctls (net.ipv4.tcp_rmem)'],
    { minor: 31 },
  ],
  [
    'a Windows host process',
    'baseline',
    { securityContext: { windowsOptions: { hostProcess: true } } },
    ['hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)'],
  ],
  [
    'AppArmor disabled by annotation',
    'baseline',
    {},
    ['forbidden AppArmor profile (container.apparmor.security.beta.kubernetes.io/c="unconfined")'],
    { annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' } },
  ],
  [
    'a probe of another host',
    'baseline',
    { containers: [container({ livenessProbe: { tcpSocket: { host: '127.0.0.1' } } })] },
    ['probe or lifecycle host (container "c" uses probe or lifecycle host "127.0.0.1")'],
  ],
  [
    'a probe of another host, in a version before that check',
    'baseline',
    { containers: [container({ livenessProbe: { tcpSocket: { host: '127.0.0.1' } } })] },
    [],
    { minor: 33 },
  ],
  ['runAsUser 0', 'restricted', { securityContext: { runAsUser: 0 } }, ['runAsUser=0 (pod must not set runAsUser=0)']],
  [
    'runAsNonRoot false',
    'restricted',
    { containers: [hard({ runAsNonRoot: false })] },
    ['runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false)'],
  ],
]

for (const [name, level, spec, wanted, { minor = Infinity, annotations = {} } = {}] of rows)
  test(name, () => {
    const violations = violationsOf({ level, minor }, checkedPod({ annotations }, specOf(spec)))
    deepEqual(violations.map(violationText), wanted)
  })

test('labels set the level and version; invalid values mean restricted', () => {
  const label = (mode: string, level: string, version?: string) => ({
    [`pod-security.kubernetes.io/${mode}`]: level,
    ...(version === undefined ? {} : { [`pod-security.kubernetes.io/${mode}-version`]: version }),
  })
  equal(policyText(policyOf({}, 'warn')), 'privileged:latest')
  equal(policyText(policyOf(label('warn', 'baseline', 'v1.20'), 'warn')), 'baseline:v1.20')
  equal(policyText(policyOf(label('enforce', 'x'), 'enforce')), 'restricted:latest')
  deepEqual(
    labelErrors({ ...label('enforce', 'x'), ...label('audit', 'baseline', 'v2') }).map(({ field }) => field),
    [
      'metadata.labels[pod-security.kubernetes.io/enforce]',
      'metadata.labels[pod-security.kubernetes.io/audit-version]',
    ],
  )
})

test('a namespace enforces its level on pods, warns about workloads, and lists existing pods that violate a new level', async () => {
  await using server = await startServer()
  const asMerge = { 'content-type': 'application/merge-patch+json' }
  const label = (labels: object) =>
    server.call('PATCH', '/api/v1/namespaces/default', { metadata: { labels } }, asMerge)
  const bare = (name: string) => ({
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i' }], hostPID: true },
  })
  for (const name of ['a', 'b'])
    equal((await server.call('POST', '/api/v1/namespaces/default/pods', bare(name))).status, 201)
  const labelled = await label({
    'pod-security.kubernetes.io/enforce': 'baseline',
    'pod-security.kubernetes.io/warn': 'restricted',
  })
  deepEqual(labelled.headers['warning'], [
    '299 - "existing pods in namespace \\"default\\" violate the new PodSecurity enforce level \\"baseline:latest\\""',
    '299 - "a (and 1 other pod): host namespaces"',
  ])
  const refused = await server.call('POST', '/api/v1/namespaces/default/pods', bare('d'))
  equal(
    refused.body.message,
    'pods "d" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)',
  )
  const made = await server.call('POST', '/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  })
  equal(made.status, 201)
  match(String(made.headers['warning']), /would violate PodSecurity \\"restricted:latest\\": allowPrivilegeEscalation/)
  const bad = await label({ 'pod-security.kubernetes.io/enforce': 'strict' })
  deepEqual(
    [bad.status, bad.body.message],
    [
      422,
      'Namespace "default" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted',
    ],
  )
})

const configured = podSecurityConfiguration(
  new ConfigReader({
    apiVersion: 'pod-security.admission.config.k8s.io/v1',
    kind: 'PodSecurityConfiguration',
    defaults: { enforce: 'baseline', 'enforce-version': 'v1.30', warn: 'restricted' },
    exemptions: { usernames: ['operator'], runtimeClasses: ['sandboxed'], namespaces: ['other'] },
  }),
)
const exemptRows: [why: string, namespace: string, spec: object, headers: Record<string, string>, code: number][] = [
  ['a default is enforced', 'default', {}, {}, 403],
  ['an exempt user is not checked', 'default', {}, { as: 'operator' }, 201],
  ['an exempt namespace is not checked', 'other', {}, {}, 201],
  ['an exempt runtime class is not checked', 'default', { runtimeClassName: 'sandboxed' }, {}, 201],
  ['the labels of a namespace override the default', 'loose', {}, {}, 201],
]
for (const [why, namespace, spec, headers, code] of exemptRows)
  test(`with a configuration: ${why}`, async () => {
    const admission = [...defaultAdmissionPlugins.filter(({ name }) => name !== 'PodSecurity'), podSecurity(configured)]
    await using server = await startServer({ ...openPolicies, admission })
    const labels = { 'pod-security.kubernetes.io/enforce': 'privileged' }
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'loose', labels } })
    await server.call('POST', '/api/v1/namespaces/loose/serviceaccounts', { metadata: { name: 'default' } })
    const classes = '/apis/node.k8s.io/v1/runtimeclasses'
    await server.call('POST', classes, { metadata: { name: 'sandboxed' }, handler: 'h' })
    const pod = { metadata: { name: 'p' }, spec: { hostPID: true, containers: [container()], ...spec } }
    const { status, body } = await server.call('POST', `/api/v1/namespaces/${namespace}/pods`, pod, headers)
    equal(status, code, JSON.stringify(body))
    if (code === 403) match(body.message, /violates PodSecurity "baseline:v1.30": host namespaces \(hostPID=true\)$/)
  })

test('an invalid configuration is rejected', () => {
  const read = (rest: object) =>
    podSecurityConfiguration(
      new ConfigReader({
        apiVersion: 'pod-security.admission.config.k8s.io/v1',
        kind: 'PodSecurityConfiguration',
        ...rest,
      }),
    )
  throws(() => read({ defaults: { enforce: 'strict' } }), /defaults.enforce "strict" is none of/)
  throws(() => read({ defaults: { 'warn-version': '1.30' } }), /defaults.warn-version must be "latest" or "v1.x"/)
  throws(() => read({ exemptions: { users: [] } }), /exemptions.users is not a known field/)
})
