// nextStep: the pure decision about one volume on one node.
import type { VolumeAttachment } from '../../api/storage/v1/volume-attachment.ts'
import type { Attachment } from './attachment.ts'
import { identityOf } from './volume-identity.ts'

/** How long the driver has for an attach or a detach. */
export const operationMsMax = 120_000
/** How long a node that is not ready may report an unneeded volume as mounted before it is detached nevertheless. */
export const unmountMsMax = 360_000
/** The interval in which attached volumes are compared with their VolumeAttachments. */
export const verificationMs = 60_000

/** What is known of the node of an attachment. */
export interface NodeState {
  readonly isReady: boolean
  readonly isOutOfService: boolean
  /** The kubelet reports the volume as mounted. */
  readonly isInUse: boolean
}

export interface Situation {
  readonly nowMs: number
  /** Pods on the node need the volume. */
  readonly isNeeded: boolean
  readonly node: NodeState
  /** The VolumeAttachment in the cache. */
  readonly object: VolumeAttachment | undefined
  /** Of a volume for one node only: what other nodes have of it. */
  readonly elsewhere: 'nothing' | 'operation' | 'attached'
}

export type Step =
  | { readonly kind: 'wait'; readonly forMs?: number }
  | { readonly kind: 'attach' | 'attached' | 'report-conflict' | 'lost' | 'detached' | 'detach-failed' | 'forget' }
  | { readonly kind: 'attach-failed'; readonly message: string }
  /** A forced detach ignores that the volume is mounted. */
  | { readonly kind: 'detach'; readonly isForced: boolean }

const wait: Step = { kind: 'wait' }

export function nextStep(attachment: Attachment, situation: Situation): Step {
  const { operation } = attachment
  if (operation?.kind === 'attach') return attachProgress(attachment, situation)
  if (operation?.kind === 'detach') return detachProgress(attachment, situation)
  return situation.isNeeded ? neededStep(attachment, situation) : unneededStep(attachment, situation)
}

function attachProgress({ operation, volume }: Attachment, { object, nowMs }: Situation): Step {
  const failed = (message: string): Step => ({ kind: 'attach-failed', message })
  const { sinceMs = nowMs } = operation ?? {}
  if (object?.metadata.deletionTimestamp !== undefined) return failed('volume attachment is being deleted')
  if (object?.status.attached) return { kind: 'attached' }
  const { attachError } = object?.status ?? {}
  if (attachError !== undefined) return failed(attachError.message ?? '')
  const leftMs = sinceMs + operationMsMax - nowMs
  if (leftMs > 0) return { kind: 'wait', forMs: leftMs }
  const { driver = '', handle = '' } = identityOf(volume) ?? {}
  return failed(`timed out waiting for external-attacher of ${driver} CSI driver to attach volume ${handle}`)
}

function detachProgress({ operation }: Attachment, { object, nowMs }: Situation): Step {
  if (object === undefined) return { kind: 'detached' }
  const leftMs = (operation?.sinceMs ?? nowMs) + operationMsMax - nowMs
  if (object.status.detachError !== undefined || leftMs <= 0) return { kind: 'detach-failed' }
  return { kind: 'wait', forMs: leftMs }
}

function neededStep(attachment: Attachment, { nowMs, elsewhere, object }: Situation): Step {
  const { phase, retryMs, verifyMs, isConflictReported } = attachment
  if (phase === 'attached') {
    if (verifyMs === undefined) return wait
    return verifyMs <= nowMs ? { kind: 'lost' } : { kind: 'wait', forMs: verifyMs - nowMs }
  }
  if (elsewhere === 'operation') return wait
  if (elsewhere === 'attached') return isConflictReported ? wait : { kind: 'report-conflict' }
  // The driver detaches the volume; a new VolumeAttachment can be created afterwards.
  if (object?.metadata.deletionTimestamp !== undefined) return wait
  return retryMs > nowMs ? { kind: 'wait', forMs: retryMs - nowMs } : { kind: 'attach' }
}

function unneededStep({ phase, retryMs, unneededMs }: Attachment, { nowMs, node, elsewhere }: Situation): Step {
  if (phase === 'absent') return { kind: 'forget' }
  if (elsewhere === 'operation') return wait
  if (retryMs > nowMs) return { kind: 'wait', forMs: retryMs - nowMs }
  const leftMs = (unneededMs ?? nowMs) + unmountMsMax - nowMs
  const isForced = node.isOutOfService || (leftMs <= 0 && !node.isReady)
  if (!node.isInUse || isForced) return { kind: 'detach', isForced }
  return leftMs > 0 ? { kind: 'wait', forMs: leftMs } : wait
}
