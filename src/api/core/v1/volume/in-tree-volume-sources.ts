// Volume sources of storage systems whose drivers were part of Kubernetes. CSI drivers serve some of them now.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { bool, int32, list, map, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { localObjectReference } from '../references.ts'

export const awsElasticBlockStoreVolumeSource = message('io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource', {
  volumeID: string(1, { required: true, description: 'The ID of the disk in AWS.' }),
  fsType: string(2, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  partition: int32(3, { description: 'The partition; 0, the default, is the whole disk.' }),
  readOnly: bool(4, { description: 'Whether the disk is mounted read-only; false by default.' }),
})
export interface AWSElasticBlockStoreVolumeSource extends Infer<typeof awsElasticBlockStoreVolumeSource> {}

export const azureDiskVolumeSource = message('io.k8s.api.core.v1.AzureDiskVolumeSource', {
  diskName: string(1, { required: true, description: 'The name of the disk.' }),
  diskURI: string(2, { required: true, description: 'The URI of the disk.' }),
  cachingMode: string(3, {
    pointer: true,
    default: 'ReadWrite',
    enum: ['None', 'ReadOnly', 'ReadWrite'],
    description: 'The cache of the host: None, ReadOnly or ReadWrite (the default).',
  }),
  fsType: string(4, { pointer: true, default: 'ext4', description: 'The type of the file system; ext4 by default.' }),
  readOnly: bool(5, {
    pointer: true,
    default: false,
    description: 'Whether the disk is mounted read-only; false by default.',
  }),
  kind: string(6, {
    pointer: true,
    default: 'Shared',
    enum: ['Dedicated', 'Managed', 'Shared'],
    description: 'Shared (the default), Dedicated or Managed.',
  }),
})
export interface AzureDiskVolumeSource extends Infer<typeof azureDiskVolumeSource> {}

export const azureFileVolumeSource = message('io.k8s.api.core.v1.AzureFileVolumeSource', {
  secretName: string(1, {
    required: true,
    description: 'The Secret with the name and the key of the storage account.',
  }),
  shareName: string(2, { required: true, description: 'The name of the share.' }),
  readOnly: bool(3, { description: 'Whether the share is mounted read-only; false by default.' }),
})
export interface AzureFileVolumeSource extends Infer<typeof azureFileVolumeSource> {}

export const cephFsVolumeSource = message('io.k8s.api.core.v1.CephFSVolumeSource', {
  monitors: list(1, 'string', {
    required: true,
    listType: 'atomic',
    description: 'The addresses of the Ceph monitors.',
  }),
  path: string(2, { description: 'The mounted directory of the file system; / by default.' }),
  user: string(3, { description: 'The user; admin by default.' }),
  secretFile: string(4, { description: 'The key ring of the user on the node; /etc/ceph/user.secret by default.' }),
  secretRef: struct(5, localObjectReference, {
    pointer: true,
    description: 'The Secret with the key of the user, instead of secretFile.',
  }),
  readOnly: bool(6, { description: 'Whether the file system is mounted read-only; false by default.' }),
})
export interface CephFSVolumeSource extends Infer<typeof cephFsVolumeSource> {}

export const cinderVolumeSource = message('io.k8s.api.core.v1.CinderVolumeSource', {
  volumeID: string(1, { required: true, description: 'The ID of the volume in Cinder.' }),
  fsType: string(2, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  readOnly: bool(3, { description: 'Whether the volume is mounted read-only; false by default.' }),
  secretRef: struct(4, localObjectReference, {
    pointer: true,
    description: 'The Secret with the credentials for OpenStack.',
  }),
})
export interface CinderVolumeSource extends Infer<typeof cinderVolumeSource> {}

export const fcVolumeSource = message('io.k8s.api.core.v1.FCVolumeSource', {
  targetWWNs: list(1, 'string', { listType: 'atomic', description: 'The world wide names of the targets.' }),
  lun: int32(2, { pointer: true, description: 'The number of the LUN at the targets.' }),
  fsType: string(3, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  readOnly: bool(4, { description: 'Whether the disk is mounted read-only; false by default.' }),
  wwids: list(5, 'string', {
    listType: 'atomic',
    description: 'The world wide identifiers of the disk, instead of targets and LUN.',
  }),
})
export interface FCVolumeSource extends Infer<typeof fcVolumeSource> {}

export const flexVolumeSource = message('io.k8s.api.core.v1.FlexVolumeSource', {
  driver: string(1, { required: true, description: 'The name of the driver.' }),
  fsType: string(2, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  secretRef: struct(3, localObjectReference, { pointer: true, description: 'The Secret that the driver gets.' }),
  readOnly: bool(4, { description: 'Whether the volume is mounted read-only; false by default.' }),
  options: map(5, 'string', { description: 'Further options of the driver.' }),
})
export interface FlexVolumeSource extends Infer<typeof flexVolumeSource> {}

export const flockerVolumeSource = message('io.k8s.api.core.v1.FlockerVolumeSource', {
  datasetName: string(1, { description: 'The name of the dataset.' }),
  datasetUUID: string(2, { description: 'The UUID of the dataset.' }),
})
export interface FlockerVolumeSource extends Infer<typeof flockerVolumeSource> {}

export const gcePersistentDiskVolumeSource = message('io.k8s.api.core.v1.GCEPersistentDiskVolumeSource', {
  pdName: string(1, { required: true, description: 'The name of the disk in Google Compute Engine.' }),
  fsType: string(2, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  partition: int32(3, { description: 'The partition; 0, the default, is the whole disk.' }),
  readOnly: bool(4, { description: 'Whether the disk is mounted read-only; false by default.' }),
})
export interface GCEPersistentDiskVolumeSource extends Infer<typeof gcePersistentDiskVolumeSource> {}

export const gitRepoVolumeSource = message('io.k8s.api.core.v1.GitRepoVolumeSource', {
  repository: string(1, { required: true, description: 'The URL of the repository.' }),
  revision: string(2, { description: 'The commit that is checked out.' }),
  directory: string(3, {
    description: 'The directory of the clone in the volume; one with the name of the repository by default.',
  }),
})
export interface GitRepoVolumeSource extends Infer<typeof gitRepoVolumeSource> {}

export const glusterfsVolumeSource = message('io.k8s.api.core.v1.GlusterfsVolumeSource', {
  endpoints: string(1, { required: true, description: 'The Endpoints with the addresses of the servers.' }),
  path: string(2, { required: true, description: 'The name of the volume.' }),
  readOnly: bool(3, { description: 'Whether the volume is mounted read-only; false by default.' }),
})
export interface GlusterfsVolumeSource extends Infer<typeof glusterfsVolumeSource> {}

export const iscsiVolumeSource = message('io.k8s.api.core.v1.ISCSIVolumeSource', {
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
  secretRef: struct(10, localObjectReference, { pointer: true, description: 'The Secret with the CHAP credentials.' }),
  chapAuthSession: bool(11, { description: 'Whether the session is authenticated with CHAP.' }),
  initiatorName: string(12, { pointer: true, description: 'The name of this initiator, instead of that of the node.' }),
})
export interface ISCSIVolumeSource extends Infer<typeof iscsiVolumeSource> {}

export const photonPersistentDiskVolumeSource = message('io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource', {
  pdID: string(1, { required: true, description: 'The ID of the disk in Photon Controller.' }),
  fsType: string(2, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
})
export interface PhotonPersistentDiskVolumeSource extends Infer<typeof photonPersistentDiskVolumeSource> {}

export const portworxVolumeSource = message('io.k8s.api.core.v1.PortworxVolumeSource', {
  volumeID: string(1, { required: true, description: 'The ID of the volume in Portworx.' }),
  fsType: string(2, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  readOnly: bool(3, { description: 'Whether the volume is mounted read-only; false by default.' }),
})
export interface PortworxVolumeSource extends Infer<typeof portworxVolumeSource> {}

export const quobyteVolumeSource = message('io.k8s.api.core.v1.QuobyteVolumeSource', {
  registry: string(1, { required: true, description: 'The addresses of the registries.' }),
  volume: string(2, { required: true, description: 'The name of the volume.' }),
  readOnly: bool(3, { description: 'Whether the volume is mounted read-only; false by default.' }),
  user: string(4, { description: 'The user; the owner of the volume by default.' }),
  group: string(5, { description: 'The group; none by default.' }),
  tenant: string(6, { description: 'The tenant of the volume.' }),
})
export interface QuobyteVolumeSource extends Infer<typeof quobyteVolumeSource> {}

export const rbdVolumeSource = message('io.k8s.api.core.v1.RBDVolumeSource', {
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
  secretRef: struct(7, localObjectReference, {
    pointer: true,
    description: 'The Secret with the key of the user, instead of the key ring.',
  }),
  readOnly: bool(8, { description: 'Whether the image is mounted read-only; false by default.' }),
})
export interface RBDVolumeSource extends Infer<typeof rbdVolumeSource> {}

export const scaleIoVolumeSource = message('io.k8s.api.core.v1.ScaleIOVolumeSource', {
  gateway: string(1, { required: true, description: 'The address of the gateway.' }),
  system: string(2, { required: true, description: 'The name of the storage system.' }),
  secretRef: struct(3, localObjectReference, {
    required: true,
    pointer: true,
    description: 'The Secret with the credentials.',
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
export interface ScaleIOVolumeSource extends Infer<typeof scaleIoVolumeSource> {}

export const storageOsVolumeSource = message('io.k8s.api.core.v1.StorageOSVolumeSource', {
  volumeName: string(1, { description: 'The name of the volume.' }),
  volumeNamespace: string(2, { description: 'The namespace of the volume in StorageOS; that of the pod by default.' }),
  fsType: string(3, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  readOnly: bool(4, { description: 'Whether the volume is mounted read-only; false by default.' }),
  secretRef: struct(5, localObjectReference, { pointer: true, description: 'The Secret with the credentials.' }),
})
export interface StorageOSVolumeSource extends Infer<typeof storageOsVolumeSource> {}

export const vsphereVirtualDiskVolumeSource = message('io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource', {
  volumePath: string(1, { required: true, description: 'The path of the disk in the datastore.' }),
  fsType: string(2, {
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  storagePolicyName: string(3, { description: 'The name of the storage policy.' }),
  storagePolicyID: string(4, { description: 'The ID of the storage policy.' }),
})
export interface VsphereVirtualDiskVolumeSource extends Infer<typeof vsphereVirtualDiskVolumeSource> {}
