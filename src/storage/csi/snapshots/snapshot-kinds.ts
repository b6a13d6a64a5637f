// The kinds of snapshot.storage.k8s.io/v1.
import { customResource, type KindObject } from '../../../api/apiextensions/resource-type/custom-resource.ts'
import type { Int64 } from '../../../schema/scalar/int64.ts'
import {
  volumeSnapshotClassDefinition,
  volumeSnapshotContentDefinition,
  volumeSnapshotDefinition,
} from './snapshot-definitions.ts'

export interface SnapshotError {
  readonly time?: string
  readonly message?: string
}

export interface VolumeSnapshotFields {
  readonly spec: {
    readonly source: {
      readonly persistentVolumeClaimName?: string
      readonly volumeSnapshotContentName?: string
    }
    readonly volumeSnapshotClassName?: string
  }
  readonly status?: {
    readonly boundVolumeSnapshotContentName?: string
    readonly creationTime?: string
    readonly readyToUse?: boolean
    readonly restoreSize?: string
    readonly error?: SnapshotError
  }
}

export interface VolumeSnapshotContentFields {
  readonly spec: {
    readonly volumeSnapshotRef: {
      readonly apiVersion?: string
      readonly kind?: string
      readonly name?: string
      readonly namespace?: string
      readonly uid?: string
    }
    readonly deletionPolicy: DeletionPolicy
    readonly driver: string
    readonly volumeSnapshotClassName?: string
    readonly source: { readonly volumeHandle?: string; readonly snapshotHandle?: string }
    readonly sourceVolumeMode?: string
  }
  readonly status?: {
    readonly snapshotHandle?: string
    /** In nanoseconds since the epoch. */
    readonly creationTime?: Int64
    readonly restoreSize?: number
    readonly readyToUse?: boolean
    readonly error?: SnapshotError
  }
}

export type DeletionPolicy = 'Delete' | 'Retain'

export interface VolumeSnapshotClassFields {
  readonly driver: string
  readonly deletionPolicy: DeletionPolicy
  readonly parameters?: Readonly<Record<string, string>>
}

export const volumeSnapshot = customResource<VolumeSnapshotFields>(volumeSnapshotDefinition)
export type VolumeSnapshot = KindObject<typeof volumeSnapshot>

export const volumeSnapshotContent = customResource<VolumeSnapshotContentFields>(volumeSnapshotContentDefinition)
export type VolumeSnapshotContent = KindObject<typeof volumeSnapshotContent>

export const volumeSnapshotClass = customResource<VolumeSnapshotClassFields>(volumeSnapshotClassDefinition)
export type VolumeSnapshotClass = KindObject<typeof volumeSnapshotClass>
