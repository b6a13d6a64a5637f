// Step: what the binder does next for a claim or a volume. Every decision starts from the objects as they are, so a binder that
// is stopped between two writes continues with the second one after its restart.
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'

/** An event, and which of the two it is about. */
export interface BindingEvent {
  readonly about: PersistentVolume | PersistentVolumeClaim
  readonly note: EventNote
}

export type Step =
  /** One write; the next step follows from its result. The event is recorded when it succeeds. */
  | {
      readonly kind: 'claim'
      readonly claim: PersistentVolumeClaim
      /** The write gives the claim the default class. */
      readonly assignsClass?: true
      readonly through?: 'status'
      readonly note?: EventNote
    }
  | {
      readonly kind: 'volume'
      readonly volume: PersistentVolume
      readonly through?: 'status'
      readonly note?: EventNote
    }
  /** The directory is removed, then the volume. A failure becomes the event and the phase Failed. */
  | { readonly kind: 'delete'; readonly volume: PersistentVolume; readonly path: string }
  /** Nothing to write. */
  | { readonly kind: 'rest'; readonly events: readonly BindingEvent[] }

export const rest = (...events: readonly BindingEvent[]): Step => ({ kind: 'rest', events })

/** The step that sets the phase of a volume; undefined if the volume has it. */
export function phaseStep(
  volume: PersistentVolume,
  phase: NonNullable<PersistentVolume['status']['phase']>,
  note?: EventNote,
): Step | undefined {
  if (volume.status.phase === phase) return undefined
  const { message: _, ...status } = volume.status
  const message = note === undefined ? {} : { message: note.message }
  return {
    kind: 'volume',
    through: 'status',
    volume: { ...volume, status: { ...status, ...message, phase } },
    ...(note === undefined ? {} : { note }),
  }
}

/** The step that writes the status of a claim; undefined if the claim has it. */
export function claimStatusStep(
  claim: PersistentVolumeClaim,
  status: PersistentVolumeClaim['status'],
  note?: EventNote,
): Step | undefined {
  if (equalValues(claim.status, status)) return undefined
  const isNewPhase = claim.status.phase !== status.phase
  return {
    kind: 'claim',
    through: 'status',
    claim: { ...claim, status },
    ...(note === undefined || !isNewPhase ? {} : { note }),
  }
}

/** The status of a claim that has no volume. */
export function statusWithoutVolume(
  { status }: PersistentVolumeClaim,
  phase: 'Pending' | 'Lost',
): PersistentVolumeClaim['status'] {
  const { accessModes: _modes, capacity: _capacity, currentVolumeAttributesClassName: _class, ...others } = status
  return { ...others, phase }
}

export const normal = (reason: string, message: string): EventNote => ({ type: 'Normal', reason, message })
export const warning = (reason: string, message: string): EventNote => ({ type: 'Warning', reason, message })
