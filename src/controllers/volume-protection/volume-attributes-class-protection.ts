// Protection finalizer of VolumeAttributesClasses: a deleted class is kept while a volume or a claim refers to it.
import { persistentVolumeClaim, type PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, type PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { isBeingDeleted, type ApiObject } from '../../api/meta/object.ts'
import {
  attributesClassFinalizer,
  volumeAttributesClass,
  type VolumeAttributesClass,
} from '../../api/storage/v1/volume-attributes-class.ts'
import { defineController, type PlanView, type Watch } from '../runtime/controller.ts'
import { protection } from './volume-protection.ts'

/** The desired, current and target class of a volume or claim. */
const classesOf = (object: ApiObject): (string | undefined)[] => {
  const { spec, status } = object as PersistentVolume & PersistentVolumeClaim
  return [
    spec.volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    status.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]
}

const reading = (kind: Watch['kind']): Watch => ({
  kind,
  enqueues: ({ before }) => (before === undefined ? [] : classesOf(before).filter((name) => name !== undefined)),
})

export const volumeAttributesClassProtectionController = defineController<VolumeAttributesClass>({
  name: 'volume-attributes-class-protection',
  account: 'volumeattributesclass-protection-controller',
  reconciles: volumeAttributesClass,
  owns: [],
  watches: [reading(persistentVolume), reading(persistentVolumeClaim)],
  plan: (object, view) =>
    protection(volumeAttributesClass, object, attributesClassFinalizer, isBeingDeleted(object) && isUsed(object, view)),
})

const isUsed = ({ metadata: { name } }: VolumeAttributesClass, view: PlanView): boolean =>
  [...view.all(persistentVolume), ...view.all(persistentVolumeClaim)].some((each) => classesOf(each).includes(name))
