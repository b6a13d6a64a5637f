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
  name: string(1),
  namespace: string(2),
})
export interface SecretReference extends Infer<typeof secretReference> {}

export const azureFilePersistentVolumeSource = message('io.k8s.api.core.v1.AzureFilePersistentVolumeSource', {
  secretName: string(1, { required: true }),
  shareName: string(2, { required: true }),
  readOnly: bool(3),
  secretNamespace: string(4, { pointer: true, keepEmpty: true }),
})
export interface AzureFilePersistentVolumeSource extends Infer<typeof azureFilePersistentVolumeSource> {}

export const cephFsPersistentVolumeSource = message('io.k8s.api.core.v1.CephFSPersistentVolumeSource', {
  monitors: list(1, 'string', { required: true, listType: 'atomic' }),
  path: string(2),
  user: string(3),
  secretFile: string(4),
  secretRef: struct(5, secretReference, { pointer: true }),
  readOnly: bool(6),
})
export interface CephFSPersistentVolumeSource extends Infer<typeof cephFsPersistentVolumeSource> {}

export const cinderPersistentVolumeSource = message('io.k8s.api.core.v1.CinderPersistentVolumeSource', {
  volumeID: string(1, { required: true }),
  fsType: string(2),
  readOnly: bool(3),
  secretRef: struct(4, secretReference, { pointer: true }),
})
export interface CinderPersistentVolumeSource extends Infer<typeof cinderPersistentVolumeSource> {}

export const csiPersistentVolumeSource = message('io.k8s.api.core.v1.CSIPersistentVolumeSource', {
  driver: string(1, { required: true }),
  volumeHandle: string(2, { required: true }),
  readOnly: bool(3),
  fsType: string(4),
  volumeAttributes: map(5, 'string'),
  controllerPublishSecretRef: struct(6, secretReference, { pointer: true }),
  nodeStageSecretRef: struct(7, secretReference, { pointer: true }),
  nodePublishSecretRef: struct(8, secretReference, { pointer: true }),
  controllerExpandSecretRef: struct(9, secretReference, { pointer: true }),
  nodeExpandSecretRef: struct(10, secretReference, { pointer: true }),
})
export interface CSIPersistentVolumeSource extends Infer<typeof csiPersistentVolumeSource> {}

export const flexPersistentVolumeSource = message('io.k8s.api.core.v1.FlexPersistentVolumeSource', {
  driver: string(1, { required: true }),
  fsType: string(2),
  secretRef: struct(3, secretReference, { pointer: true }),
  readOnly: bool(4),
  options: map(5, 'string'),
})
export interface FlexPersistentVolumeSource extends Infer<typeof flexPersistentVolumeSource> {}

export const glusterfsPersistentVolumeSource = message('io.k8s.api.core.v1.GlusterfsPersistentVolumeSource', {
  endpoints: string(1, { required: true }),
  path: string(2, { required: true }),
  readOnly: bool(3),
  endpointsNamespace: string(4, { pointer: true }),
})
export interface GlusterfsPersistentVolumeSource extends Infer<typeof glusterfsPersistentVolumeSource> {}

export const iscsiPersistentVolumeSource = message('io.k8s.api.core.v1.ISCSIPersistentVolumeSource', {
  targetPortal: string(1, { required: true }),
  iqn: string(2, { required: true }),
  lun: int32(3, { required: true }),
  iscsiInterface: string(4, { default: 'default' }),
  fsType: string(5),
  readOnly: bool(6),
  portals: list(7, 'string', { listType: 'atomic' }),
  chapAuthDiscovery: bool(8),
  secretRef: struct(10, secretReference, { pointer: true }),
  chapAuthSession: bool(11),
  initiatorName: string(12, { pointer: true }),
})
export interface ISCSIPersistentVolumeSource extends Infer<typeof iscsiPersistentVolumeSource> {}

export const localVolumeSource = message('io.k8s.api.core.v1.LocalVolumeSource', {
  path: string(1, { required: true }),
  fsType: string(2, { pointer: true }),
})
export interface LocalVolumeSource extends Infer<typeof localVolumeSource> {}

export const rbdPersistentVolumeSource = message('io.k8s.api.core.v1.RBDPersistentVolumeSource', {
  monitors: list(1, 'string', { required: true, listType: 'atomic' }),
  image: string(2, { required: true }),
  fsType: string(3),
  pool: string(4, { default: 'rbd' }),
  user: string(5, { default: 'admin' }),
  keyring: string(6, { default: '/etc/ceph/keyring' }),
  secretRef: struct(7, secretReference, { pointer: true }),
  readOnly: bool(8),
})
export interface RBDPersistentVolumeSource extends Infer<typeof rbdPersistentVolumeSource> {}

export const scaleIoPersistentVolumeSource = message('io.k8s.api.core.v1.ScaleIOPersistentVolumeSource', {
  gateway: string(1, { required: true }),
  system: string(2, { required: true }),
  secretRef: struct(3, secretReference, { required: true, pointer: true }),
  sslEnabled: bool(4),
  protectionDomain: string(5),
  storagePool: string(6),
  storageMode: string(7, { default: 'ThinProvisioned' }),
  volumeName: string(8),
  fsType: string(9, { default: 'xfs' }),
  readOnly: bool(10),
})
export interface ScaleIOPersistentVolumeSource extends Infer<typeof scaleIoPersistentVolumeSource> {}

export const storageOsPersistentVolumeSource = message('io.k8s.api.core.v1.StorageOSPersistentVolumeSource', {
  volumeName: string(1),
  volumeNamespace: string(2),
  fsType: string(3),
  readOnly: bool(4),
  secretRef: struct(5, objectReference, { pointer: true }),
})
export interface StorageOSPersistentVolumeSource extends Infer<typeof storageOsPersistentVolumeSource> {}

export const volumeNodeAffinity = message('io.k8s.api.core.v1.VolumeNodeAffinity', {
  required: struct(1, nodeSelector, { pointer: true }),
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
    description: 'What happens to the volume when its claim is deleted: Retain, Delete or Recycle.',
  }),
  storageClassName: string(6, { description: 'The class that the volume belongs to; empty for none.' }),
  mountOptions: list(7, 'string', { listType: 'atomic', description: 'Mount options, which are not validated.' }),
  volumeMode: string(8, {
    pointer: true,
    default: 'Filesystem',
    enum: ['Block', 'Filesystem'],
    description: 'Whether the volume is mounted as a file system or provided as a block device.',
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
