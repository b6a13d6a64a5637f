// VolumeBinding: the pod's claims must be bound to volumes that the node can reach, or be bindable there. Claims with
// WaitForFirstConsumer are bound or provisioned for the chosen node.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { Context } from '../../../base/observability/context.ts'
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, type PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { annotationOf, bindingAnnotations } from '../../../api/core/v1/volume/claim-binding.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { controllerOf, isBeingDeleted, keyOf, namespaceOf, type ObjectKey } from '../../../api/meta/object.ts'
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

/** A claim for which a node was selected, and the revision with the annotation. */
interface Selected {
  readonly key: ObjectKey
  readonly nodeName: string
  readonly revision: bigint
}

const revisionOf = ({ metadata }: PersistentVolumeClaim): bigint => BigInt(metadata.resourceVersion ?? '')

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
  /** Called on every change of the claim. */
  readonly #waiters = new Map<ObjectKey, Set<() => void>>()
  /** The state of the last cycle, until the pod is bound or rejected. */
  readonly #states = new WeakMap<Pod, PodVolumes>()

  constructor(deps: PluginDeps, bindTimeoutSeconds: number) {
    this.#deps = deps
    this.#lookup = new StorageLookup(deps.informers)
    this.#bindTimeoutSeconds = bindTimeoutSeconds
    deps.informers.of(persistentVolumeClaim).onChange(({ key }) => {
      for (const check of this.#waiters.get(key) ?? []) check()
    })
  }

  points(): Partial<SchedulerPlugin<PodVolumes, never>> {
    return {
      preFilter: ({ pod }) => this.#preFilter(pod),
      filter: ({ snapshot }, slot, volumes) => this.#check(snapshot.nodeAt(slot), slot, volumes),
      reserve: ({ pod, snapshot }, nodeName) => {
        for (const { claim, volume } of this.#bindings(pod, snapshot.slotOf(nodeName))?.matched ?? [])
          this.#assumed.set(volume.metadata.name, keyOf(claim))
      },
      unreserve: ({ pod, snapshot }, nodeName) => this.#release(pod, snapshot.slotOf(nodeName)),
      preBind: async ({ pod, snapshot }, nodeName, ctx) => {
        const slot = snapshot.slotOf(nodeName)
        const bindings = this.#bindings(pod, slot)
        if (bindings === undefined) return
        const selected = await this.#write(bindings, nodeName, ctx)
        await this.#untilBound(pod, selected, ctx.signal)
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

  #check(node: Node | undefined, slot: number, { bound, waiting, byNode }: PodVolumes): Rejection | undefined {
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

  /** Returns the claims for which the node was selected. */
  async #write({ matched, provisioned }: Bindings, nodeName: string, ctx: Context): Promise<Selected[]> {
    const { client } = this.#deps
    for (const { claim, volume } of matched) {
      const { namespace, name, uid, resourceVersion } = claim.metadata
      const claimRef = { kind: claim.kind, apiVersion: claim.apiVersion, namespace, name, uid, resourceVersion }
      const metadata = {
        resourceVersion: volume.metadata.resourceVersion,
        annotations: { [bindingAnnotations.boundByController]: 'yes' },
      }
      const patch = { metadata, spec: { claimRef } }
      await client.of(persistentVolume).patch(volume.metadata.name, '', patch, 'merge', ctx)
    }
    const selected: Selected[] = []
    for (const claim of provisioned) {
      const patch = { metadata: { annotations: { [bindingAnnotations.selectedNode]: nodeName } } }
      const isSelected = annotationOf(claim, bindingAnnotations.selectedNode) === nodeName
      const written = isSelected
        ? claim
        : await client.of(persistentVolumeClaim).patch(claim.metadata.name, namespaceOf(claim), patch, 'merge', ctx)
      selected.push({ key: keyOf(claim), nodeName, revision: revisionOf(written) })
    }
    return selected
  }

  /** The claim, if its provisioner has removed the selected node, so that the pod is scheduled again. */
  #failedClaim({ key, nodeName, revision }: Selected): PersistentVolumeClaim | undefined {
    const claim = this.#lookup.claim(key)
    // The cache may not have the annotation yet.
    if (claim === undefined || isClaimBound(claim) || revisionOf(claim) < revision) return undefined
    return annotationOf(claim, bindingAnnotations.selectedNode) === nodeName ? undefined : claim
  }

  /**
   * Waits until every claim of the pod is bound. Rejects when a claim is deleted, when a provisioner has given up the
   * selected node, or when the timeout expires.
   */
  async #untilBound(pod: Pod, selected: readonly Selected[], signal: AbortSignal): Promise<void> {
    const keys = claimsOf(pod).map(({ key }) => key)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const check = () => {
      const claims = keys.map((key) => this.#lookup.claim(key))
      const failed = selected.map((each) => this.#failedClaim(each)).find((claim) => claim !== undefined)
      if (claims.some((claim) => claim === undefined || isBeingDeleted(claim))) reject(new Error('a claim has gone'))
      else if (failed !== undefined)
        reject(new Error(`provisioning failed for PVC ${JSON.stringify(failed.metadata.name)}`))
      else if (claims.every((claim) => claim !== undefined && isClaimBound(claim))) resolve()
    }
    const seconds = this.#bindTimeoutSeconds
    const timer = this.#deps.clock.after(seconds * 1000, () => reject(new Error(`no volume after ${seconds} s`)))
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
