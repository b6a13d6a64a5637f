// Builders of pods, namespaces and policies, and a policy agent on simulated drivers.
import { namespace, type Namespace } from '../api/core/v1/namespace.ts'
import { pod, type Pod } from '../api/core/v1/pod/pod.ts'
import { keyOf, type ApiObject } from '../api/meta/object.ts'
import { networkPolicy, type NetworkPolicy } from '../api/networking/v1/network-policy.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { causeOf, FlowRecorder, type FlowId } from '../base/observability/flow-recorder.ts'
import type { Log } from '../base/observability/log.ts'
import { silentLog } from '../base/observability/log.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import type { ObjectChange } from '../client/informer/informer.ts'
import type { Informers } from '../client/informer/informers.ts'
import { SimulatedKernelSettings } from '../machine/kernel-settings/simulated-kernel-settings.ts'
import { SimulatedNftables } from '../machine/nftables/simulated-nftables.ts'
import { probeCommands } from './nftables/policy-layout.ts'
import { startPolicyAgent, type PolicyAgentDeps } from './policy-agent.ts'

const metadata = (path: string, labels: Record<string, string>) => {
  const [ofNamespace, name] = path.includes('/') ? path.split('/') : [undefined, path]
  return {
    name,
    uid: path,
    resourceVersion: '1',
    creationTimestamp: '',
    labels,
    ...(ofNamespace === undefined ? {} : { namespace: ofNamespace }),
  }
}

export const namespaceWith = (name: string, labels: Record<string, string> = {}): Namespace =>
  ({
    apiVersion: 'v1',
    kind: namespace.kind,
    metadata: metadata(name, { ns: name, ...labels }),
  }) as unknown as Namespace

export const podAt = (
  path: string,
  addresses: readonly string[],
  labels: Record<string, string> = {},
  more: { readonly spec?: object; readonly status?: object } = {},
): Pod =>
  ({
    apiVersion: 'v1',
    kind: pod.kind,
    metadata: metadata(path, labels),
    spec: {
      nodeName: 'node-a',
      containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
      ...more.spec,
    },
    status: { phase: 'Running', podIPs: addresses.map((ip) => ({ ip })), ...more.status },
  }) as unknown as Pod

/** As the API server returns it: with the protocols of ports and the types that it isolates. */
export const policyWith = (path: string, spec: object): NetworkPolicy =>
  networkPolicy.applyDefaults({
    apiVersion: 'networking.k8s.io/v1',
    kind: networkPolicy.kind,
    metadata: metadata(path, {}),
    spec: withProtocols(spec),
  } as unknown as NetworkPolicy)

const withProtocols = (spec: object): object =>
  JSON.parse(JSON.stringify(spec), (key, value: unknown) =>
    key === 'ports' && Array.isArray(value) ? value.map((port: object) => ({ protocol: 'TCP', ...port })) : value,
  ) as object

/** Takes the place of an informer. */
class ObjectSource<T extends ApiObject> {
  readonly synced = Promise.resolve()
  readonly #objects = new Map<string, T>()
  readonly #handlers: ((change: ObjectChange<T>) => void)[] = []

  onChange(handler: (change: ObjectChange<T>) => void): void {
    this.#handlers.push(handler)
  }

  put(...objects: readonly T[]): void {
    for (const object of objects) this.#apply(object, object)
  }

  remove(object: T): void {
    this.#apply(object, undefined)
  }

  #apply(object: T, now: T | undefined): void {
    const key = keyOf(object)
    const before = this.#objects.get(key)
    if (now === undefined) this.#objects.delete(key)
    else this.#objects.set(key, now)
    for (const handler of this.#handlers) handler({ key, now, before, cause: causeOf(0 as FlowId, 1) })
  }
}

/** The result of a probe as long as the table is complete. */
export const intact = { kind: 'failed', messages: probeCommands.map(() => 'Device or resource busy') } as const

export function simulatedAgent(more: Partial<PolicyAgentDeps> = {}) {
  const sources = {
    pods: new ObjectSource<Pod>(),
    namespaces: new ObjectSource<Namespace>(),
    policies: new ObjectSource<NetworkPolicy>(),
  }
  const byKind = new Map<unknown, unknown>([
    [pod, sources.pods],
    [namespace, sources.namespaces],
    [networkPolicy, sources.policies],
  ])
  const clock = new VirtualClock()
  const nftables = new SimulatedNftables()
  nftables.respond = (commands) => (commands === probeCommands ? intact : { kind: 'applied' })
  const kernelSettings = new SimulatedKernelSettings({
    'net/bridge/bridge-nf-call-iptables': '0',
    'net/bridge/bridge-nf-call-ip6tables': '0',
  })
  const warnings: string[] = []
  const note = (message: string) => void warnings.push(message)
  const log: Log = { ...silentLog, warn: note, error: note }
  const tasks = new TaskGroup()
  const flow = new FlowRecorder(clock)
  const agent = startPolicyAgent(
    {
      informers: { of: (kind: unknown) => byKind.get(kind) } as unknown as Pick<Informers, 'of'>,
      nftables,
      kernelSettings,
      clock,
      flow,
      log,
      nodeName: 'node-a',
      ownRanges: ['10.244.0.0/24'],
      bridge: 'cni0',
      ...more,
    },
    tasks,
  )
  return { ...sources, agent, clock, nftables, kernelSettings, warnings, flow, tasks }
}
