// unsuitableVolumes: why none of the available volumes is bound to a claim, by the rules of the binder.
import { classNameOf } from '../../../api/core/v1/volume/claim-binding.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, type PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { hasLabels, hasModes, isFree, sizeOf, sizeWanted } from '../../../api/core/v1/volume/volume-matching.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { plural } from '../explainer/explainer.ts'
import { withFix, type Finding } from '../explainer/finding.ts'
import { recreateWith } from '../explainer/fix-command.ts'

/** Volumes whose differences are given. */
const volumesMax = 3

/** The end of a sentence, and the command that makes the claim fit the only volume. */
export async function unsuitableVolumes(
  claim: PersistentVolumeClaim,
  cluster: ClusterReader,
): Promise<Pick<Finding, 'text' | 'fix'>> {
  const className = classNameOf(claim)
  const available = (await cluster.list(persistentVolume, '')).filter(isFree)
  const volumes = available.filter((volume) => classNameOf(volume) === className)
  const which = className === '' ? 'without a class' : 'of this class'
  if (volumes.length === 0) return { text: `no volume ${which} is available` }
  const described = volumes.slice(0, volumesMax).map((volume) => `${volume.metadata.name} ${difference(volume, claim)}`)
  const text = `of ${plural(volumes.length, 'available volume')} ${which} none fits: ${described.join('; ')}${volumes.length > volumesMax ? '; …' : ''}`
  const [only, ...others] = volumes
  return { text, ...withFix(only === undefined || others.length > 0 ? undefined : modeCommand(only, claim)) }
}

/** The access mode of the volume instead of the one that it does not have. */
function modeCommand({ spec }: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  const { accessModes: offered = [] } = spec
  const [absent, ...others] = (claim.spec.accessModes ?? []).filter((mode) => !offered.includes(mode))
  const [only] = offered
  if (absent === undefined || only === undefined || others.length > 0) return undefined
  return recreateWith(`pvc/${claim.metadata.name}`, namespaceOf(claim), absent, only)
}

function difference(volume: PersistentVolume, claim: PersistentVolumeClaim): string {
  const { accessModes = [], volumeMode, capacity } = volume.spec
  const { accessModes: wanted = [], volumeMode: wantedMode, resources } = claim.spec
  if (!hasModes(accessModes, wanted))
    return `has the access mode ${accessModes.join(', ') || 'none'} and not ${wanted.filter((mode) => !accessModes.includes(mode)).join(', ')}`
  if (sizeOf(volume) < sizeWanted(claim))
    return `has ${capacity?.['storage'] ?? '0'} and not ${resources.requests?.['storage'] ?? '0'}`
  if (volumeMode !== wantedMode) return `has the volume mode ${volumeMode} and not ${wantedMode}`
  if (!hasLabels(volume, claim)) return 'does not have the labels of its selector'
  return 'has not been bound yet, or its node affinity excludes the nodes of the pod'
}
