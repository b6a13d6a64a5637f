// The Node object that a kubelet registers, and its status.
import { managedAttachmentAnnotation } from '../../api/core/v1/node/node-labels.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { quantityNanos } from '../../schema/scalar/quantity.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import type { KubeletSettings } from './kubelet-settings.ts'
import type { NodeInput } from '../../api/core/v1/node/node.ts'

export interface NodeDescription {
  readonly name: string
  readonly hostIp: string
  readonly capacity: Readonly<Record<string, string>>
  /** Equals the capacity when left out. */
  readonly allocatable?: Readonly<Record<string, string>>
  readonly runtime: string
  readonly operatingSystem: string
  readonly architecture: string
  /** Set for a node with its own pod range; otherwise the node IPAM controller assigns one. */
  readonly podCidrs?: readonly string[]
  /** Additional labels and taints; they are set only when the node is created. */
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly NodeTaint[]
  /** Port of the kubelet's server; left out where the API server calls the kubelet in process. */
  readonly kubeletPort?: number
  /** System information for `status.nodeInfo`. */
  readonly machine?: MachineInfo
  /** Set where a cloud controller manager initializes the node and reports its addresses. */
  readonly hasCloudProvider?: boolean
  readonly providerId?: string
  /** Whether the address was given by a flag, so that it is known before the cloud reports it. */
  readonly isHostIpGiven?: boolean
}

/** What the settings say about the node's cloud. */
export const cloudIdentity = ({
  cloudProvider,
  providerId,
}: Pick<KubeletSettings, 'cloudProvider' | 'providerId'>): Pick<
  NodeDescription,
  'hasCloudProvider' | 'providerId'
> => ({
  ...(cloudProvider === undefined ? {} : { hasCloudProvider: true }),
  ...(providerId === undefined ? {} : { providerId }),
})

export interface NodeTaint {
  readonly key: string
  readonly value?: string
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

export interface MachineInfo {
  readonly machineId: string
  readonly systemUuid: string
  readonly bootId: string
  readonly kernelVersion: string
  readonly osImage: string
}

/** The Kubernetes version that this kubelet reports. */
const kubeletVersion = 'v1.36.4'

/** The state of the node as its kubelet determines it. */
export interface NodeState {
  /** Pressure conditions that are True. */
  readonly pressures: readonly string[]
  /** Why the node is not ready; empty when it is. */
  readonly problems: readonly string[]
}

export const healthyNode: NodeState = { pressures: [], problems: [] }

export function nodeObject(description: NodeDescription, state: NodeState, nowMs: number): NodeInput {
  const { name, operatingSystem, architecture, podCidrs, providerId } = description
  const taints = [...(description.taints ?? []), ...(description.hasCloudProvider === true ? [uninitializedTaint] : [])]
  const labels = {
    ...description.labels,
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': operatingSystem,
    'kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': operatingSystem,
    'beta.kubernetes.io/arch': architecture,
  }
  const spec = {
    ...(podCidrs === undefined ? {} : { podCIDR: podCidrs[0] ?? '', podCIDRs: [...podCidrs] }),
    ...(taints.length === 0 ? {} : { taints }),
    ...(providerId === undefined ? {} : { providerID: providerId }),
  }
  return {
    metadata: {
      name,
      labels,
      annotations: { [managedAttachmentAnnotation]: 'true', ...addressAnnotation(description) },
    },
    ...(Object.keys(spec).length === 0 ? {} : { spec }),
    status: nodeStatus(description, undefined, state, nowMs),
  }
}

/** Cloud controller managers prefer the address that the kubelet was given. */
const addressAnnotation = ({ hasCloudProvider, isHostIpGiven, hostIp }: NodeDescription) =>
  hasCloudProvider === true && isHostIpGiven === true ? { 'alpha.kubernetes.io/provided-node-ip': hostIp } : {}

const uninitializedTaint: NodeTaint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
}

type NodeStatusInput = NonNullable<NodeInput['status']>

type Condition = readonly [type: string, status: string, reason: string, message: string]

