// Attachments: what the controller knows of volumes on nodes, by volume, node and name of the VolumeAttachment. It is
// reconstructed from the API when the controller starts.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ObjectKey } from '../../api/meta/object.ts'
import type { VolumeName } from './volume-identity.ts'

/** An attach or a detach for which the driver has been asked. */
export interface Operation {
  readonly kind: 'attach' | 'detach'
  readonly sinceMs: number
  /** The pods that get the events of an attach. */
  readonly pods: readonly Pod[]
  /** The PersistentVolume's name, for events. */
  readonly volume: string
}

/** One volume on one node. */
export interface Attachment {
  readonly volume: VolumeName
  readonly nodeName: string
  /** The name of the VolumeAttachment. */
  readonly name: string
  /** uncertain: the driver may have attached it, so that it must be detached when no pod needs it. */
  phase: 'absent' | 'uncertain' | 'attached'
  operation: Operation | undefined
  /** Failures of operations since the last success, and when the next operation may begin. */
  failures: number
  retryMs: number
  /** When the volume was first found to be unneeded. */
  unneededMs: number | undefined
  /** When a volume whose VolumeAttachment does not say that it is attached counts as lost. */
  verifyMs: number | undefined
  /** Whether the node's status lists the volume. */
  isReported: boolean
  /** Whether an event has reported that the volume is attached to another node. */
  isConflictReported: boolean
  /** The claims for which the volume was attached. Pods need it even if the claim is removed. */
  readonly claims: Set<ObjectKey>
}

export class Attachments {
  readonly #byVolume = new Map<VolumeName, Map<string, Attachment>>()
  readonly #byNode = new Map<string, Set<Attachment>>()
  readonly #byName = new Map<string, Attachment>()
  readonly #byClaim = new Map<ObjectKey, Set<Attachment>>()

  find(volume: VolumeName, nodeName: string): Attachment | undefined {
    return this.#byVolume.get(volume)?.get(nodeName)
  }

  named(name: string): Attachment | undefined {
    return this.#byName.get(name)
  }

  ofVolume(volume: VolumeName): readonly Attachment[] {
    return [...(this.#byVolume.get(volume)?.values() ?? [])]
  }

  onNode(nodeName: string): readonly Attachment[] {
    return [...(this.#byNode.get(nodeName) ?? [])]
  }

  forClaim(claim: ObjectKey): readonly Attachment[] {
    return [...(this.#byClaim.get(claim) ?? [])]
  }

  add(volume: VolumeName, nodeName: string, name: string): Attachment {
    const known = this.find(volume, nodeName)
    if (known !== undefined) return known
    const made: Attachment = {
      volume,
      nodeName,
      name,
      phase: 'absent',
      operation: undefined,
      failures: 0,
      retryMs: 0,
      unneededMs: undefined,
      verifyMs: undefined,
      isReported: false,
      isConflictReported: false,
      claims: new Set(),
    }
    const nodes = this.#byVolume.get(volume)
    if (nodes === undefined) this.#byVolume.set(volume, new Map([[nodeName, made]]))
    else nodes.set(nodeName, made)
    addTo(this.#byNode, nodeName, made)
    this.#byName.set(name, made)
    return made
  }

  /** Remembers that the volume is needed for the claim. */
  addClaim(attachment: Attachment, claim: ObjectKey): void {
    attachment.claims.add(claim)
    addTo(this.#byClaim, claim, attachment)
  }

  remove(attachment: Attachment): void {
    const { volume, nodeName, name, claims } = attachment
    const nodes = this.#byVolume.get(volume)
    nodes?.delete(nodeName)
    if (nodes?.size === 0) this.#byVolume.delete(volume)
    removeFrom(this.#byNode, nodeName, attachment)
    for (const claim of claims) removeFrom(this.#byClaim, claim, attachment)
    this.#byName.delete(name)
  }
}

function addTo<K, V>(index: Map<K, Set<V>>, key: K, value: V): void {
  const known = index.get(key)
  if (known === undefined) index.set(key, new Set([value]))
  else known.add(value)
}

function removeFrom<K, V>(index: Map<K, Set<V>>, key: K, value: V): void {
  const known = index.get(key)
  known?.delete(value)
  if (known?.size === 0) index.delete(key)
}
