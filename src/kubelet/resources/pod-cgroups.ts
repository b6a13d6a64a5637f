// PodCgroups: one control group per pod below one per class of service, as other kubelets have it. What a pod may use
// together stands in its group; what pods may use at all, in the one above them.
import { lookup } from '../../base/collections/lookup.ts'
import { cachedBySpec } from '../../api/core/v1/pod-spec/bound-spec.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { qosClassOf, type QosClass } from '../../api/core/v1/pod-spec/qos.ts'
import { amountOf, podLimits, podRequests } from '../../api/core/v1/pod/pod-requests.ts'
import { quantityUnits } from '../../schema/scalar/quantity.ts'
import type { CgroupLimits, Cgroups } from '../../machine/cgroups/cgroups.ts'
import { cpuQuota, cpuShares, hugepageLimits, sharesMin } from './linux-resources.ts'
import type { ResourceAmounts } from '../node/allocatable.ts'

export interface PodCgroupsDeps {
  readonly cgroups: Cgroups
  /** The group that holds all pods: `/kubepods`. */
  readonly root: string
  readonly allocatable: ResourceAmounts
}

const classFolders: Readonly<Record<QosClass, string>> = {
  Guaranteed: '',
  Burstable: '/burstable',
  BestEffort: '/besteffort',
}

export const podCgroup = (root: string, { metadata, spec }: Pick<Pod, 'metadata' | 'spec'>): string =>
  `${root}${classFolders[qosClassOf(spec)]}/pod${metadata.uid}`

/** What the containers of a pod may use together: a limit only where every container has one, or the pod as a whole. */
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
  /** Thousandths of processors that burstable pods have asked for, by uid. */
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

  /** The groups that all pods share. */
  async #prepare(): Promise<void> {
    const { cgroups, root, allocatable } = this.#deps
    const memoryBytes = amountOf('memory', allocatable['memory'])
    await cgroups.make(root, {
      cpuShares: cpuShares(amountOf('cpu', allocatable['cpu'])),
      ...(memoryBytes > 0 ? { memoryBytes } : {}),
    })
    await cgroups.make(`${root}${classFolders.BestEffort}`, { cpuShares: sharesMin })
    await this.#shareBurstable()
  }

  /** Makes the pod's group, or gives it what it may use now. */
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

  /** Gives the pod's group the larger of two limits each, for the time in which containers change from one to the other. */
  async widen(before: Pod, after: Pod): Promise<void> {
    const { cgroups, root } = this.#deps
    await cgroups.make(podCgroup(root, after), larger(podCgroupLimits(before), podCgroupLimits(after)))
  }

  /** Whatever class the pod was of. */
  async remove(podUid: string): Promise<void> {
    const { cgroups, root } = this.#deps
    for (const folder of Object.values(classFolders)) await cgroups.remove(`${root}${folder}/pod${podUid}`)
    if (this.#burstable.delete(podUid)) await this.#shareBurstable()
  }

  /** Burstable pods together have the weight of what they asked for, however many there are. */
  #shareBurstable(): Promise<void> {
    const { cgroups, root } = this.#deps
    const millis = [...this.#burstable.values()].reduce((sum, one) => sum + one, 0)
    return cgroups.make(`${root}${classFolders.Burstable}`, { cpuShares: cpuShares(millis) })
  }
}

/** Absent is unlimited, and so the largest. */
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
