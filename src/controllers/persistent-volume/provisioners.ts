// Provisioners and deleters of the tree: those that CSI drivers have replaced, and what the others answer. All further
// provisioners are external: they watch claims and volumes themselves.
import { annotationOf, bindingAnnotations } from '../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { hasFinalizer, withFinalizer, withoutFinalizer } from '../../api/meta/finalizers.ts'

const treePrefix = 'kubernetes.io/'
const { migratedTo, provisionedBy, provisioner, provisionerBeta } = bindingAnnotations

/** Prevents that a volume is deleted before its storage. */
export const deletionFinalizer = 'kubernetes.io/pv-controller'

/** The CSI driver that replaces a provisioner of the tree. */
const driverOf: ReadonlyMap<string, string> = new Map([
  ['kubernetes.io/aws-ebs', 'ebs.csi.aws.com'],
  ['kubernetes.io/azure-disk', 'disk.csi.azure.com'],
  ['kubernetes.io/azure-file', 'file.csi.azure.com'],
  ['kubernetes.io/cinder', 'cinder.csi.openstack.org'],
  ['kubernetes.io/gce-pd', 'pd.csi.storage.gke.io'],
  ['kubernetes.io/portworx-volume', 'pxd.portworx.com'],
  ['kubernetes.io/vsphere-volume', 'csi.vsphere.vmware.com'],
])

export type Provisioning =
  | { readonly kind: 'external'; readonly provisioner: string }
  /** `provisioner` is set where the provisioner exists, and is recorded in the claim. */
  | { readonly kind: 'impossible'; readonly why: string; readonly provisioner?: string }

const hostPathName = 'kubernetes.io/host-path'

export function provisioningBy(name: string): Provisioning {
  const driver = driverOf.get(name)
  if (driver !== undefined || !name.startsWith(treePrefix)) return { kind: 'external', provisioner: driver ?? name }
  if (name === hostPathName) {
    const why = `Failed to create provisioner: provisioning in volume plugin ${JSON.stringify(name)} is disabled`
    return { kind: 'impossible', provisioner: name, why }
  }
  if (name === 'kubernetes.io/nfs') return { kind: 'impossible', why: 'no provisionable volume plugin matched' }
  return { kind: 'impossible', why: `no volume plugin matched name: ${name}` }
}

export type Deletion =
  | { readonly kind: 'external' }
  /** A directory of the machine on which the controllers run, as upstream; which is not the node's, except on one machine. */
  | { readonly kind: 'host-directory'; readonly path: string }
  | { readonly kind: 'impossible'; readonly why: string }

/** Who deletes the storage of a released volume. */
export function deletionOf(volume: PersistentVolume): Deletion {
  const by = annotationOf(volume, provisionedBy)
  if (by) {
    if (driverOf.has(by) || !by.startsWith(treePrefix)) return { kind: 'external' }
    return { kind: 'impossible', why: `no volume plugin matched name: ${by}` }
  }
  const { hostPath, csi, nfs } = volume.spec
  if (csi !== undefined) return { kind: 'external' }
  if (hostPath !== undefined) return hostPathDeletion(hostPath.path)
  const why = nfs === undefined ? 'no volume plugin matched' : 'no deletable volume plugin matched'
  const name = JSON.stringify(volume.metadata.name)
  return { kind: 'impossible', why: `error getting deleter volume plugin for volume ${name}: ${why}` }
}

const hostPathDeletion = (path: string): Deletion =>
  /^\/tmp\/.+/.test(path)
    ? { kind: 'host-directory', path }
    : { kind: 'impossible', why: `host_path deleter only supports /tmp/.+ but received provided ${path}` }

/** The object with the annotation of its driver; the same object if the annotation is right. */
function withDriver<T extends ApiObject>(object: T, by: string | undefined): T {
  if (by === undefined) return object
  const driver = driverOf.get(by)
  if (annotationOf(object, migratedTo) === driver) return object
  const { [migratedTo]: _, ...annotations } = object.metadata.annotations ?? {}
  const added = driver === undefined ? {} : { [migratedTo]: driver }
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, ...added } } }
}

export const claimWithDriver = (claim: PersistentVolumeClaim): PersistentVolumeClaim =>
  withDriver(claim, annotationOf(claim, provisioner) ?? annotationOf(claim, provisionerBeta))

/** The volume with the annotation of its driver, and with the finalizer if a provisioner of the tree has to delete it. */
export function volumeWithDriver(volume: PersistentVolume): PersistentVolume {
  const by = annotationOf(volume, provisionedBy)
  const marked = withDriver(volume, by)
  if (by === undefined) return marked
  const isOfTree = by.startsWith(treePrefix) && !driverOf.has(by)
  const isWanted = isOfTree && volume.spec.persistentVolumeReclaimPolicy === 'Delete'
  const isUnwanted = driverOf.has(by) || (isOfTree && !isWanted)
  if (isWanted && !hasFinalizer(marked, deletionFinalizer)) return withFinalizer(marked, deletionFinalizer)
  return isUnwanted && hasFinalizer(marked, deletionFinalizer) ? withoutFinalizer(marked, deletionFinalizer) : marked
}
