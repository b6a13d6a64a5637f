// How a resizer changes the attributes of a volume when its claim names another VolumeAttributesClass.
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { VolumeAttributesClass } from '../../../api/storage/v1/volume-attributes-class.ts'
import type { StatusPatch } from './resize-decision.ts'

export type ModifyDecision =
  | { readonly kind: 'none' }
  | { readonly kind: 'pending'; readonly target: string; readonly message: string }
  | { readonly kind: 'modify'; readonly target: string; readonly parameters: Readonly<Record<string, string>> }

export function decideModify(
  { spec, status }: PersistentVolumeClaim,
  classOf: (name: string) => VolumeAttributesClass | undefined,
  driverName: string,
): ModifyDecision {
  const target = spec.volumeAttributesClassName
  if (status.phase !== 'Bound' || !target || target === status.currentVolumeAttributesClassName) return { kind: 'none' }
  const found = classOf(target)
  if (found === undefined) return { kind: 'pending', target, message: `VAC ${target} does not exist.` }
  if (found.driverName !== driverName)
    return { kind: 'pending', target, message: `VAC ${target} has driver ${found.driverName}, not ${driverName}` }
  return { kind: 'modify', target, parameters: found.parameters ?? {} }
}

const modifyConditions = ['ModifyingVolume', 'ModifyVolumeError']

export function modifyStatus(
  { status }: PersistentVolumeClaim,
  target: string,
  progress: 'Pending' | 'InProgress' | 'Infeasible',
  error: string,
  now: string,
): StatusPatch {
  const others = (status.conditions ?? []).filter(({ type }) => !modifyConditions.includes(type))
  const type = error === '' ? 'ModifyingVolume' : 'ModifyVolumeError'
  const condition = { type, status: 'True', lastTransitionTime: now, ...(error === '' ? {} : { message: error }) }
  return {
    modifyVolumeStatus: { targetVolumeAttributesClassName: target, status: progress },
    conditions: progress === 'Pending' ? others : [...others, condition],
  }
}

export const modifiedStatus = ({ status }: PersistentVolumeClaim, target: string): StatusPatch => ({
  currentVolumeAttributesClassName: target,
  modifyVolumeStatus: null,
  conditions: (status.conditions ?? []).filter(({ type }) => !modifyConditions.includes(type)),
})
