// Volumes of a pod and their sources.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import {
  bool,
  int32,
  int64,
  list,
  map,
  message,
  quantity,
  string,
  struct,
} from '../../../../schema/descriptor/field.ts'
import { objectFieldSelector, resourceFieldSelector } from '../container/env-var.ts'
import { localObjectReference, typedLocalObjectReference, typedObjectReference } from '../references.ts'
import { volumeResourceRequirements } from '../resources/resource-requirements.ts'
import { labelSelector } from '../../../meta/v1/label-selector.ts'
import { objectMeta } from '../../../meta/v1/object-meta.ts'

export const keyToPath = message('io.k8s.api.core.v1.KeyToPath', {
  key: string(1, { required: true }),
  path: string(2, { required: true }),
  mode: int32(3, { pointer: true }),
})
export interface KeyToPath extends Infer<typeof keyToPath> {}

export const awsElasticBlockStoreVolumeSource = message('io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource', {
  volumeID: string(1, { required: true }),
  fsType: string(2),
  partition: int32(3),
  readOnly: bool(4),
})
export interface AWSElasticBlockStoreVolumeSource extends Infer<typeof awsElasticBlockStoreVolumeSource> {}

export const azureDiskVolumeSource = message('io.k8s.api.core.v1.AzureDiskVolumeSource', {
  diskName: string(1, { required: true }),
  diskURI: string(2, { required: true }),
  cachingMode: string(3, { pointer: true, default: 'ReadWrite', enum: ['None', 'ReadOnly', 'ReadWrite'] }),
  fsType: string(4, { pointer: true, default: 'ext4' }),
  readOnly: bool(5, { pointer: true, default: false }),
  kind: string(6, { pointer: true, default: 'Shared', enum: ['Dedicated', 'Managed', 'Shared'] }),
})
export interface AzureDiskVolumeSource extends Infer<typeof azureDiskVolumeSource> {}

export const azureFileVolumeSource = message('io.k8s.api.core.v1.AzureFileVolumeSource', {
  secretName: string(1, { required: true }),
  shareName: string(2, { required: true }),
  readOnly: bool(3),
})
export interface AzureFileVolumeSource extends Infer<typeof azureFileVolumeSource> {}

export const cephFsVolumeSource = message('io.k8s.api.core.v1.CephFSVolumeSource', {
  monitors: list(1, 'string', { required: true, listType: 'atomic' }),
  path: string(2),
  user: string(3),
  secretFile: string(4),
  secretRef: struct(5, localObjectReference, { pointer: true }),
  readOnly: bool(6),
})
export interface CephFSVolumeSource extends Infer<typeof cephFsVolumeSource> {}

export const cinderVolumeSource = message('io.k8s.api.core.v1.CinderVolumeSource', {
  volumeID: string(1, { required: true }),
  fsType: string(2),
  readOnly: bool(3),
  secretRef: struct(4, localObjectReference, { pointer: true }),
})
export interface CinderVolumeSource extends Infer<typeof cinderVolumeSource> {}

export const configMapVolumeSource = message('io.k8s.api.core.v1.ConfigMapVolumeSource', {
  name: string(1, { embeddedAt: 1 }),
  items: list(2, keyToPath, { listType: 'atomic' }),
  defaultMode: int32(3, { pointer: true, default: 420 }),
  optional: bool(4, { pointer: true }),
})
export interface ConfigMapVolumeSource extends Infer<typeof configMapVolumeSource> {}

export const configMapProjection = message('io.k8s.api.core.v1.ConfigMapProjection', {
  name: string(1, { embeddedAt: 1 }),
  items: list(2, keyToPath, { listType: 'atomic' }),
  optional: bool(4, { pointer: true }),
})
export interface ConfigMapProjection extends Infer<typeof configMapProjection> {}

export const csiVolumeSource = message('io.k8s.api.core.v1.CSIVolumeSource', {
  driver: string(1, { required: true }),
  readOnly: bool(2, { pointer: true }),
  fsType: string(3, { pointer: true }),
  volumeAttributes: map(4, 'string'),
  nodePublishSecretRef: struct(5, localObjectReference, { pointer: true }),
})
export interface CSIVolumeSource extends Infer<typeof csiVolumeSource> {}

