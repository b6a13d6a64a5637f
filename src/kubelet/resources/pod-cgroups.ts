// PodCgroups: one cgroup per pod below one per QoS class, as upstream's. Limits of the pod are set on its cgroup, those
// of all pods on the root.
import { lookup } from '../../base/collections/lookup.ts'
import { cachedBySpec } from '../../api/core/v1/pod-spec/bound-spec.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { qosClassOf, type QosClass } from '../../api/core/v1/pod-spec/qos.ts'
import { amountOf, podLimits, podRequests } from '../../api/core/v1/pod/pod-requests.ts'
import { quantityUnits } from '../../schema/scalar/quantity.ts'
import type { CgroupLimits, Cgroups } from '../../machine/cgroups/cgroups.ts'
import { cpuQuota, cpuShares, hugepageLimits, sharesMin } from './linux-resources.ts'
import type { ResourceAmounts } from './resource-amounts.ts'

export interface PodCgroupsDeps {
  readonly cgroups: Cgroups
  /** The cgroup of all pods: `/kubepods`. */
  readonly root: string
  readonly allocatable: ResourceAmounts
}

const classDirectories: Readonly<Record<QosClass, string>> = {
  Guaranteed: '',
  Burstable: '/burstable',
  BestEffort: '/besteffort',
}

export const podCgroup = (root: string, { metadata, spec }: Pick<Pod, 'metadata' | 'spec'>): string =>
  `${root}${classDirectories[qosClassOf(spec)]}/pod${metadata.uid}`

/** The limits of a pod's cgroup. A limit is set only where every container has one, or the pod itself. */
const limitsTogether = cachedBySpec((spec): CgroupLimits => {
  const requests = podRequests({ spec })
  const limits = podLimits({ spec })
  const containers = [...spec.containers, ...(spec.initContainers ?? [])]
  const isBounded = (name: string) =>
    lookup(spec.resources?.limits, name) !== undefined ||
    containers.every(({ resources }) => quantityUnits(lookup(resources.limits, name)) > 0)
  const memoryBytes = isBounded('memory') ? (limits.get('memory') ?? 0) : 0
  return {
    cpuShares: cpuShares(requests.get('cpu') ?? 0),
    ...(isBounded('cpu') ? cpuQuota(limits.get('cpu') ?? 0) : {}),
    ...(memoryBytes > 0 ? { memoryBytes } : {}),
    ...hugepageLimits(limits),
  }
})

export const podCgroupLimits = ({ spec }: Pick<Pod, 'spec'>): CgroupLimits => limitsTogether(spec)

export class PodCgroups {
  readonly #deps: PodCgroupsDeps
  /** CPU requests of burstable pods in millicores, by uid. */
  readonly #burstable = new Map<string, number>()
  #preparing: Promise<void> | undefined
  #isPrepared = false

  constructor(deps: PodCgroupsDeps) {
    this.#deps = deps
  }

  async #prepareOnce(): Promise<void> {
    this.#preparing ??= this.#prepare()
    try {
      await this.#preparing
      this.#isPrepared = true
    } finally {
      this.#preparing = undefined
    }
  }

  /** Creates the cgroups that all pods share. */
  async #prepare(): Promise<void> {
    const { cgroups, root, allocatable } = this.#deps
    const memoryBytes = amountOf('memory', allocatable['memory'])
    await cgroups.make(root, {
      cpuShares: cpuShares(amountOf('cpu', allocatable['cpu'])),
      ...(memoryBytes > 0 ? { memoryBytes } : {}),
    })
    await cgroups.make(`${root}${classDirectories.BestEffort}`, { cpuShares: sharesMin })
    await this.#shareBurstable()
  }

  /** Creates the pod's cgroup, or updates its limits. */
  async make(pod: Pod): Promise<void> {
    const { cgroups, root } = this.#deps
    if (!this.#isPrepared) await this.#prepareOnce()
    const cpuMillis = qosClassOf(pod.spec) === 'Burstable' ? (podRequests(pod).get('cpu') ?? 0) : undefined
    if (cpuMillis !== undefined && this.#burstable.get(pod.metadata.uid) !== cpuMillis) {
      this.#burstable.set(pod.metadata.uid, cpuMillis)
      await this.#shareBurstable()
    }
    await cgroups.make(podCgroup(root, pod), podCgroupLimits(pod))
  }

  /** Sets the larger of the old and new limits while containers are being resized. */
  async widen(before: Pod, after: Pod): Promise<void> {
    const { cgroups, root } = this.#deps
    await cgroups.make(podCgroup(root, after), larger(podCgroupLimits(before), podCgroupLimits(after)))
  }

  /** Removes the pod's cgroup from all QoS classes. */
  async remove(podUid: string): Promise<void> {
    const { cgroups, root } = this.#deps
    for (const directory of Object.values(classDirectories)) await cgroups.remove(`${root}${directory}/pod${podUid}`)
    if (this.#burstable.delete(podUid)) await this.#shareBurstable()
  }

  /** The burstable class has the CPU weight of its pods' total requests. */
  #shareBurstable(): Promise<void> {
    const { cgroups, root } = this.#deps
    const millis = [...this.#burstable.values()].reduce((sum, one) => sum + one, 0)
    return cgroups.make(`${root}${classDirectories.Burstable}`, { cpuShares: cpuShares(millis) })
  }
}

/** A missing limit is unlimited and therefore larger. */
function larger(a: CgroupLimits, b: CgroupLimits): CgroupLimits {
  const isBounded = a.cpuQuotaUs !== undefined && b.cpuQuotaUs !== undefined
  const isMemoryBounded = a.memoryBytes !== undefined && b.memoryBytes !== undefined
  return {
    ...b,
    cpuShares: Math.max(a.cpuShares ?? sharesMin, b.cpuShares ?? sharesMin),
    ...(isBounded ? { cpuQuotaUs: Math.max(a.cpuQuotaUs ?? 0, b.cpuQuotaUs ?? 0) } : {}),
    ...(isMemoryBounded ? { memoryBytes: Math.max(a.memoryBytes ?? 0, b.memoryBytes ?? 0) } : {}),
  }
}
