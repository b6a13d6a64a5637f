// The network of a node: what its programs are asked to do while objects have hostile texts in any string field.
import { deepEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { FlowRecorder } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import { namespace } from '../../src/api/core/v1/namespace.ts'
import { node } from '../../src/api/core/v1/node/node.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { networkPolicy } from '../../src/api/networking/v1/network-policy.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import { provideNodeNetwork } from '../../src/cluster/node/node-network.ts'
import { machineWith, proxyComponent } from '../../src/cluster/components/proxy.ts'
import { nodeProxySettings } from '../../src/cluster/components/real-node.ts'
import { SimulatedKernelSettings } from '../../src/machine/kernel-settings/simulated-kernel-settings.ts'
import type { Listener, ListenerProvider } from '../../src/platform/http/listener.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import * as base from './base-objects.ts'
import { commandViolations, inputViolations, targetViolations, type Violation } from './checks.ts'
import { recordedApi, type KindObjects } from './recorded-api.ts'
import { recordedPrograms } from './recorded-programs.ts'
import { reportOf, variantsOf, type BaseObject, type Variant } from './variants.ts'

const { signal } = new AbortController()
const podRange = '10.213.0.0/24'

/** Objects without hostile texts, whose rules must be set whatever the others contain. */
const plain: KindObjects = [
  { kind: node, object: base.nodeOf(0) },
  { kind: namespace, object: base.namespaceOf(0) },
  { kind: service, object: base.serviceOf(0) },
  { kind: endpointSlice, object: base.endpointSliceOf(0) },
  { kind: pod, object: base.podOf(0) },
  { kind: networkPolicy, object: base.networkPolicyOf(0) },
]

const listeners: ListenerProvider = {
  ...nodePlatform.listeners,
  listen: ({ port }) =>
    Promise.resolve({ port, close: () => Promise.resolve(), renew: () => Promise.resolve() } as unknown as Listener),
}

const noFiles = {
  ...nodePlatform.files,
  makeDirectory: () => Promise.resolve(),
  list: () => Promise.resolve([]),
  write: () => Promise.resolve(),
}

/** Runs everything of a node's network with these objects beside the plain ones. */
async function effectsOf(objects: KindObjects) {
  const clock = new VirtualClock(Date.parse('2030-01-01T00:00:00Z'))
  const api = recordedApi([...plain, ...objects])
  const programs = recordedPrograms()
  const kernelSettings = new SimulatedKernelSettings({ 'net/ipv4/conf/coxswain0/route_localnet': '0' })
  const options = {
    podRanges: [podRange],
    nodeAddress: '198.18.0.1',
    serviceRanges: ['10.96.0.0/16'],
    directory: '/state',
    configurationDirectory: '/cni',
  }
  const listeningPorts = { read: () => Promise.resolve([]) }
  const machine = { processes: programs.processes, kernelSettings, listeningPorts }
  const network = await provideNodeNetwork(options, { ...machine, files: noFiles }, signal)
  const real = { description: { name: base.nodeName, hostIp: '198.18.0.1' }, usePolicies: () => {} }
  const ranges = { podCidrs: ['10.213.0.0/16'], clusterCidrs: ['10.213.0.0/16'], serviceCidrs: ['10.96.0.0/16'] }
  const { start } = proxyComponent({
    ...nodeProxySettings(real, network, ranges),
    machine: machineWith({ ...machine, listeners }, clock),
  }).prepare({
    clock,
    random: seededRandom(1),
    log: silentLog,
    flow: new FlowRecorder(clock),
    metrics: new Metrics(),
    client: () => api.client,
  })
  {
    await using tasks = new TaskGroup()
    start(tasks)
    await clock.advance('10s')
  }
  return { api, programs }
}

const violationsIn = ({ api, programs }: Awaited<ReturnType<typeof effectsOf>>): Violation[] => [
  ...programs.commands.flatMap(commandViolations),
  ...programs.inputs.flatMap(({ program, text }) => inputViolations(program, text)),
  ...[...api.targets].flatMap(targetViolations),
  ...api.unknown.map((target) => ({ text: `no resource: ${target}`, index: undefined })),
]

/** Fields that become a part of a command, a rule or a path. */
const sentOfNode = ['metadata.name', 'spec.podCIDR', 'spec.podCIDRs[]', 'status.addresses[].address']
const sentOfService = [
  'metadata.namespace',
  'metadata.name',
  'spec.ports[].name',
  'spec.ports[].protocol',
  'spec.clusterIP',
  'spec.clusterIPs[]',
  'spec.externalIPs[]',
  'spec.loadBalancerSourceRanges[]',
  'status.loadBalancer.ingress[].ip',
]
const sentOfSlice = ['endpoints[].addresses[]', 'endpoints[].nodeName', 'ports[].name', 'ports[].protocol']
const sentOfPod = [
  'metadata.namespace',
  'metadata.name',
  'spec.containers[].ports[].hostIP',
  'spec.containers[].ports[].name',
  'spec.containers[].ports[].protocol',
  'status.podIP',
  'status.podIPs[].ip',
]
const sentOfPolicy = [
  'metadata.namespace',
  'metadata.name',
  'spec.ingress[].from[].ipBlock.cidr',
  'spec.ingress[].from[].ipBlock.except[]',
  'spec.ingress[].ports[].port',
  'spec.ingress[].ports[].protocol',
]

const kinds: readonly (readonly [
  kind: Kind,
  base: BaseObject,
  sent: readonly string[],
  companion?: (variant: Variant) => KindObjects[number],
])[] = [
  [node, base.nodeOf, sentOfNode],
  [
    service,
    base.serviceOf,
    sentOfService,
    ({ index }) => ({ kind: endpointSlice, object: base.endpointSliceOf(index) }),
  ],
  [endpointSlice, base.endpointSliceOf, sentOfSlice, ({ index }) => ({ kind: service, object: base.serviceOf(index) })],
  [pod, base.podOf, sentOfPod],
  [namespace, base.namespaceOf, ['metadata.name']],
  [networkPolicy, base.networkPolicyOf, sentOfPolicy],
]

test('without hostile texts, the rules of all objects are set', async () => {
  const { programs } = await effectsOf([{ kind: node, object: base.nodeOf(1) }])
  const text = programs.inputs.map((input) => input.text).join('\n')
  for (const address of [/\b10\.96\.0\.1\b/, /\b10\.213\.1\.0\/24\b/, /\b10\.1\.2\.0\b/, /\b20000\b/])
    match(text, address)
})

for (const [kind, baseObject, sent, companion] of kinds)
  test(`hostile texts in a ${kind.kind} are not commands, rules or arguments`, async () => {
    const found: string[] = []
    for (const variants of variantsOf(kind, baseObject, { sent })) {
      const objects = variants.map(({ object }) => ({ kind, object }))
      const companions = companion === undefined ? [] : variants.map(companion)
      const effects = await effectsOf([...objects, ...companions])
      found.push(...reportOf(violationsIn(effects), variants))
      const text = effects.programs.inputs.map((input) => input.text).join('\n')
      match(text, /\b10\.96\.0\.1\b/, 'the rules of another Service are set')
    }
    deepEqual(found, [])
  })
