import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { service, type Service } from '../../api/core/v1/service/service.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { decode } from '../../schema/decoding/decode.ts'
import { withDefaults } from '../../schema/decoding/defaults.ts'
import { containerConfig, type ContainerSources } from './container-config.ts'
import { parseResolvConf } from './dns.ts'
import { environmentOf, referencesOf } from './environment.ts'
import { expandVariables } from './variable-expansion.ts'
import { hostnameOf, hostsFile, nodeHostsFile } from './hosts-file.ts'
import { linuxResources } from '../resources/linux-resources.ts'
import { sandboxConfig } from './sandbox-config.ts'
import { containerSecurity } from './security-context.ts'

const made = <T extends ApiObject>(kind: Kind<T>, body: object): T =>
  kind.applyDefaults(withDefaults(kind.message, decode(kind.message, body).value as unknown as T))

const podOf = (container: object = {}, spec: object = {}, metadata: object = {}): Pod =>
  made(pod, {
    metadata: { name: 'web', namespace: 'default', uid: 'u', labels: { b: '2', a: '1' }, ...metadata },
    spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
  })
const firstOf = ({ spec }: Pod) => {
  const [container] = spec.containers
  if (container === undefined) throw new Error('the pod has no container')
  return container
}
const node = { nodeName: 'n', hostIp: '10.0.0.1', allocatable: { cpu: '4', memory: '8Gi' } }
const kubernetes = made(service, {
  metadata: { name: 'kubernetes', namespace: 'default' },
  spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443 }] },
})
const sourcesOf = (object: Pod, more: Partial<ContainerSources> = {}): ContainerSources => ({
  pod: object,
  podIps: ['10.1.0.2'],
  node,
  configMaps: new Map([['settings', made(configMap, { metadata: { name: 'settings' }, data: { color: 'red' } })]]),
  secrets: new Map([['keys', made(secret, { metadata: { name: 'keys' }, data: { token: btoa('hunter2') } })]]),
  services: [],
  memoryCapacityBytes: 8 * 2 ** 30,
  ...more,
})
const image = { id: 'sha256:1', tags: [], digests: [], sizeBytes: 0, uid: 0, username: '' }

const expansions: [text: string, expected: string][] = [
  ['plain', 'plain'],
  ['$(A)-$(B)', '1-$(B)'],
  ['$$(A)', '$(A)'],
  ['$A $', '$A $'],
]
for (const [text, expected] of expansions)
  test(`${text} expands to ${expected}`, () => {
    equal(
      expandVariables(text, (name) => (name === 'A' ? '1' : undefined), 'text'),
      expected,
    )
  })

const values: [what: string, env: object[], expected: string][] = [
  ['a value', [{ name: 'X', value: 'v' }], 'v'],
  [
    'an earlier variable',
    [
      { name: 'A', value: 'a' },
      { name: 'X', value: '$(A)b' },
    ],
    'ab',
  ],
  ['a field', [{ name: 'X', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }], '10.1.0.2'],
  ['all labels', [{ name: 'X', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } }], 'a="1"\nb="2"'],
  ['one label', [{ name: 'X', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a']" } } }], '1'],
  ['a limit', [{ name: 'X', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } }], '500'],
  [
    'a limit of the node',
    [{ name: 'X', valueFrom: { resourceFieldRef: { resource: 'limits.memory' } } }],
    '8589934592',
  ],
  ['a key', [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color' } } }], 'red'],
  ['a secret', [{ name: 'X', valueFrom: { secretKeyRef: { name: 'keys', key: 'token' } } }], 'hunter2'],
]
for (const [what, env, expected] of values)
  test(`a variable from ${what}`, () => {
    const object = podOf({ env, resources: { limits: { cpu: '500m' } } })
    const found = environmentOf(firstOf(object), sourcesOf(object)).find(({ name }) => name === 'X')
    equal(found?.value, expected)
  })

const missing: [container: object, message: RegExp][] = [
  [{ env: [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'no', key: 'k' } } }] }, /^configmap "no" not found$/],
  [
    { env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 'keys', key: 'k' } } }] },
    /^couldn't find key k in Secret default\/keys$/,
  ],
  [{ envFrom: [{ secretRef: { name: 'no' } }] }, /^secret "no" not found$/],
]
for (const [container, message] of missing)
  test(`a missing source is reported: ${message.source}`, () => {
    const object = podOf(container)
    throws(() => environmentOf(firstOf(object), sourcesOf(object)), { name: 'ConfigError', message })
  })

