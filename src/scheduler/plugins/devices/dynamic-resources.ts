// DynamicResources: allocates the devices that a pod claims on a node that can reach them, and reserves them for the
// pod.
import { durationMs, rfc3339 } from '../../../base/time/clock.ts'
import { context, type Context } from '../../../base/observability/context.ts'
import { newUid } from '../../../base/random/ids.ts'
import { errorText } from '../../../base/observability/log.ts'
import { matchesNodeSelector } from '../../../api/core/v1/pod-spec/node-selection.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import { pod as podKind, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { controllerOf, isBeingDeleted, keyOf, namespaceOf, objectKey } from '../../../api/meta/object.ts'
import { deviceClass } from '../../../api/resource/v1/device-class.ts'
import { SelectorError } from '../../../api/resource/v1/device-selector.ts'
import {
  reservedForMax,
  resourceClaim,
  type AllocationResult,
  type ResourceClaim,
} from '../../../api/resource/v1/resource-claim.ts'
import { resourceSlice, type ResourceSlice } from '../../../api/resource/v1/resource-slice.ts'
import {
  defineSchedulerPlugin,
  rejection,
  skip,
  type Cycle,
  type FilterRun,
  type PluginDeps,
  type PostFilterResult,
  type PreFilterResult,
  type SchedulerPlugin,
} from '../../framework/framework.ts'
import { allocate, claimProblem, claimSizeProblem, AllocatedDevices, type AllocationDeps } from './device-allocation.ts'
import { SearchBudget, SearchTimeout } from './search-budget.ts'
import { untilReady } from './device-readiness.ts'
import {
  extendedClaim,
  extendedMetadata,
  extendedRequests,
  extendedStatus,
  unservedBy,
  type ExtendedRequest,
} from './extended-resources.ts'

const elsewhere = rejection('resourceclaim not available on the node', true)
const noDevices = rejection('cannot allocate all claims', true)
const inUse = rejection('resourceclaim in use', false)
const suffixLength = 5
const bindingTimeoutDefault = '600s'

export interface DynamicResourcesArgs {
  /** How long the preparation of devices may take. */
  readonly bindingTimeout?: string
}
const deleteProtection = 'resource.kubernetes.io/delete-protection'

interface PodClaims {
  readonly allocated: readonly ResourceClaim[]
  readonly pending: readonly ResourceClaim[]
  readonly taken: AllocatedDevices
  readonly budget: SearchBudget
  /** The pod's extended resources that device classes provide, and the name of the claim for them. */
  readonly extended: readonly ExtendedRequest[]
  readonly extendedName: string
  /** Allocations of the pending claims, by slot. */
  readonly bySlot: Map<number, ReadonlyMap<string, AllocationResult>>
}

export const dynamicResources = defineSchedulerPlugin<PodClaims, never>({
  name: 'DynamicResources',
  watches: [deviceClass, resourceClaim, resourceSlice],
  eventsToRegister: ['node-added', 'node-changed', 'object-changed', 'pod-removed'],
  configure(args, deps) {
    const { bindingTimeout = bindingTimeoutDefault } = (args ?? {}) as DynamicResourcesArgs
    return new DynamicResources(deps, durationMs(bindingTimeout)).points()
  },
})

class DynamicResources {
  readonly #deps: PluginDeps
  /** Allocations that are being written, by claim. */
  readonly #assumed = new Map<string, AllocationResult>()
  readonly #states = new WeakMap<Pod, PodClaims>()
  readonly #allocation: AllocationDeps
  readonly #bindingMsMax: number
  /** Called on every change of a claim. */
  readonly #listeners = new Set<() => void>()

