// VolumeBinding: the pod's claims must be bound to volumes that the node can reach, or be bindable there. Claims with
// WaitForFirstConsumer are bound or provisioned for the chosen node.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { Context } from '../../../base/observability/context.ts'
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, type PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { annotationOf, bindingAnnotations, claimKeyOf } from '../../../api/core/v1/volume/claim-binding.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import {
  controllerOf,
  isBeingDeleted,
  keyOf,
  namespaceOf,
  revisionOf,
  type ObjectKey,
} from '../../../api/meta/object.ts'
import { csiDriver } from '../../../api/storage/v1/csi-driver.ts'
import { csiNode } from '../../../api/storage/v1/csi-node.ts'
import { csiStorageCapacity } from '../../../api/storage/v1/csi-storage-capacity.ts'
import {
  defineSchedulerPlugin,
  rejection,
  skip,
  type PluginDeps,
  type PreFilterResult,
  type Rejection,
  type SchedulerPlugin,
} from '../../framework/framework.ts'
import { bindingProgress, type RequestedBindings, type ReservedVolume, type SelectedNode } from './binding-progress.ts'
import { claimsOf, concernsClaims, isClaimBound, StorageLookup, storageKinds } from './pod-claims.ts'
import { candidateVolumes, provisioningRejection, reaches } from './node-volumes.ts'

const unboundImmediate = rejection('pod has unbound immediate PersistentVolumeClaims', false)
const unreachable = rejection("node(s) didn't match PersistentVolume's node affinity", false)
const volumeGone = rejection('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)', false)

/** How the claims would be bound on a node. */
interface Bindings {
  readonly matched: readonly { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }[]
  readonly provisioned: readonly PersistentVolumeClaim[]
}

interface WaitingClaim {
  readonly claim: PersistentVolumeClaim
  /** Empty if a node was selected for the claim, on which it is provisioned. */
  readonly candidates: readonly PersistentVolume[]
}

interface PodVolumes {
  readonly bound: readonly (PersistentVolume | undefined)[]
  readonly waiting: readonly WaitingClaim[]
  readonly byNode: Map<number, Bindings>
}

const bindSecondsDefault = 600

export const volumeBinding = defineSchedulerPlugin<PodVolumes, never>({
  name: 'VolumeBinding',
  watches: [...storageKinds, csiDriver, csiNode, csiStorageCapacity],
  eventsToRegister: ['node-added', 'node-changed', 'object-changed'],
  queueingHint: (event, pod) => event.kind !== 'object-changed' || concernsClaims(event.resource, event.now, pod),
  configure(args, deps) {
    const { bindTimeoutSeconds = bindSecondsDefault } = (args ?? {}) as { bindTimeoutSeconds?: number }
    return new VolumeBinder(deps, bindTimeoutSeconds).points()
  },
})

class VolumeBinder {
  readonly #deps: PluginDeps
  readonly #lookup: StorageLookup
  readonly #bindTimeoutSeconds: number
  /** Volumes of bindings that are in progress: volume name → claim key. */
  readonly #assumed = new Map<string, ObjectKey>()
  /** Called on every change of the claim or of a volume that refers to it. */
  readonly #waiters = new Map<ObjectKey, Set<() => void>>()
  /** The state of the last cycle, until the pod is bound or rejected. */
  readonly #states = new WeakMap<Pod, PodVolumes>()