/** Each variable has the previous one twice: 2.3 KB of them would be more than a process can hold. */
const doubling = Array.from({ length: 60 }, (_, index) => ({
  name: `V${index}`,
  value: index === 0 ? '0123456789abcdef' : `$(V${index - 1})$(V${index - 1})`,
}))
const long = [
  { name: 'LONG', value: 'x'.repeat(100_000) },
  ...Array.from({ length: 70 }, (_, index) => ({ name: `L${index}`, value: '$(LONG)' })),
]
const tooLarge: [what: string, container: object, message: string][] = [
  [
    'variables that refer to one another',
    { env: doubling },
    'environment variable "V14" is longer than 131072 characters when it is expanded',
  ],
  [
    'many variables',
    { env: long },
    'environment variable "L61" exceeds the limit of 6291456 characters of a container',
  ],
  [
    'many sources',
    { envFrom: Array.from({ length: 70 }, (_, index) => ({ prefix: `P${index}_`, configMapRef: { name: 'large' } })) },
    'environment variable "P62_text" exceeds the limit of 6291456 characters of a container',
  ],
  [
    'a command',
    { env: doubling.slice(0, 14), command: ['sh', '$(V13)$(V13)'] },
    'command[1] of container "c" is longer than 131072 characters when it is expanded',
  ],
  [
    'many arguments',
    { env: long.slice(0, 1), args: Array.from({ length: 70 }, () => '$(LONG)') },
    'args[62] of container "c" exceeds the limit of 6291456 characters of a container',
  ],
]
for (const [what, container, message] of tooLarge)
  test(`a container is not configured with more than a program can be started with: ${what}`, () => {
    const object = podOf(container)
    const large = made(configMap, { metadata: { name: 'large' }, data: { text: 'x'.repeat(100_000) } })
    const sources = sourcesOf(object, { configMaps: new Map([['large', large]]) })
    const config = () => containerConfig(firstOf(object), 0, { id: 'i' } as never, { mounts: [], devices: [] }, sources)
    throws(config, { name: 'ConfigError', message })
  })

test('envFrom has prefixes, optional sources may be missing, and references are listed', () => {
  const object = podOf({
    envFrom: [{ prefix: 'P_', configMapRef: { name: 'settings' } }, { secretRef: { name: 'no', optional: true } }],
    env: [{ name: 'Y', valueFrom: { configMapKeyRef: { name: 'other', key: 'k', optional: true } } }],
  })
  deepEqual(environmentOf(firstOf(object), sourcesOf(object)), [{ name: 'P_color', value: 'red' }])
  const { configMaps, secrets } = referencesOf(object.spec.containers)
  deepEqual([[...configMaps], [...secrets]], [['other', 'settings'], ['no']])
})

test('services of the pod’s namespace are variables unless the pod disables them', () => {
  const names = (object: Pod) =>
    environmentOf(firstOf(object), sourcesOf(object, { services: [kubernetes] })).map(({ name }) => name)
  deepEqual(names(podOf({}, { enableServiceLinks: false }, { namespace: 'x' })), [
    'KUBERNETES_SERVICE_HOST',
    'KUBERNETES_SERVICE_PORT',
    'KUBERNETES_SERVICE_PORT_HTTPS',
    'KUBERNETES_PORT',
    'KUBERNETES_PORT_443_TCP',
    'KUBERNETES_PORT_443_TCP_PROTO',
    'KUBERNETES_PORT_443_TCP_PORT',
    'KUBERNETES_PORT_443_TCP_ADDR',
  ])
})

test('services with more ports than a program can have variables are an error that names a variable', () => {
  const ports = Array.from({ length: 15_000 }, (_, index) => ({ name: `p${index}`, port: 1 + index, protocol: 'TCP' }))
  const named = (name: string) =>
    ({ ...kubernetes, metadata: { ...kubernetes.metadata, name }, spec: { ...kubernetes.spec, ports } }) as Service
  const large = podOf({}, {}, { namespace: kubernetes.metadata.namespace })
  const environment = (object: Pod, ...names: readonly string[]) =>
    environmentOf(firstOf(object), sourcesOf(object, { services: names.map(named) }))
  equal(environment(large, 'a').length, 15_000 * 5 + 3)
  throws(() => environment(large, 'a', 'b', 'c', 'd'), {
    name: 'ConfigError',
    message: /^environment variable "[BCD]_[A-Z\d_]+" exceeds the limit of 6291456 characters of a container$/,
  })
  const without = podOf({}, { enableServiceLinks: false }, { namespace: kubernetes.metadata.namespace })
  deepEqual(environment(without, 'a', 'b', 'c', 'd'), [])
})

