// Volumes of a pod and their sources.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { bool, list, map, message, quantity, string, struct } from '../../../../schema/descriptor/field.ts'
import { labelSelector } from '../../../meta/v1/label-selector.ts'
import { objectMeta } from '../../../meta/v1/object-meta.ts'
import { localObjectReference, typedLocalObjectReference, typedObjectReference } from '../references.ts'
import { volumeResourceRequirements } from '../resources/resource-requirements.ts'
import {
  configMapVolumeSource,
  downwardApiVolumeSource,
  projectedVolumeSource,
  secretVolumeSource,
} from './file-volume-sources.ts'
import {
  awsElasticBlockStoreVolumeSource,
  azureDiskVolumeSource,
  azureFileVolumeSource,
  cephFsVolumeSource,
  cinderVolumeSource,
  fcVolumeSource,
  flexVolumeSource,
  flockerVolumeSource,
  gcePersistentDiskVolumeSource,
  gitRepoVolumeSource,
  glusterfsVolumeSource,
  iscsiVolumeSource,
  photonPersistentDiskVolumeSource,
  portworxVolumeSource,
  quobyteVolumeSource,
  rbdVolumeSource,
  scaleIoVolumeSource,
  storageOsVolumeSource,
  vsphereVirtualDiskVolumeSource,
} from './in-tree-volume-sources.ts'

export const csiVolumeSource = message('io.k8s.api.core.v1.CSIVolumeSource', {
  driver: string(1, { required: true, description: 'The name of the CSI driver.' }),
  readOnly: bool(2, { pointer: true, description: 'Whether the volume is mounted read-only; false by default.' }),
  fsType: string(3, {
    pointer: true,
    description: 'The type of the file system, such as ext4; the driver chooses one when it is empty.',
  }),
  volumeAttributes: map(4, 'string', { description: 'Parameters for the driver.' }),
  nodePublishSecretRef: struct(5, localObjectReference, {
    pointer: true,
    description: 'The Secret that the driver gets when it mounts the volume.',
  }),
})
export interface CSIVolumeSource extends Infer<typeof csiVolumeSource> {}

export const emptyDirVolumeSource = message('io.k8s.api.core.v1.EmptyDirVolumeSource', {
  medium: string(1, { description: 'Where it is stored: the disk of the node (the default), Memory, or HugePages.' }),
  sizeLimit: quantity(2, {
    pointer: true,
    description:
      'The largest size, as a quantity such as 1Gi. A pod that exceeds it is evicted. Without it there is no limit.',
  }),
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
    description: 'Filesystem (the default): the volume is mounted; Block: it is provided as a block device.',
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
  metadata: struct(1, objectMeta, { description: 'Labels and annotations of the claim.' }),
  spec: struct(2, persistentVolumeClaimSpec, {
    required: true,
    description: 'The wanted volume, as in a PersistentVolumeClaim.',
  }),
})
export interface PersistentVolumeClaimTemplate extends Infer<typeof persistentVolumeClaimTemplate> {}

export const ephemeralVolumeSource = message('io.k8s.api.core.v1.EphemeralVolumeSource', {
  volumeClaimTemplate: struct(1, persistentVolumeClaimTemplate, {
    pointer: true,
    description: 'The claim that is created with the pod, with the name of the pod and of the volume.',
  }),
})
export interface EphemeralVolumeSource extends Infer<typeof ephemeralVolumeSource> {}

export const hostPathVolumeSource = message('io.k8s.api.core.v1.HostPathVolumeSource', {
  path: string(1, { required: true, description: 'The path on the node.' }),
  type: string(2, {
    pointer: true,
    default: '',
    enum: ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
    description:
      'What must exist there, or is created: DirectoryOrCreate, Directory, FileOrCreate, File, Socket, CharDevice or BlockDevice. Empty, the default, checks nothing.',
  }),
})
export interface HostPathVolumeSource extends Infer<typeof hostPathVolumeSource> {}

export const imageVolumeSource = message('io.k8s.api.core.v1.ImageVolumeSource', {
  reference: string(1, { description: 'The image or artifact, as in the image of a container.' }),
  pullPolicy: string(2, {
    enum: ['Always', 'IfNotPresent', 'Never'],
    description:
      'When it is pulled: Always, IfNotPresent or Never. The default is Always for the tag latest, and IfNotPresent otherwise.',
  }),
})
export interface ImageVolumeSource extends Infer<typeof imageVolumeSource> {}

