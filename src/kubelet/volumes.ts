// Every volume type, in the order of the alphabet.
import { configMapVolume } from './volumes/config-map.ts'
import { downwardApiVolume } from './volumes/downward-api.ts'
import { emptyDirVolume } from './volumes/empty-dir.ts'
import { ephemeralVolume, persistentVolumeClaimVolume } from './volumes/persistent-volume-claim.ts'
import { hostPathVolume } from './volumes/host-path.ts'
import { imageVolume } from './volumes/image.ts'
import { projectedVolume } from './volumes/projected.ts'
import { secretVolume } from './volumes/secret.ts'
import type { VolumeType } from './volumes/volume-type.ts'

export const volumeTypes: readonly VolumeType[] = [
  configMapVolume,
  downwardApiVolume,
  emptyDirVolume,
  ephemeralVolume,
  hostPathVolume,
  imageVolume,
  persistentVolumeClaimVolume,
  projectedVolume,
  secretVolume,
]