export const downwardApiVolumeFile = message('io.k8s.api.core.v1.DownwardAPIVolumeFile', {
  path: string(1, { required: true }),
  fieldRef: struct(2, objectFieldSelector, { pointer: true }),
  resourceFieldRef: struct(3, resourceFieldSelector, { pointer: true }),
  mode: int32(4, { pointer: true }),
})
export interface DownwardAPIVolumeFile extends Infer<typeof downwardApiVolumeFile> {}

export const downwardApiVolumeSource = message('io.k8s.api.core.v1.DownwardAPIVolumeSource', {
  items: list(1, downwardApiVolumeFile, { listType: 'atomic' }),
  defaultMode: int32(2, { pointer: true, default: 420 }),
})
export interface DownwardAPIVolumeSource extends Infer<typeof downwardApiVolumeSource> {}

export const downwardApiProjection = message('io.k8s.api.core.v1.DownwardAPIProjection', {
  items: list(1, downwardApiVolumeFile, { listType: 'atomic' }),
})
export interface DownwardAPIProjection extends Infer<typeof downwardApiProjection> {}

export const emptyDirVolumeSource = message('io.k8s.api.core.v1.EmptyDirVolumeSource', {
  medium: string(1),
  sizeLimit: quantity(2, { pointer: true }),
})
export interface EmptyDirVolumeSource extends Infer<typeof emptyDirVolumeSource> {}

export const persistentVolumeClaimSpec = message('io.k8s.api.core.v1.PersistentVolumeClaimSpec', {
  accessModes: list(1, 'string', {
    listType: 'atomic',
    enum: ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'],
    enumUnchecked: true,
    description: 'The required access modes.',
  }),
  resources: struct(2, volumeResourceRequirements, { description: 'The requested storage.' }),
  volumeName: string(3, { description: 'The volume that the claim is bound to.' }),
  selector: struct(4, labelSelector, { pointer: true, description: 'Selects volumes by label.' }),
  storageClassName: string(5, {
    pointer: true,
    description: 'The StorageClass; empty for volumes without a class.',
  }),
  volumeMode: string(6, {
    pointer: true,
    default: 'Filesystem',
    enum: ['Block', 'Filesystem'],
    description: 'Whether the volume is mounted as a file system or provided as a block device.',
  }),
  dataSource: struct(7, typedLocalObjectReference, {
    pointer: true,
    description: 'The snapshot or claim that is the data source of the volume.',
  }),
  dataSourceRef: struct(8, typedObjectReference, {
    pointer: true,
    description: 'The data source of the volume, which may be a custom resource.',
  }),
  volumeAttributesClassName: string(9, {
    pointer: true,
    description: 'The desired VolumeAttributesClass of the volume.',
  }),
})
export interface PersistentVolumeClaimSpec extends Infer<typeof persistentVolumeClaimSpec> {}

export const persistentVolumeClaimTemplate = message('io.k8s.api.core.v1.PersistentVolumeClaimTemplate', {
  metadata: struct(1, objectMeta),
  spec: struct(2, persistentVolumeClaimSpec, { required: true }),
})
export interface PersistentVolumeClaimTemplate extends Infer<typeof persistentVolumeClaimTemplate> {}

export const ephemeralVolumeSource = message('io.k8s.api.core.v1.EphemeralVolumeSource', {
  volumeClaimTemplate: struct(1, persistentVolumeClaimTemplate, { pointer: true }),
})
export interface EphemeralVolumeSource extends Infer<typeof ephemeralVolumeSource> {}

export const fcVolumeSource = message('io.k8s.api.core.v1.FCVolumeSource', {
  targetWWNs: list(1, 'string', { listType: 'atomic' }),
  lun: int32(2, { pointer: true }),
  fsType: string(3),
  readOnly: bool(4),
  wwids: list(5, 'string', { listType: 'atomic' }),
})
export interface FCVolumeSource extends Infer<typeof fcVolumeSource> {}

export const flexVolumeSource = message('io.k8s.api.core.v1.FlexVolumeSource', {
  driver: string(1, { required: true }),
  fsType: string(2),
  secretRef: struct(3, localObjectReference, { pointer: true }),
  readOnly: bool(4),
  options: map(5, 'string'),
})
export interface FlexVolumeSource extends Infer<typeof flexVolumeSource> {}

