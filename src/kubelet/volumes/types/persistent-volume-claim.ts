// persistentVolumeClaim and `ephemeral`, whose claim belongs to the pod: the bound persistent volume, if it is a path
// of this node, or a volume of a storage driver.
import type { Context } from '../../../base/observability/context.ts'
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
  type BoundVolume,
  type PodVolume,
  type VolumeDeps,
  type VolumeType,
} from '../contract/volume-type.ts'

interface ClaimUse {
  readonly claimName: string
  readonly readOnly: boolean
}

/** What the types do with the volume that is bound to a claim. */
const onBoundVolume = (useOf: (work: PodVolume) => ClaimUse): Pick<VolumeType, 'mayWait' | 'mount' | 'recheck'> => ({
  mayWait: true,
  async mount(work, deps, context) {
    const bound = await boundVolume(useOf(work), work, deps, context)
    await checkAffinity(bound.volume, deps, context)
    if (bound.volume.spec.csi !== undefined) return mountCsi(bound, work, deps, context)
    const mounted = await mountPersistent(bound.volume, work, deps, context)
    if (isLocalWritable(bound)) await expandLocal(bound, 'mount', work, deps, context)
    const isNodePath = bound.volume.spec.nfs === undefined
    return { isNodePath, ...mounted, readOnly: bound.readOnly || mounted.readOnly }
  },
  /** A volume of a storage driver is published again and expanded, where that is needed, and a `local` one is expanded. */
  async recheck(work, deps, context) {
    const bound = await boundVolume(useOf(work), work, deps, context)
    if (isLocalWritable(bound)) await expandLocal(bound, 'recheck', work, deps, context)
    if (bound.volume.spec.csi === undefined) return
    await checkAffinity(bound.volume, deps, context)
    await mountCsi(bound, work, deps, context)
  },
})

export const persistentVolumeClaimVolume = defineVolumeType({
  name: 'persistentVolumeClaim',
  directoryName: 'persistent-volume-claim',
  tracksApiObjects: false,
  ...onBoundVolume(({ volume: { persistentVolumeClaim } }) => {
    if (persistentVolumeClaim === undefined) throw new VolumeError('the volume is not a persistentVolumeClaim')
    const { claimName, readOnly = false } = persistentVolumeClaim
    return { claimName, readOnly }
  }),
})

export const ephemeralVolume = defineVolumeType({
  name: 'ephemeral',
  directoryName: 'ephemeral',
  tracksApiObjects: false,
  ...onBoundVolume(({ pod, volume }) => ({ claimName: `${pod.metadata.name}-${volume.name}`, readOnly: false })),
})

const isLocalWritable = ({ volume, readOnly }: BoundVolume): boolean => volume.spec.local !== undefined && !readOnly

async function boundVolume(
  { claimName, readOnly }: ClaimUse,
  work: PodVolume,
  { sources }: VolumeDeps,
  context: Context,
): Promise<BoundVolume> {
  const { pod, volume } = work
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
  return { claim, volume: found, readOnly }
}

function boundVolumeName(
  claim: PersistentVolumeClaim | undefined,
  { pod, volume }: PodVolume,
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
  { sources }: VolumeDeps,
  context: Context,
): Promise<void> {
  const required = spec.nodeAffinity?.required
  const node = required === undefined ? undefined : await sources.node(context)
  if (required !== undefined && node !== undefined && !matchesNodeSelector(required, node))
    throw new FormattedVolumeError(
      `MountVolume.NodeAffinity check failed for volume ${JSON.stringify(metadata.name)} : no matching NodeSelectorTerms`,
    )
}

function mountCsi(bound: BoundVolume, work: PodVolume, { csi }: VolumeDeps, context: Context): Promise<MountedVolume> {
  if (csi === undefined) throw unsupported(bound.volume, work)
  return csi.mountPersistent(bound, work, context)
}

async function mountPersistent(
  volume: PersistentVolume,
  work: PodVolume,
  { disk }: VolumeDeps,
  context: Context,
): Promise<MountedVolume> {
  const { metadata, spec } = volume
  const name = JSON.stringify(metadata.name)
  const { hostPath, local, nfs } = spec
  if (spec.volumeMode === 'Block') return localDevice(name, local?.path, disk)
  if (hostPath !== undefined)
    return mountHostPath(hostPath.path, hostPath.type, disk).catch((error: Error) => {
      throw new FormattedVolumeError(`MountVolume.SetUp failed for volume ${name} : ${error.message}`)
    })
  if (nfs !== undefined) return mountNfs(metadata.name, nfs, spec.mountOptions ?? [], work, disk, context)
  if (local === undefined) throw unsupported(volume, work)
  return mountLocal(metadata.name, local, spec.mountOptions ?? [], work, disk, context)
}

/** The event names the type of the volume. */
function unsupported({ metadata, spec }: PersistentVolume, { volume }: PodVolume): VolumeError {
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
