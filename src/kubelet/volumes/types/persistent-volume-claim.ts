// persistentVolumeClaim and `ephemeral`, whose claim belongs to the pod: the bound persistent volume, if it is a path
// of this node, or a volume of a storage driver.
import { matchesNodeSelector } from '../../../api/core/v1/pod-spec/node-selection.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { mountHostPath } from './host-path.ts'
import { localDevice, mountLocal } from '../persistent/local.ts'
import { expandLocal } from '../persistent/local-expansion.ts'
import { mountNfs } from './nfs.ts'
import {
  defineVolumeType,
  VolumeError,
  FormattedVolumeError,
  type MountedVolume,
  type VolumeMountInput,
} from '../contract/volume-type.ts'

export const persistentVolumeClaimVolume = defineVolumeType({
  name: 'persistentVolumeClaim',
  directoryName: 'persistent-volume-claim',
  tracksApiObjects: false,
  mount(work) {
    const { persistentVolumeClaim } = work.volume
    if (persistentVolumeClaim === undefined) throw new VolumeError('the volume is not a persistentVolumeClaim')
    const { claimName, readOnly = false } = persistentVolumeClaim
    return mountClaim(claimName, readOnly, work)
  },
})

export const ephemeralVolume = defineVolumeType({
  name: 'ephemeral',
  directoryName: 'ephemeral',
  tracksApiObjects: false,
  mount: (work) => mountClaim(`${work.pod.metadata.name}-${work.volume.name}`, false, work),
})

async function mountClaim(
  claimName: string,
  readOnly: boolean,
  work: VolumeMountInput,
): Promise<MountedVolume | undefined> {
  const { sources, context, pod, volume } = work
  const namespace = namespaceOf(pod)
  const claimError = (why: string) =>
    new FormattedVolumeError(
      `Unable to attach or mount volumes: unmounted volumes=[${volume.name}], unattached volumes=[], ` +
        `failed to process volumes=[${volume.name}]: error processing PVC ${namespace}/${claimName}: ${why}`,
    )
  const claim = await sources.claim(namespace, claimName, context)
  const name = boundVolumeName(claim, work, claimName, claimError)
  const found = await sources.persistentVolume(name, context)
  if (claim === undefined || found === undefined)
    throw claimError(`failed to fetch PV ${name} from API server: persistentvolumes ${JSON.stringify(name)} not found`)
  if (found.spec.claimRef?.uid !== claim.metadata.uid)
    throw claimError(
      `failed to fetch PV ${name}: the volume's claimRef.uid is ${found.spec.claimRef?.uid ?? ''} and not the expected PVC.UID ${claim.metadata.uid}`,
    )
  const isLocalWritable = found.spec.local !== undefined && !readOnly
  if (work.isRecheck && found.spec.csi === undefined) {
    if (isLocalWritable) await expandLocal(claim, found, work)
    return undefined
  }
  await checkAffinity(found, work)
  if (found.spec.csi !== undefined) {
    if (work.csi === undefined) throw unsupported(found, work)
    return work.csi.mountPersistent({ claim, volume: found, readOnly }, work)
  }
  const mounted = await mountPersistent(found, work)
  if (isLocalWritable) await expandLocal(claim, found, work)
  return { isNodePath: found.spec.nfs === undefined, ...mounted, readOnly: readOnly || mounted.readOnly }
}

function boundVolumeName(
  claim: PersistentVolumeClaim | undefined,
  { pod, volume }: VolumeMountInput,
  claimName: string,
  claimError: (why: string) => Error,
): string {
  if (claim === undefined)
    throw claimError(
      `failed to fetch PVC from API server: persistentvolumeclaims ${JSON.stringify(claimName)} not found`,
    )
  const isOwn = claim.metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === pod.metadata.uid)
  if (volume.ephemeral !== undefined && !isOwn)
    throw claimError(`PVC ${claimName} was not created for pod ${pod.metadata.name} (pod is not owner)`)
  if (claim.metadata.deletionTimestamp !== undefined && pod.status.startTime === undefined)
    throw claimError('PVC is being deleted')
  if (claim.status.phase !== 'Bound') throw claimError('PVC is not bound')
  const { volumeName = '' } = claim.spec
  if (volumeName === '') throw claimError('PVC has empty pvc.Spec.VolumeName')
  return volumeName
}

async function checkAffinity(
  { metadata, spec }: PersistentVolume,
  { sources, context }: VolumeMountInput,
): Promise<void> {
  const required = spec.nodeAffinity?.required
  const node = required === undefined ? undefined : await sources.node(context)
  if (required !== undefined && node !== undefined && !matchesNodeSelector(required, node))
    throw new FormattedVolumeError(
      `MountVolume.NodeAffinity check failed for volume ${JSON.stringify(metadata.name)} : no matching NodeSelectorTerms`,
    )
}

async function mountPersistent(volume: PersistentVolume, work: VolumeMountInput): Promise<MountedVolume> {
  const { disk } = work
  const { metadata, spec } = volume
  const name = JSON.stringify(metadata.name)
  const { hostPath, local, nfs } = spec
  if (spec.volumeMode === 'Block') return localDevice(name, local?.path, disk)
  if (hostPath !== undefined)
    return mountHostPath(hostPath.path, hostPath.type, disk).catch((error: Error) => {
      throw new FormattedVolumeError(`MountVolume.SetUp failed for volume ${name} : ${error.message}`)
    })
  if (nfs !== undefined) return mountNfs(metadata.name, nfs, spec.mountOptions ?? [], work)
  if (local === undefined) throw unsupported(volume, work)
  return mountLocal(metadata.name, local, spec.mountOptions ?? [], work)
}

/** The event names the type of the volume. */
function unsupported({ metadata, spec }: PersistentVolume, { volume }: VolumeMountInput): VolumeError {
  const type = Object.keys(spec).find((field) => persistentSources.has(field)) ?? 'unknown'
  return new FormattedVolumeError(
    `Unable to attach or mount volumes: unmounted volumes=[${volume.name}], unattached volumes=[], ` +
      `failed to process volumes=[${volume.name}]: persistent volume ${JSON.stringify(metadata.name)} is of type ${type}, ` +
      'which is not supported on this node',
  )
}

/** Fields of a persistent volume that are its source. */
const persistentSources = new Set([
  'awsElasticBlockStore',
  'azureDisk',
  'azureFile',
  'cephfs',
  'cinder',
  'csi',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'glusterfs',
  'iscsi',
  'photonPersistentDisk',
  'portworxVolume',
  'quobyte',
  'rbd',
  'scaleIO',
  'storageos',
  'vsphereVolume',
])