const ofPod = { limits: { cpu: '1', memory: '64Mi' }, requests: { memory: '4Gi' } }
const limits: [what: string, resources: object, expected: object, podResources?: object][] = [
  ['nothing', {}, { cpuShares: 2, oomScoreAdjust: 1000 }],
  [
    'equal requests and limits',
    { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '500m', memory: '64Mi' } },
    { cpuShares: 512, cpuPeriodUs: 100_000, cpuQuotaUs: 50_000, memoryBytes: 67_108_864, oomScoreAdjust: -997 },
  ],
  ['half of the memory', { requests: { memory: '4Gi' } }, { cpuShares: 2, oomScoreAdjust: 500 }],
  [
    'the limits of its pod',
    {},
    { cpuShares: 1024, cpuPeriodUs: 100_000, cpuQuotaUs: 100_000, memoryBytes: 67_108_864, oomScoreAdjust: 500 },
    ofPod,
  ],
  [
    'a limit and a request of its own',
    { requests: { cpu: '250m' }, limits: { memory: '32Mi' } },
    { cpuShares: 256, cpuPeriodUs: 100_000, cpuQuotaUs: 100_000, memoryBytes: 33_554_432, oomScoreAdjust: 500 },
    ofPod,
  ],
]
for (const [what, resources, expected, podResources] of limits)
  test(`resources of a container with ${what}`, () => {
    const object = podOf({ resources }, podResources === undefined ? {} : { resources: podResources })
    deepEqual(linuxResources(firstOf(object), object.spec, 8 * 2 ** 30), expected)
  })

test('runAsNonRoot rejects root and images whose user is unknown', () => {
  const object = podOf({ securityContext: { runAsNonRoot: true } })
  throws(() => containerSecurity(firstOf(object), object.spec, image), /image will run as root/)
  const named = { ...image, uid: undefined, username: 'web' }
  throws(() => containerSecurity(firstOf(object), object.spec, named), /non-numeric user \(web\)/)
  const numbered = podOf({ securityContext: { runAsNonRoot: true, runAsUser: 1 } })
  equal(containerSecurity(firstOf(numbered), numbered.spec, image).runAsUser, 1)
})

test('the container’s security context overrides the pod’s', () => {
  const object = podOf(
    { securityContext: { runAsUser: 2, capabilities: { drop: ['ALL'] }, allowPrivilegeEscalation: false } },
    { securityContext: { runAsUser: 1, fsGroup: 7, seccompProfile: { type: 'RuntimeDefault' } } },
  )
  const security = containerSecurity(firstOf(object), object.spec, image)
  deepEqual(
    [security.runAsUser, security.supplementalGroups, security.droppedCapabilities, security.noNewPrivileges],
    [2, [7], ['ALL'], true],
  )
  deepEqual(security.seccomp, { type: 'RuntimeDefault' })
})

const dns = {
  servers: ['10.96.0.10'],
  domain: 'cluster.local',
  node: parseResolvConf('nameserver 1.1.1.1\nsearch lan'),
  nodeAddress: '192.0.2.1',
}

test('the hosts file contains the pod’s names and aliases', () => {
  const object = podOf({}, { hostname: 'h', subdomain: 's', hostAliases: [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }] })
  const { hostname, domain } = hostnameOf(object, 'cluster.local')
  deepEqual([hostname, domain], ['h', 's.default.svc.cluster.local'])
  const lines = hostsFile(object, ['10.1.0.2'], hostname, domain).split('\n')
  equal(lines.includes('10.1.0.2\th.s.default.svc.cluster.local\th'), true)
  equal(lines.includes('1.2.3.4\ta\tb'), true)
})

test('a host network pod gets the node’s hosts file and its own aliases', () => {
  const object = podOf({}, { hostNetwork: true, hostAliases: [{ ip: '1.2.3.4', hostnames: ['a'] }] })
  deepEqual(nodeHostsFile(object, '127.0.0.1\tlocalhost\n').split('\n'), [
    '# Kubernetes-managed hosts file (host network).',
    '127.0.0.1\tlocalhost',
    '',
    '# Entries added by HostAliases.',
    '1.2.3.4\ta',
    '',
  ])
})

const sandboxSources = {
  paths: { pods: '/pods', logs: '/logs' },
  dns,
  cgroupRoot: '/kubepods',
  runtimeHandler: '',
}

test('a host network sandbox has no hostname and no port mappings', () => {
  const object = podOf({ ports: [{ containerPort: 80, hostPort: 80 }] }, { hostNetwork: true })
  const { hostname, ports, namespaces } = sandboxConfig(object, 0, sandboxSources)
  deepEqual([hostname, ports, namespaces.network], ['', [], 'node'])
})

test('a sandbox has the pod’s names, ports, cgroup and log directory', () => {
  const object = podOf({ ports: [{ containerPort: 80, hostPort: 8080 }] })
  const config = sandboxConfig(object, 1, sandboxSources)
  deepEqual(
    [config.hostname, config.logDirectory, config.cgroupParent, config.attempt],
    ['web', '/logs/default_web_u', '/kubepods/besteffort/podu', 1],
  )
  deepEqual(config.ports, [{ protocol: 'TCP', containerPort: 80, hostPort: 8080, hostIp: '' }])
})

test('variables are expanded in a container’s command', () => {
  const object = podOf({ env: [{ name: 'A', value: '1' }], command: ['run', '$(A)'], args: ['$(B)'] })
  const config = containerConfig(firstOf(object), 2, image, { mounts: [], devices: [] }, sourcesOf(object))
  deepEqual([config.command, config.arguments, config.logFile], [['run', '1'], ['$(B)'], 'c/2.log'])
})