  constructor(deps: PluginDeps, bindingMsMax: number) {
    this.#deps = deps
    this.#bindingMsMax = bindingMsMax
    deps.informers.of(resourceClaim).onChange(() => {
      for (const listener of this.#listeners) listener()
    })
    this.#allocation = { classOf: (name) => this.#classOf(name), newShareId: () => newUid(deps.random) }
    deps.informers.of(deviceClass).onChange(({ key, now }) => deps.snapshot.setDeviceClass(key, now))
    deps.informers.of(resourceSlice).addIndex('node', ({ spec }) => [spec.nodeName ?? ''])
  }

  points(): Partial<SchedulerPlugin<PodClaims, never>> {
    return {
      preEnqueue: (pod) => this.#missing(pod),
      preFilter: (cycle) => this.#preFilter(cycle),
      filter: ({ pod, snapshot }, slot, claims) => {
        const node = snapshot.nodeAt(slot)
        if (node === undefined) return elsewhere
        for (const { status } of claims.allocated) {
          const selector = status.allocation?.nodeSelector
          if (selector !== undefined && !matchesNodeSelector(selector, node)) return elsewhere
        }
        const unserved = unservedBy(node, claims.extended)
        const more = unserved.length === 0 ? [] : [extendedClaim(pod, claims.extendedName, unserved)]
        const pending = [...claims.pending, ...more]
        if (pending.length === 0) return undefined
        for (const claim of pending) throwProblem(claimSizeProblem(claim))
        const slices = this.#slicesFor(node.metadata.name)
        try {
          const results = allocate(pending, node, slices, claims.taken, this.#allocation, claims.budget)
          if (results === undefined) return noDevices
          claims.bySlot.set(slot, results)
          return undefined
        } catch (error) {
          if (error instanceof SelectorError) return rejection(error.message, false)
          if (error instanceof SearchTimeout) throwProblem(`node ${node.metadata.name}: ${error.message}`)
          throw error
        }
      },
      postFilter: (run, ctx) => this.#postFilter(run, ctx),
      reserve: ({ pod, snapshot }, nodeName) => {
        for (const [key, result] of this.#results(pod, snapshot.slotOf(nodeName))) this.#assumed.set(key, result)
      },
      unreserve: ({ pod, snapshot }, nodeName) => {
        for (const [key] of this.#results(pod, snapshot.slotOf(nodeName))) this.#assumed.delete(key)
        this.#deleteExtendedClaim(pod)
      },
      preBind: async ({ pod, snapshot }, nodeName, ctx) => {
        const slot = snapshot.slotOf(nodeName)
        const node = slot === undefined ? undefined : snapshot.nodeAt(slot)
        if (node !== undefined) await this.#createExtendedClaim(pod, node, slot, ctx)
        await this.#write(pod, slot, ctx)
        await this.#untilReady(pod, slot, ctx)
      },
    }
  }

  #classOf(name: string) {
    return this.#deps.informers.of(deviceClass).get(name)
  }

  #slicesFor(nodeName: string): ResourceSlice[] {
    const slices = this.#deps.informers.of(resourceSlice)
    return [...slices.byIndex('node', nodeName), ...slices.byIndex('node', '')]
  }

  #results(pod: Pod, slot: number | undefined): ReadonlyMap<string, AllocationResult> {
    return (slot === undefined ? undefined : this.#states.get(pod)?.bySlot.get(slot)) ?? new Map<string, never>()
  }

  /** A controller creates the claims of templates. Until then the pod is gated. */
  #missing(pod: Pod): string | undefined {
    for (const { name } of claimNames(pod))
      if (name === undefined) return 'waiting for dynamic resource controller to create the resourceclaims'
    return undefined
  }

  #preFilter({ pod, facts, snapshot }: Cycle): PreFilterResult<PodClaims> {
    const names = claimNames(pod)
    if (names.length === 0 && !facts.requestsExtended) return skip
    const extended = extendedRequests(pod, (resource) => snapshot.deviceClassFor(resource))
    if (names.length === 0 && extended.length === 0) return skip
    const claims = this.#deps.informers.of(resourceClaim)
    const allocated: ResourceClaim[] = []
    const pending: ResourceClaim[] = []
    for (const { name = '', isOwned } of names) {
      const claim = claims.get(objectKey(namespaceOf(pod), name))
      if (claim === undefined) return rejection(`resourceclaim ${JSON.stringify(name)} not found`, false)
      if (isBeingDeleted(claim)) return rejection(`resourceclaim ${JSON.stringify(name)} is being deleted`, false)
      if (isOwned && controllerOf(claim)?.uid !== pod.metadata.uid)
        return rejection(
          `ResourceClaim ${keyOf(claim)} was not created for pod ${keyOf(pod)} (pod is not owner)`,
          false,
        )
      const { allocation, reservedFor = [] } = claim.status
      const isUser = reservedFor.some(({ uid }) => uid === pod.metadata.uid)
      if (allocation !== undefined && !isUser && reservedFor.length >= reservedForMax) return inUse
      const problem = allocation === undefined ? claimProblem(claim, (each) => this.#classOf(each)) : undefined
      if (problem !== undefined) return rejection(problem, false)
      ;(allocation === undefined ? pending : allocated).push(claim)
    }
    const taken = this.#taken(pending.length + extended.length > 0)
    const extendedName = extended.length === 0 ? '' : `${pod.metadata.name}-extended-resources-${this.#suffix()}`
    const budget = new SearchBudget(snapshot.size)
    const state = { allocated, pending, taken, budget, extended, extendedName, bySlot: new Map<number, never>() }
    this.#states.set(pod, state)
    return { kind: 'check', state }
  }

  #suffix(): string {
    return this.#deps.random.bytes(3).toHex().slice(0, suffixLength)
  }