export const nfsVolumeSource = message('io.k8s.api.core.v1.NFSVolumeSource', {
  server: string(1, { required: true, description: 'The name or the address of the server.' }),
  path: string(2, { required: true, description: 'The exported directory.' }),
  readOnly: bool(3, { description: 'Whether the directory is mounted read-only; false by default.' }),
})
export interface NFSVolumeSource extends Infer<typeof nfsVolumeSource> {}

export const persistentVolumeClaimVolumeSource = message('io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource', {
  claimName: string(1, { required: true, description: 'The name of the claim in the namespace of the pod.' }),
  readOnly: bool(2, { description: 'Whether the volume is mounted read-only; false by default.' }),
})
export interface PersistentVolumeClaimVolumeSource extends Infer<typeof persistentVolumeClaimVolumeSource> {}

export const volume = message('io.k8s.api.core.v1.Volume', {
  awsElasticBlockStore: struct(4, awsElasticBlockStoreVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'An AWS EBS disk. Its CSI driver ebs.csi.aws.com serves it.',
  }),
  azureDisk: struct(22, azureDiskVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'An Azure disk. Its CSI driver disk.csi.azure.com serves it.',
  }),
  azureFile: struct(18, azureFileVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'An Azure file share. Its CSI driver file.csi.azure.com serves it.',
  }),
  cephfs: struct(14, cephFsVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A Ceph file system. It is no longer supported.',
  }),
  cinder: struct(13, cinderVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'An OpenStack Cinder volume. Its CSI driver cinder.csi.openstack.org serves it.',
  }),
  configMap: struct(19, configMapVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'The keys of a ConfigMap as files.',
  }),
  csi: struct(28, csiVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'An ephemeral volume of a CSI driver.',
  }),
  downwardAPI: struct(16, downwardApiVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'Fields of the pod as files.',
  }),
  emptyDir: struct(2, emptyDirVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A directory that is empty at first and exists as long as the pod is on its node.',
  }),
  ephemeral: struct(29, ephemeralVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A volume for which a claim is created with the pod and deleted with it.',
  }),
  fc: struct(17, fcVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A Fibre Channel disk that is attached to the node.',
  }),
  flexVolume: struct(12, flexVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A volume of a FlexVolume driver; CSI replaces it.',
  }),
  flocker: struct(15, flockerVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A Flocker dataset. It is no longer supported.',
  }),
  gcePersistentDisk: struct(3, gcePersistentDiskVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A Google Compute Engine disk. Its CSI driver pd.csi.storage.gke.io serves it.',
  }),
  gitRepo: struct(5, gitRepoVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A clone of a git repository. It is disabled; use an init container and an emptyDir.',
  }),
  glusterfs: struct(9, glusterfsVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A Glusterfs volume. It is no longer supported.',
  }),
  hostPath: struct(1, hostPathVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A file or a directory of the node. It gives the pod access to the node.',
  }),
  image: struct(30, imageVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'The content of an OCI image or artifact, read-only.',
  }),
  iscsi: struct(8, iscsiVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'An iSCSI disk that is attached to the node.',
  }),
  nfs: struct(7, nfsVolumeSource, { embeddedAt: 2, pointer: true, description: 'A directory of an NFS server.' }),
  persistentVolumeClaim: struct(10, persistentVolumeClaimVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'The volume of a PersistentVolumeClaim of the same namespace.',
  }),
  photonPersistentDisk: struct(23, photonPersistentDiskVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A Photon Controller disk. It is no longer supported.',
  }),
  portworxVolume: struct(24, portworxVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A Portworx volume. Its CSI driver pxd.portworx.com serves it.',
  }),
  projected: struct(26, projectedVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'Secrets, ConfigMaps, fields of the pod and tokens in one directory.',
  }),
  quobyte: struct(21, quobyteVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A Quobyte volume. It is no longer supported.',
  }),
  rbd: struct(11, rbdVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A Ceph block device. It is no longer supported.',
  }),
  scaleIO: struct(25, scaleIoVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A ScaleIO volume. It is no longer supported.',
  }),
  secret: struct(6, secretVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'The keys of a Secret as files.',
  }),
  storageos: struct(27, storageOsVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A StorageOS volume. It is no longer supported.',
  }),
  vsphereVolume: struct(20, vsphereVirtualDiskVolumeSource, {
    embeddedAt: 2,
    pointer: true,
    description: 'A vSphere disk. Its CSI driver csi.vsphere.vmware.com serves it.',
  }),
  name: string(1, {
    required: true,
    description: 'The name by which volumeMounts refer to the volume, unique in the pod.',
  }),
})
export interface Volume extends Infer<typeof volume> {}
