// All volume types in alphabetical order.
import { configMapVolume } from './types/config-map.ts'
import { csiVolume } from './types/csi.ts'
import { downwardApiVolume } from './types/downward-api.ts'
import { emptyDirVolume } from './types/empty-dir.ts'
import { ephemeralVolume, persistentVolumeClaimVolume } from './types/persistent-volume-claim.ts'
import { hostPathVolume } from './types/host-path.ts'
import { imageVolume } from './types/image.ts'
import { nfsVolume } from './types/nfs.ts'
import { projectedVolume } from './types/projected.ts'
import { secretVolume } from './types/secret.ts'
import type { VolumeType } from './contract/volume-type.ts'

export const volumeTypes: readonly VolumeType[] = [
  configMapVolume,
  csiVolume,
  downwardApiVolume,
  emptyDirVolume,
  ephemeralVolume,
  hostPathVolume,
  imageVolume,
  nfsVolume,
  persistentVolumeClaimVolume,
  projectedVolume,
  secretVolume,
]