export const flockerVolumeSource = message('io.k8s.api.core.v1.FlockerVolumeSource', {
  datasetName: string(1),
  datasetUUID: string(2),
})
export interface FlockerVolumeSource extends Infer<typeof flockerVolumeSource> {}

export const gcePersistentDiskVolumeSource = message('io.k8s.api.core.v1.GCEPersistentDiskVolumeSource', {
  pdName: string(1, { required: true }),
  fsType: string(2),
  partition: int32(3),
  readOnly: bool(4),
})
export interface GCEPersistentDiskVolumeSource extends Infer<typeof gcePersistentDiskVolumeSource> {}

export const gitRepoVolumeSource = message('io.k8s.api.core.v1.GitRepoVolumeSource', {
  repository: string(1, { required: true }),
  revision: string(2),
  directory: string(3),
})
export interface GitRepoVolumeSource extends Infer<typeof gitRepoVolumeSource> {}

export const glusterfsVolumeSource = message('io.k8s.api.core.v1.GlusterfsVolumeSource', {
  endpoints: string(1, { required: true }),
  path: string(2, { required: true }),
  readOnly: bool(3),
})
export interface GlusterfsVolumeSource extends Infer<typeof glusterfsVolumeSource> {}

export const hostPathVolumeSource = message('io.k8s.api.core.v1.HostPathVolumeSource', {
  path: string(1, { required: true }),
  type: string(2, {
    pointer: true,
    default: '',
    enum: ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
  }),
})
export interface HostPathVolumeSource extends Infer<typeof hostPathVolumeSource> {}

export const iscsiVolumeSource = message('io.k8s.api.core.v1.ISCSIVolumeSource', {
  targetPortal: string(1, { required: true }),
  iqn: string(2, { required: true }),
  lun: int32(3, { required: true }),
  iscsiInterface: string(4, { default: 'default' }),
  fsType: string(5),
  readOnly: bool(6),
  portals: list(7, 'string', { listType: 'atomic' }),
  chapAuthDiscovery: bool(8),
  secretRef: struct(10, localObjectReference, { pointer: true }),
  chapAuthSession: bool(11),
  initiatorName: string(12, { pointer: true }),
})
export interface ISCSIVolumeSource extends Infer<typeof iscsiVolumeSource> {}

export const imageVolumeSource = message('io.k8s.api.core.v1.ImageVolumeSource', {
  reference: string(1),
  pullPolicy: string(2, { enum: ['Always', 'IfNotPresent', 'Never'] }),
})
export interface ImageVolumeSource extends Infer<typeof imageVolumeSource> {}

export const nfsVolumeSource = message('io.k8s.api.core.v1.NFSVolumeSource', {
  server: string(1, { required: true }),
  path: string(2, { required: true }),
  readOnly: bool(3),
})
export interface NFSVolumeSource extends Infer<typeof nfsVolumeSource> {}

export const persistentVolumeClaimVolumeSource = message('io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource', {
  claimName: string(1, { required: true }),
  readOnly: bool(2),
})
export interface PersistentVolumeClaimVolumeSource extends Infer<typeof persistentVolumeClaimVolumeSource> {}

export const photonPersistentDiskVolumeSource = message('io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource', {
  pdID: string(1, { required: true }),
  fsType: string(2),
})
export interface PhotonPersistentDiskVolumeSource extends Infer<typeof photonPersistentDiskVolumeSource> {}

export const portworxVolumeSource = message('io.k8s.api.core.v1.PortworxVolumeSource', {
  volumeID: string(1, { required: true }),
  fsType: string(2),
  readOnly: bool(3),
})
export interface PortworxVolumeSource extends Infer<typeof portworxVolumeSource> {}

export const clusterTrustBundleProjection = message('io.k8s.api.core.v1.ClusterTrustBundleProjection', {
  name: string(1, { pointer: true }),
  signerName: string(2, { pointer: true }),
  labelSelector: struct(3, labelSelector, { pointer: true }),
  path: string(4, { required: true }),
  optional: bool(5, { pointer: true }),
})
export interface ClusterTrustBundleProjection extends Infer<typeof clusterTrustBundleProjection> {}

