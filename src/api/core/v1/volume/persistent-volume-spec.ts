// PersistentVolumeSpec: storage and its location.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { atomicMessage, bool, int32, list, map, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { nodeSelector } from '../scheduling/affinity.ts'
import { objectReference } from '../references.ts'
import {
  awsElasticBlockStoreVolumeSource,
  azureDiskVolumeSource,
  fcVolumeSource,
  flockerVolumeSource,
  gcePersistentDiskVolumeSource,
  photonPersistentDiskVolumeSource,
  portworxVolumeSource,
  quobyteVolumeSource,
  vsphereVirtualDiskVolumeSource,
} from './in-tree-volume-sources.ts'
import { hostPathVolumeSource, nfsVolumeSource } from './volume.ts'

export const secretReference = atomicMessage('io.k8s.api.core.v1.SecretReference', {
  name: string(1, { description: 'The name of the Secret.' }),
  namespace: string(2, { description: 'The namespace of the Secret.' }),
})
export interface SecretReference extends Infer<typeof secretReference> {}

export const azureFilePersistentVolumeSource = message('io.k8s.api.core.v1.AzureFilePersistentVolumeSource', {
  secretName: string(1, {
    required: true,
    description: 'The Secret with the name and the key of the storage account.',
  }),
  shareName: string(2, { required: true, description: 'The name of the share.' }),
  readOnly: bool(3, { description: 'Whether the share is mounted read-only; false by default.' }),
  secretNamespace: string(4, {
    pointer: true,
    keepEmpty: true,
    description: 'The namespace of the Secret; that of the claim by default.',
  }),
})
export interface AzureFilePersistentVolumeSource extends Infer<typeof azureFilePersistentVolumeSource> {}

export const cephFsPersistentVolumeSource = message('io.k8s.api.core.v1.CephFSPersistentVolumeSource', {
  monitors: list(1, 'string', {
    required: true,
    listType: 'atomic',
    description: 'The addresses of the Ceph monitors.',
  }),
  path: string(2, { description: 'The mounted directory of the file system; / by default.' }),
  user: string(3, { description: 'The user; admin by default.' }),
  secretFile: string(4, { description: 'The key ring of the user on the node; /etc/ceph/user.secret by default.' }),
  secretRef: struct(5, secretReference, {
    pointer: true,
    description: 'The Secret with the key of the user, instead of secretFile, of any namespace.',
  }),
  readOnly: bool(6, { description: 'Whether the file system is mounted read-only; false by default.' }),
})
export interface CephFSPersistentVolumeSource extends Infer<typeof cephFsPersistentVolumeSource> {}

