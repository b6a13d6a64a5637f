// PersistentVolume: the server records when the phase changes, unless the writer of the status does.
import { rfc3339 } from '../../base/time/clock.ts'
import { persistentVolume, type PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import type { Strategy } from '../registry/resource/strategy.ts'

export const persistentVolumeStrategy: Strategy<PersistentVolume> = {
  kind: persistentVolume,
  prepareStatusUpdate(object, { status: old }, { nowMs }) {
    const { phase, lastPhaseTransitionTime: sent } = object.status
    if (sent !== undefined && sent !== old.lastPhaseTransitionTime) return object
    const time = phase === old.phase ? old.lastPhaseTransitionTime : rfc3339(nowMs)
    if (time === undefined) return object
    return { ...object, status: { ...object.status, lastPhaseTransitionTime: time } }
  },
}