export const podCertificateProjection = message('io.k8s.api.core.v1.PodCertificateProjection', {
  signerName: string(1, { required: true, omitEmpty: true }),
  keyType: string(2, { required: true, omitEmpty: true }),
  maxExpirationSeconds: int32(3, { pointer: true }),
  credentialBundlePath: string(4),
  keyPath: string(5),
  certificateChainPath: string(6),
  userAnnotations: map(7, 'string'),
})
export interface PodCertificateProjection extends Infer<typeof podCertificateProjection> {}

export const secretProjection = message('io.k8s.api.core.v1.SecretProjection', {
  name: string(1, { embeddedAt: 1 }),
  items: list(2, keyToPath, { listType: 'atomic' }),
  optional: bool(4, { pointer: true }),
})
export interface SecretProjection extends Infer<typeof secretProjection> {}

export const serviceAccountTokenProjection = message('io.k8s.api.core.v1.ServiceAccountTokenProjection', {
  audience: string(1),
  expirationSeconds: int64(2, { pointer: true, default: 3600, fitsDouble: true }),
  path: string(3, { required: true }),
})
export interface ServiceAccountTokenProjection extends Infer<typeof serviceAccountTokenProjection> {}

export const volumeProjection = message('io.k8s.api.core.v1.VolumeProjection', {
  secret: struct(1, secretProjection, { pointer: true }),
  downwardAPI: struct(2, downwardApiProjection, { pointer: true }),
  configMap: struct(3, configMapProjection, { pointer: true }),
  serviceAccountToken: struct(4, serviceAccountTokenProjection, { pointer: true }),
  clusterTrustBundle: struct(5, clusterTrustBundleProjection, { pointer: true }),
  podCertificate: struct(6, podCertificateProjection, { pointer: true }),
})
export interface VolumeProjection extends Infer<typeof volumeProjection> {}

export const projectedVolumeSource = message('io.k8s.api.core.v1.ProjectedVolumeSource', {
  sources: list(1, volumeProjection, { listType: 'atomic', keepEmpty: true }),
  defaultMode: int32(2, { pointer: true, default: 420 }),
})
export interface ProjectedVolumeSource extends Infer<typeof projectedVolumeSource> {}

export const quobyteVolumeSource = message('io.k8s.api.core.v1.QuobyteVolumeSource', {
  registry: string(1, { required: true }),
  volume: string(2, { required: true }),
  readOnly: bool(3),
  user: string(4),
  group: string(5),
  tenant: string(6),
})
export interface QuobyteVolumeSource extends Infer<typeof quobyteVolumeSource> {}

export const rbdVolumeSource = message('io.k8s.api.core.v1.RBDVolumeSource', {
  monitors: list(1, 'string', { required: true, listType: 'atomic' }),
  image: string(2, { required: true }),
  fsType: string(3),
  pool: string(4, { default: 'rbd' }),
  user: string(5, { default: 'admin' }),
  keyring: string(6, { default: '/etc/ceph/keyring' }),
  secretRef: struct(7, localObjectReference, { pointer: true }),
  readOnly: bool(8),
})
export interface RBDVolumeSource extends Infer<typeof rbdVolumeSource> {}

export const scaleIoVolumeSource = message('io.k8s.api.core.v1.ScaleIOVolumeSource', {
  gateway: string(1, { required: true }),
  system: string(2, { required: true }),
  secretRef: struct(3, localObjectReference, { required: true, pointer: true }),
  sslEnabled: bool(4),
  protectionDomain: string(5),
  storagePool: string(6),
  storageMode: string(7, { default: 'ThinProvisioned' }),
  volumeName: string(8),
  fsType: string(9, { default: 'xfs' }),
  readOnly: bool(10),
})
export interface ScaleIOVolumeSource extends Infer<typeof scaleIoVolumeSource> {}

export const secretVolumeSource = message('io.k8s.api.core.v1.SecretVolumeSource', {
  secretName: string(1),
  items: list(2, keyToPath, { listType: 'atomic' }),
  defaultMode: int32(3, { pointer: true, default: 420 }),
  optional: bool(4, { pointer: true }),
})
export interface SecretVolumeSource extends Infer<typeof secretVolumeSource> {}