  constructor(deps: PluginDeps, bindTimeoutSeconds: number) {
    this.#deps = deps
    this.#lookup = new StorageLookup(deps.informers)
    this.#bindTimeoutSeconds = bindTimeoutSeconds
    deps.informers.of(persistentVolumeClaim).onChange(({ key }) => this.#check(key))
    deps.informers.of(persistentVolume).onChange(({ now, before }) => {
      for (const volume of [now, before]) {
        const key = volume && claimKeyOf(volume)
        if (key !== undefined) this.#check(key)
      }
    })
  }

  points(): Partial<SchedulerPlugin<PodVolumes, never>> {
    return {
      preFilter: ({ pod }) => this.#preFilter(pod),
      filter: ({ snapshot }, slot, volumes) => this.#fit(snapshot.nodeAt(slot), slot, volumes),
      reserve: ({ pod, snapshot }, nodeName) => {
        for (const { claim, volume } of this.#bindings(pod, snapshot.slotOf(nodeName))?.matched ?? [])
          this.#assumed.set(volume.metadata.name, keyOf(claim))
      },
      unreserve: ({ pod, snapshot }, nodeName) => this.#release(pod, snapshot.slotOf(nodeName)),
      preBind: async ({ pod, snapshot }, nodeName, ctx) => {
        const slot = snapshot.slotOf(nodeName)
        const bindings = this.#bindings(pod, slot)
        if (bindings === undefined || slot === undefined) return
        const requested = await this.#write(bindings, nodeName, ctx)
        await this.#untilBound(requested, snapshot.nodeAt(slot), ctx.signal)
        this.#release(pod, slot)
      },
    }
  }

  #bindings(pod: Pod, slot: number | undefined): Bindings | undefined {
    return slot === undefined ? undefined : this.#states.get(pod)?.byNode.get(slot)
  }

  #release(pod: Pod, slot: number | undefined): void {
    for (const { volume } of this.#bindings(pod, slot)?.matched ?? []) this.#assumed.delete(volume.metadata.name)
  }

  #preFilter(pod: Pod): PreFilterResult<PodVolumes> {
    const named = claimsOf(pod)
    if (named.length === 0) return skip
    const bound: (PersistentVolume | undefined)[] = []
    const waiting: WaitingClaim[] = []
    for (const { name, key, isEphemeral } of named) {
      const claim = this.#lookup.claim(key)
      const problem = claimProblem(pod, name, claim, isEphemeral)
      if (problem !== undefined || claim === undefined) return rejection(problem ?? '', false)
      if (isClaimBound(claim)) bound.push(this.#lookup.volume(claim.spec.volumeName ?? ''))
      else if (claim.spec.volumeName) return unboundImmediate
      else if (this.#lookup.classOf(claim)?.volumeBindingMode === 'WaitForFirstConsumer')
        waiting.push({ claim, candidates: this.#candidates(claim) })
      else return unboundImmediate
    }
    const state = { bound, waiting, byNode: new Map<number, Bindings>() }
    this.#states.set(pod, state)
    return { kind: 'check', state }
  }

  #candidates(claim: PersistentVolumeClaim): readonly PersistentVolume[] {
    return annotationOf(claim, bindingAnnotations.selectedNode) === undefined
      ? candidateVolumes(claim, this.#lookup)
      : []
  }

  #fit(node: Node | undefined, slot: number, { bound, waiting, byNode }: PodVolumes): Rejection | undefined {
    if (node === undefined) return volumeGone
    for (const volume of bound) {
      if (volume === undefined) return volumeGone
      if (!reaches(node, volume)) return unreachable
    }
    if (waiting.length === 0) return undefined
    const matched: Bindings['matched'][number][] = []
    const provisioned: PersistentVolumeClaim[] = []
    for (const { claim, candidates } of waiting) {
      const isTaken = ({ metadata: { name } }: PersistentVolume) =>
        this.#isAssumedByOther(name, claim) || matched.some(({ volume }) => volume.metadata.name === name)
      const volume = candidates.find((each) => !isTaken(each) && reaches(node, each))
      if (volume !== undefined) matched.push({ claim, volume })
      else {
        const refused = provisioningRejection(claim, node, this.#lookup.classOf(claim), this.#deps.informers)
        if (refused !== undefined) return refused
        provisioned.push(claim)
      }
    }
    byNode.set(slot, { matched, provisioned })
    return undefined
  }

  #isAssumedByOther(volume: string, claim: PersistentVolumeClaim): boolean {
    const by = this.#assumed.get(volume)
    return by !== undefined && by !== keyOf(claim)
  }

  #check(key: ObjectKey): void {
    for (const check of this.#waiters.get(key) ?? []) check()
  }

  /** A volume that was changed meanwhile is a conflict, and the pod is scheduled again. */
  async #write({ matched, provisioned }: Bindings, nodeName: string, ctx: Context): Promise<RequestedBindings> {
    const { client } = this.#deps
    const reserved: ReservedVolume[] = []
    for (const { claim, volume } of matched) {
      const { namespace, name, uid, resourceVersion } = claim.metadata
      const claimRef = { kind: claim.kind, apiVersion: claim.apiVersion, namespace, name, uid, resourceVersion }
      const metadata = {
        resourceVersion: volume.metadata.resourceVersion,
        annotations: { [bindingAnnotations.boundByController]: 'yes' },
      }
      const patch = { metadata, spec: { claimRef } }
      const written = await client.of(persistentVolume).patch(volume.metadata.name, '', patch, 'merge', ctx)
      reserved.push({ claim: keyOf(claim), volume: volume.metadata.name, revision: revisionOf(written) })
    }
    const selected: SelectedNode[] = []
    for (const claim of provisioned) {
      const patch = { metadata: { annotations: { [bindingAnnotations.selectedNode]: nodeName } } }
      const isSelected = annotationOf(claim, bindingAnnotations.selectedNode) === nodeName
      const written = isSelected
        ? claim
        : await client.of(persistentVolumeClaim).patch(claim.metadata.name, namespaceOf(claim), patch, 'merge', ctx)
      selected.push({ claim: keyOf(claim), revision: revisionOf(written) })
    }
    return { reserved, selected }
  }

  /** Waits until the claims are bound. Rejects when they cannot be any more, or when the timeout expires. */
  async #untilBound(requested: RequestedBindings, node: Node | undefined, signal: AbortSignal): Promise<void> {
    const keys = [...requested.reserved, ...requested.selected].map(({ claim }) => claim)
    const view = {
      claim: (key: ObjectKey) => this.#lookup.claim(key),
      volume: (name: string) => this.#lookup.volume(name),
      node,
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const fail = (why: string) => reject(new Error(`binding volumes: ${why}`))
    const check = () => {
      const progress = bindingProgress(requested, view)
      if (progress.kind === 'bound') resolve()
      else if (progress.kind === 'failed') fail(progress.why)
    }
    const timer = this.#deps.clock.after(this.#bindTimeoutSeconds * 1000, () => fail('context deadline exceeded'))
    const leave = () => reject(signal.reason as Error)
    signal.addEventListener('abort', leave, { once: true })
    for (const key of keys) getOrInsert(this.#waiters, key, () => new Set()).add(check)
    check()
    try {
      await promise
    } finally {
      for (const key of keys) this.#stopWaiting(key, check)
      signal.removeEventListener('abort', leave)
      timer.cancel()
    }
  }

  #stopWaiting(key: ObjectKey, check: () => void): void {
    const checks = this.#waiters.get(key)
    checks?.delete(check)
    if (checks?.size === 0) this.#waiters.delete(key)
  }
}

function claimProblem(
  pod: Pod,
  name: string,
  claim: PersistentVolumeClaim | undefined,
  isEphemeral: boolean,
): string | undefined {
  const quoted = JSON.stringify(name)
  if (claim === undefined)
    return isEphemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted}`
      : `persistentvolumeclaim ${quoted} not found`
  if (claim.status.phase === 'Lost')
    return `persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.spec.volumeName ?? '')}`
  if (isBeingDeleted(claim)) return `persistentvolumeclaim ${quoted} is being deleted`
  if (isEphemeral && controllerOf(claim)?.uid !== pod.metadata.uid)
    return `PVC ${keyOf(claim)} was not created for pod ${keyOf(pod)} (pod is not owner)`
  return undefined
}