export const cinderPersistentVolumeSource = message('io.k8s.api.core.v1.CinderPersistentVolumeSource', {
  volumeID: string(1, { required: true, description: 'The ID of the volume in Cinder.' }),
  fsType: string(2, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  readOnly: bool(3, { description: 'Whether the volume is mounted read-only; false by default.' }),
  secretRef: struct(4, secretReference, {
    pointer: true,
    description: 'The Secret with the credentials for OpenStack, of any namespace.',
  }),
})
export interface CinderPersistentVolumeSource extends Infer<typeof cinderPersistentVolumeSource> {}

export const csiPersistentVolumeSource = message('io.k8s.api.core.v1.CSIPersistentVolumeSource', {
  driver: string(1, { required: true, description: 'The name of the CSI driver.' }),
  volumeHandle: string(2, {
    required: true,
    description: 'The ID of the volume in the driver, unique in the storage system.',
  }),
  readOnly: bool(3, { description: 'Whether the volume is mounted read-only; false by default.' }),
  fsType: string(4, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  volumeAttributes: map(5, 'string', {
    description: 'Parameters that the driver returned when it created the volume.',
  }),
  controllerPublishSecretRef: struct(6, secretReference, {
    pointer: true,
    description: 'The Secret for attaching the volume.',
  }),
  nodeStageSecretRef: struct(7, secretReference, {
    pointer: true,
    description: 'The Secret for mounting the volume on a node.',
  }),
  nodePublishSecretRef: struct(8, secretReference, {
    pointer: true,
    description: 'The Secret for mounting the volume into a pod.',
  }),
  controllerExpandSecretRef: struct(9, secretReference, {
    pointer: true,
    description: 'The Secret for enlarging the volume.',
  }),
  nodeExpandSecretRef: struct(10, secretReference, {
    pointer: true,
    description: 'The Secret for enlarging the file system on a node.',
  }),
})
export interface CSIPersistentVolumeSource extends Infer<typeof csiPersistentVolumeSource> {}

export const flexPersistentVolumeSource = message('io.k8s.api.core.v1.FlexPersistentVolumeSource', {
  driver: string(1, { required: true, description: 'The name of the driver.' }),
  fsType: string(2, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  secretRef: struct(3, secretReference, {
    pointer: true,
    description: 'The Secret that the driver gets, of any namespace.',
  }),
  readOnly: bool(4, { description: 'Whether the volume is mounted read-only; false by default.' }),
  options: map(5, 'string', { description: 'Further options of the driver.' }),
})
export interface FlexPersistentVolumeSource extends Infer<typeof flexPersistentVolumeSource> {}

export const glusterfsPersistentVolumeSource = message('io.k8s.api.core.v1.GlusterfsPersistentVolumeSource', {
  endpoints: string(1, { required: true, description: 'The Endpoints with the addresses of the servers.' }),
  path: string(2, { required: true, description: 'The name of the volume.' }),
  readOnly: bool(3, { description: 'Whether the volume is mounted read-only; false by default.' }),
  endpointsNamespace: string(4, {
    pointer: true,
    description: 'The namespace of the Endpoints; that of the claim by default.',
  }),
})
export interface GlusterfsPersistentVolumeSource extends Infer<typeof glusterfsPersistentVolumeSource> {}

export const iscsiPersistentVolumeSource = message('io.k8s.api.core.v1.ISCSIPersistentVolumeSource', {
  targetPortal: string(1, { required: true, description: 'The address of the target, with a port if it is not 3260.' }),
  iqn: string(2, { required: true, description: 'The qualified name of the target.' }),
  lun: int32(3, { required: true, description: 'The number of the LUN at the target.' }),
  iscsiInterface: string(4, {
    default: 'default',
    description: 'The iSCSI interface of the node; default by default.',
  }),
  fsType: string(5, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  readOnly: bool(6, { description: 'Whether the disk is mounted read-only; false by default.' }),
  portals: list(7, 'string', { listType: 'atomic', description: 'Further addresses of the target.' }),
  chapAuthDiscovery: bool(8, { description: 'Whether the discovery is authenticated with CHAP.' }),
  secretRef: struct(10, secretReference, {
    pointer: true,
    description: 'The Secret with the CHAP credentials, of any namespace.',
  }),
  chapAuthSession: bool(11, { description: 'Whether the session is authenticated with CHAP.' }),
  initiatorName: string(12, { pointer: true, description: 'The name of this initiator, instead of that of the node.' }),
})
export interface ISCSIPersistentVolumeSource extends Infer<typeof iscsiPersistentVolumeSource> {}

export const localVolumeSource = message('io.k8s.api.core.v1.LocalVolumeSource', {
  path: string(1, { required: true, description: 'The path of the directory or of the disk on the node.' }),
  fsType: string(2, {
    pointer: true,
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
})
export interface LocalVolumeSource extends Infer<typeof localVolumeSource> {}

export const rbdPersistentVolumeSource = message('io.k8s.api.core.v1.RBDPersistentVolumeSource', {
  monitors: list(1, 'string', {
    required: true,
    listType: 'atomic',
    description: 'The addresses of the Ceph monitors.',
  }),
  image: string(2, { required: true, description: 'The name of the image.' }),
  fsType: string(3, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  pool: string(4, { default: 'rbd', description: 'The pool; rbd by default.' }),
  user: string(5, { default: 'admin', description: 'The user; admin by default.' }),
  keyring: string(6, {
    default: '/etc/ceph/keyring',
    description: 'The key ring of the user on the node; /etc/ceph/keyring by default.',
  }),
  secretRef: struct(7, secretReference, {
    pointer: true,
    description: 'The Secret with the key of the user, instead of the key ring, of any namespace.',
  }),
  readOnly: bool(8, { description: 'Whether the image is mounted read-only; false by default.' }),
})
export interface RBDPersistentVolumeSource extends Infer<typeof rbdPersistentVolumeSource> {}

export const scaleIoPersistentVolumeSource = message('io.k8s.api.core.v1.ScaleIOPersistentVolumeSource', {
  gateway: string(1, { required: true, description: 'The address of the gateway.' }),
  system: string(2, { required: true, description: 'The name of the storage system.' }),
  secretRef: struct(3, secretReference, {
    required: true,
    pointer: true,
    description: 'The Secret with the credentials, of any namespace.',
  }),
  sslEnabled: bool(4, { description: 'Whether the gateway is called with TLS; false by default.' }),
  protectionDomain: string(5, { description: 'The protection domain.' }),
  storagePool: string(6, { description: 'The storage pool.' }),
  storageMode: string(7, {
    default: 'ThinProvisioned',
    description: 'ThickProvisioned or ThinProvisioned (the default).',
  }),
  volumeName: string(8, { description: 'The name of the volume.' }),
  fsType: string(9, { default: 'xfs', description: 'The type of the file system; xfs by default.' }),
  readOnly: bool(10, { description: 'Whether the volume is mounted read-only; false by default.' }),
})
export interface ScaleIOPersistentVolumeSource extends Infer<typeof scaleIoPersistentVolumeSource> {}

export const storageOsPersistentVolumeSource = message('io.k8s.api.core.v1.StorageOSPersistentVolumeSource', {
  volumeName: string(1, { description: 'The name of the volume.' }),
  volumeNamespace: string(2, { description: 'The namespace of the volume in StorageOS; that of the pod by default.' }),
  fsType: string(3, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  readOnly: bool(4, { description: 'Whether the volume is mounted read-only; false by default.' }),
  secretRef: struct(5, objectReference, {
    pointer: true,
    description: 'The Secret with the credentials, of any namespace.',
  }),
})
export interface StorageOSPersistentVolumeSource extends Infer<typeof storageOsPersistentVolumeSource> {}

export const volumeNodeAffinity = message('io.k8s.api.core.v1.VolumeNodeAffinity', {
  required: struct(1, nodeSelector, { pointer: true, description: 'What a node must have to use the volume.' }),
})
export interface VolumeNodeAffinity extends Infer<typeof volumeNodeAffinity> {}

export const persistentVolumeSpec = message('io.k8s.api.core.v1.PersistentVolumeSpec', {
  capacity: map(1, 'quantity', { description: 'The capacity of the volume.' }),
  gcePersistentDisk: struct(1, gcePersistentDiskVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A disk of Google Compute Engine; replaced by its CSI driver.',
  }),
  awsElasticBlockStore: struct(2, awsElasticBlockStoreVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A disk of Amazon EC2; replaced by its CSI driver.',
  }),
  hostPath: struct(3, hostPathVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A directory on the node, for tests on a single node.',
  }),
  glusterfs: struct(4, glusterfsPersistentVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A Glusterfs volume; no longer supported.',
  }),
  nfs: struct(5, nfsVolumeSource, { pointer: true, embeddedAt: 2, description: 'A directory of an NFS server.' }),
  rbd: struct(6, rbdPersistentVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A block device of Ceph; no longer supported.',
  }),
  iscsi: struct(7, iscsiPersistentVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'An iSCSI disk.',
  }),
  cinder: struct(8, cinderPersistentVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A disk of OpenStack; replaced by its CSI driver.',
  }),
  cephfs: struct(9, cephFsPersistentVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A file system of Ceph; no longer supported.',
  }),
  fc: struct(10, fcVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A Fibre Channel disk.',
  }),
  flocker: struct(11, flockerVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A Flocker volume; no longer supported.',
  }),
  flexVolume: struct(12, flexPersistentVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A volume of a FlexVolume plugin; replaced by CSI.',
  }),
  azureFile: struct(13, azureFilePersistentVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A file share of Azure; replaced by its CSI driver.',
  }),
  vsphereVolume: struct(14, vsphereVirtualDiskVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A disk of vSphere; replaced by its CSI driver.',
  }),
  quobyte: struct(15, quobyteVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A Quobyte volume; no longer supported.',
  }),
  azureDisk: struct(16, azureDiskVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A disk of Azure; replaced by its CSI driver.',
  }),
  photonPersistentDisk: struct(17, photonPersistentDiskVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A disk of Photon Controller; no longer supported.',
  }),
  portworxVolume: struct(18, portworxVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A Portworx volume; replaced by its CSI driver.',
  }),
  scaleIO: struct(19, scaleIoPersistentVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A ScaleIO volume; no longer supported.',
  }),
  local: struct(20, localVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A disk or directory of one node; requires nodeAffinity.',
  }),
  storageos: struct(21, storageOsPersistentVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A StorageOS volume; no longer supported.',
  }),
  csi: struct(22, csiPersistentVolumeSource, {
    pointer: true,
    embeddedAt: 2,
    description: 'A volume that a CSI driver provides.',
  }),
  accessModes: list(3, 'string', {
    listType: 'atomic',
    enum: ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'],
    enumUnchecked: true,
    description: 'The access modes of the volume.',
  }),
  claimRef: struct(4, objectReference, {
    pointer: true,
    mapType: 'granular',
    description: 'The claim that the volume is bound to.',
  }),
  persistentVolumeReclaimPolicy: string(5, {
    default: 'Retain',
    enum: ['Delete', 'Recycle', 'Retain'],
    description: 'What happens to the volume when its claim is deleted: Retain (the default), Delete or Recycle.',
  }),
  storageClassName: string(6, { description: 'The class that the volume belongs to; empty for none.' }),
  mountOptions: list(7, 'string', { listType: 'atomic', description: 'Mount options, which are not validated.' }),
  volumeMode: string(8, {
    pointer: true,
    default: 'Filesystem',
    enum: ['Block', 'Filesystem'],
    description: 'Filesystem (the default): the volume is mounted; Block: it is provided as a block device.',
  }),
  nodeAffinity: struct(9, volumeNodeAffinity, {
    pointer: true,
    description: 'The nodes that can access the volume.',
  }),
  volumeAttributesClassName: string(10, {
    pointer: true,
    description: 'The VolumeAttributesClass of the volume.',
  }),
})
export interface PersistentVolumeSpec extends Infer<typeof persistentVolumeSpec> {}