  /** Creates the claim for extended resources with its allocation and records it in the pod's status. */
  async #createExtendedClaim(pod: Pod, node: Node, slot: number | undefined, ctx: Context): Promise<void> {
    const { client, clock } = this.#deps
    const { extended, extendedName: name } = this.#states.get(pod) ?? { extended: [], extendedName: '' }
    const namespace = namespaceOf(pod)
    const result = this.#results(pod, slot).get(objectKey(namespace, name))
    if (result === undefined) return
    const requests = unservedBy(node, extended)
    const metadata = { ...extendedMetadata(pod, name), finalizers: [deleteProtection] }
    const { spec } = extendedClaim(pod, name, requests)
    const claim = await client.of(resourceClaim).create({ metadata, spec }, namespace, ctx)
    const allocation = { ...result, allocationTimestamp: rfc3339(clock.nowMs()) }
    const user = { resource: 'pods', name: pod.metadata.name, uid: pod.metadata.uid }
    await client.of(resourceClaim).updateStatus({ ...claim, status: { allocation, reservedFor: [user] } }, ctx)
    const status = { extendedResourceClaimStatus: extendedStatus(name, requests) }
    await client.of(podKind).patch(pod.metadata.name, namespace, { status }, 'strategic', ctx, 'status')
    this.#assumed.delete(objectKey(namespace, name))
  }

  /** Deletes the claim of a pod that was not bound. */
  #deleteExtendedClaim(pod: Pod): void {
    const { startTask, client, log } = this.#deps
    const name = this.#states.get(pod)?.extendedName ?? ''
    if (name === '') return
    startTask('delete a claim', async (signal) => {
      const claims = client.of(resourceClaim)
      try {
        const claim = await claims.find(name, namespaceOf(pod), context(signal))
        if (claim === undefined) return
        await claims.updateStatus({ ...claim, status: {} }, context(signal))
        await claims.delete(name, namespaceOf(pod), {}, context(signal))
      } catch (error) {
        if (!signal.aborted) log.warn('a claim could not be deleted', { claim: name, error: errorText(error) })
      }
    })
  }

  #taken(isNeeded: boolean): AllocatedDevices {
    const taken = new AllocatedDevices()
    if (!isNeeded) return taken
    for (const claim of this.#deps.informers.of(resourceClaim).all())
      if (claim.status.allocation !== undefined && !this.#assumed.has(keyOf(claim))) taken.add(claim.status.allocation)
    for (const result of this.#assumed.values()) taken.add(result)
    return taken
  }

  /** Deallocates an unused claim whose allocation excludes all nodes that the pod could use. */
  async #deallocate(claim: ResourceClaim, ctx: Context): Promise<void> {
    const { allocation: _, reservedFor: __, devices: ___, ...status } = claim.status
    await this.#deps.client.of(resourceClaim).updateStatus({ ...claim, status }, ctx)
  }

  #postFilter({ cycle: { pod }, verdicts }: FilterRun, ctx: Context): PostFilterResult | Promise<PostFilterResult> {
    const failed = (message: string): PostFilterResult => ({ kind: 'failed', message, clearsNomination: false })
    const unused = (this.#states.get(pod)?.allocated ?? []).find(({ status: { reservedFor = [] } }) =>
      reservedFor.every(({ uid }) => uid === pod.metadata.uid),
    )
    if (unused === undefined || !verdicts.rejectedBy().has('DynamicResources'))
      return failed('no new claims to deallocate')
    return this.#deallocate(unused, ctx).then(() => failed('deallocation of ResourceClaim completed'))
  }

  /** Waits until the devices are ready. Failed ones are deallocated, so that the next attempt can use others. */
  async #untilReady(pod: Pod, slot: number | undefined, ctx: Context): Promise<void> {
    const { informers, clock } = this.#deps
    const { allocated = [] } = this.#states.get(pod) ?? {}
    const before = allocated.map((claim) => [keyOf(claim), claim.status.allocation] as const)
    const keys = [...this.#results(pod, slot), ...before].flatMap(([key, result]) =>
      (result?.devices.results ?? []).some(({ bindingConditions = [] }) => bindingConditions.length > 0) ? [key] : [],
    )
    if (keys.length === 0) return
    const claims = informers.of(resourceClaim)
    const onChange = (listener: () => void) => {
      this.#listeners.add(listener)
      return () => this.#listeners.delete(listener)
    }
    try {
      await untilReady(keys, { get: (key) => claims.get(key), onChange }, this.#bindingMsMax, clock, ctx.signal)
    } catch (error) {
      for (const key of ctx.signal.aborted ? [] : keys) {
        const claim = claims.get(key)
        if (claim !== undefined) await this.#deallocate(claim, ctx)
      }
      throw error
    }
  }

  /** Writes the allocations and reserves every claim for the pod. */
  async #write(pod: Pod, slot: number | undefined, ctx: Context): Promise<void> {
    const { client, clock, informers } = this.#deps
    const found = this.#states.get(pod)
    if (found === undefined) return
    const { name, uid } = pod.metadata
    const results = this.#results(pod, slot)
    for (const { metadata } of [...found.allocated, ...found.pending]) {
      const key = objectKey(metadata.namespace ?? '', metadata.name)
      const claim = informers.of(resourceClaim).get(key)
      if (claim === undefined) throw new Error(`resourceclaim ${key} has gone`)
      const { reservedFor = [] } = claim.status
      if (reservedFor.some((user) => user.uid === uid)) continue
      const result = claim.status.allocation ?? results.get(key)
      if (result === undefined) throw new Error(`resourceclaim ${key} has no devices`)
      const finalizers = claim.metadata.finalizers ?? []
      const guarded = finalizers.includes(deleteProtection)
        ? claim
        : await client
            .of(resourceClaim)
            .update({ ...claim, metadata: { ...claim.metadata, finalizers: [...finalizers, deleteProtection] } }, ctx)
      const allocation = claim.status.allocation ?? { ...result, allocationTimestamp: rfc3339(clock.nowMs()) }
      const status = { ...guarded.status, allocation, reservedFor: [...reservedFor, { resource: 'pods', name, uid }] }
      await client.of(resourceClaim).updateStatus({ ...guarded, status }, ctx)
      this.#assumed.delete(key)
    }
  }
}

/** Ends the attempt, as upstream does; the pod is retried after its backoff. */
function throwProblem(problem: string | undefined): void {
  if (problem !== undefined) throw new Error(`running "DynamicResources" filter plugin: ${problem}`)
}

/** The names of the pod's claims. The name of a claim from a template is in the pod's status once it is created. */
const claimNames = ({ spec, status }: Pod): NamedClaim[] =>
  (spec.resourceClaims ?? []).flatMap(({ name, resourceClaimName }): NamedClaim[] => {
    if (resourceClaimName !== undefined) return [{ name: resourceClaimName, isOwned: false }]
    const made = status.resourceClaimStatuses?.find((each) => each.name === name)
    // A template may need no claim: then the status has no name.
    if (made !== undefined && made.resourceClaimName === undefined) return []
    return [{ name: made?.resourceClaimName, isOwned: true }]
  })

interface NamedClaim {
  /** Undefined until the claim of a template is created. */
  readonly name: string | undefined
  readonly isOwned: boolean
}