export const storageOsVolumeSource = message('io.k8s.api.core.v1.StorageOSVolumeSource', {
  volumeName: string(1),
  volumeNamespace: string(2),
  fsType: string(3),
  readOnly: bool(4),
  secretRef: struct(5, localObjectReference, { pointer: true }),
})
export interface StorageOSVolumeSource extends Infer<typeof storageOsVolumeSource> {}

export const vsphereVirtualDiskVolumeSource = message('io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource', {
  volumePath: string(1, { required: true }),
  fsType: string(2),
  storagePolicyName: string(3),
  storagePolicyID: string(4),
})
export interface VsphereVirtualDiskVolumeSource extends Infer<typeof vsphereVirtualDiskVolumeSource> {}

export const volume = message('io.k8s.api.core.v1.Volume', {
  awsElasticBlockStore: struct(4, awsElasticBlockStoreVolumeSource, { embeddedAt: 2, pointer: true }),
  azureDisk: struct(22, azureDiskVolumeSource, { embeddedAt: 2, pointer: true }),
  azureFile: struct(18, azureFileVolumeSource, { embeddedAt: 2, pointer: true }),
  cephfs: struct(14, cephFsVolumeSource, { embeddedAt: 2, pointer: true }),
  cinder: struct(13, cinderVolumeSource, { embeddedAt: 2, pointer: true }),
  configMap: struct(19, configMapVolumeSource, { embeddedAt: 2, pointer: true }),
  csi: struct(28, csiVolumeSource, { embeddedAt: 2, pointer: true }),
  downwardAPI: struct(16, downwardApiVolumeSource, { embeddedAt: 2, pointer: true }),
  emptyDir: struct(2, emptyDirVolumeSource, { embeddedAt: 2, pointer: true }),
  ephemeral: struct(29, ephemeralVolumeSource, { embeddedAt: 2, pointer: true }),
  fc: struct(17, fcVolumeSource, { embeddedAt: 2, pointer: true }),
  flexVolume: struct(12, flexVolumeSource, { embeddedAt: 2, pointer: true }),
  flocker: struct(15, flockerVolumeSource, { embeddedAt: 2, pointer: true }),
  gcePersistentDisk: struct(3, gcePersistentDiskVolumeSource, { embeddedAt: 2, pointer: true }),
  gitRepo: struct(5, gitRepoVolumeSource, { embeddedAt: 2, pointer: true }),
  glusterfs: struct(9, glusterfsVolumeSource, { embeddedAt: 2, pointer: true }),
  hostPath: struct(1, hostPathVolumeSource, { embeddedAt: 2, pointer: true }),
  image: struct(30, imageVolumeSource, { embeddedAt: 2, pointer: true }),
  iscsi: struct(8, iscsiVolumeSource, { embeddedAt: 2, pointer: true }),
  nfs: struct(7, nfsVolumeSource, { embeddedAt: 2, pointer: true }),
  persistentVolumeClaim: struct(10, persistentVolumeClaimVolumeSource, { embeddedAt: 2, pointer: true }),
  photonPersistentDisk: struct(23, photonPersistentDiskVolumeSource, { embeddedAt: 2, pointer: true }),
  portworxVolume: struct(24, portworxVolumeSource, { embeddedAt: 2, pointer: true }),
  projected: struct(26, projectedVolumeSource, { embeddedAt: 2, pointer: true }),
  quobyte: struct(21, quobyteVolumeSource, { embeddedAt: 2, pointer: true }),
  rbd: struct(11, rbdVolumeSource, { embeddedAt: 2, pointer: true }),
  scaleIO: struct(25, scaleIoVolumeSource, { embeddedAt: 2, pointer: true }),
  secret: struct(6, secretVolumeSource, { embeddedAt: 2, pointer: true }),
  storageos: struct(27, storageOsVolumeSource, { embeddedAt: 2, pointer: true }),
  vsphereVolume: struct(20, vsphereVirtualDiskVolumeSource, { embeddedAt: 2, pointer: true }),
  name: string(1, { required: true }),
})
export interface Volume extends Infer<typeof volume> {}