const healthy: readonly Condition[] = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
]

/** Several reasons are written in brackets, as upstream does. */
const notReady = (problems: readonly string[]): Condition => [
  'Ready',
  'False',
  'KubeletNotReady',
  problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`,
]

const underPressure: Readonly<Record<string, Condition>> = {
  MemoryPressure: [
    'MemoryPressure',
    'True',
    'KubeletHasInsufficientMemory',
    'kubelet has insufficient memory available',
  ],
  DiskPressure: ['DiskPressure', 'True', 'KubeletHasDiskPressure', 'kubelet has disk pressure'],
  PIDPressure: ['PIDPressure', 'True', 'KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
}

export function nodeStatus(
  description: NodeDescription,
  before: NodeStatusInput | undefined,
  { pressures, problems }: NodeState,
  nowMs: number,
): NodeStatusInput {
  const { capacity, allocatable = capacity, runtime, operatingSystem, architecture } = description
  const { kubeletPort, machine } = description
  const now = rfc3339(nowMs)
  const found = healthy.map((one) => {
    if (one[0] === 'Ready') return problems.length === 0 ? one : notReady(problems)
    return pressures.includes(one[0]) ? (lookup(underPressure, one[0]) ?? one) : one
  })
  const conditions = found.map(([type, status, reason, message]) => {
    const known = before?.conditions?.find((condition) => condition.type === type)
    const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? now) : now
    return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime }
  })
  // Conditions of other components, such as NetworkUnavailable, are kept.
  const others = (before?.conditions ?? []).filter(({ type }) => !conditions.some((own) => own.type === type))
  const added = addedResources(capacity, before)
  return {
    capacity: { ...capacity, ...added },
    allocatable: { ...allocatable, ...added },
    conditions: [...others, ...conditions],
    addresses: nodeAddresses(description, before),
    ...(kubeletPort === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } } }),
    nodeInfo: {
      machineID: machine?.machineId ?? '',
      systemUUID: machine?.systemUuid ?? '',
      bootID: machine?.bootId ?? '',
      kernelVersion: machine?.kernelVersion ?? '',
      osImage: machine?.osImage ?? '',
      containerRuntimeVersion: runtime,
      kubeletVersion,
      kubeProxyVersion: '',
      operatingSystem,
      architecture,
    },
  }
}

/** Extended resources that others added to the capacity of the node. All of each is allocatable. */
function addedResources(
  capacity: NodeDescription['capacity'],
  before: NodeStatusInput | undefined,
): NodeDescription['capacity'] {
  const added = Object.entries(before?.capacity ?? {}).filter(
    ([name]) => name.includes('/') && lookup(capacity, name) === undefined,
  )
  return Object.fromEntries(added)
}

/** Whether the amounts in the status of the node are those that its kubelet would report. */
export function hasCurrentAmounts(description: NodeDescription, status: NodeStatusInput): boolean {
  const { capacity, allocatable = capacity } = description
  const added = addedResources(capacity, status)
  return (
    isSame(status.capacity ?? {}, { ...capacity, ...added }) &&
    isSame(status.allocatable ?? {}, { ...allocatable, ...added })
  )
}

/** Amounts may be written differently. */
function isSame(a: NodeDescription['capacity'], b: NodeDescription['capacity']): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => quantityNanos(lookup(a, name) ?? '') === quantityNanos(lookup(b, name) ?? ''))
  )
}

/** With a cloud provider, addresses that it has reported are kept, and before that only a given address is reported. */
function nodeAddresses(
  { name, hostIp, hasCloudProvider, isHostIpGiven }: NodeDescription,
  before: NodeStatusInput | undefined,
): NonNullable<NodeStatusInput['addresses']> {
  const known = before?.addresses ?? []
  if (hasCloudProvider === true && known.length > 0) return known
  const hostname = { type: 'Hostname', address: name }
  return hasCloudProvider === true && isHostIpGiven !== true
    ? [hostname]
    : [{ type: 'InternalIP', address: hostIp }, hostname]
}
