// Volume sources whose files are made from ConfigMaps, Secrets, fields of the pod, tokens and certificates.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { bool, int32, int64, list, map, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { labelSelector } from '../../../meta/v1/label-selector.ts'
import { objectFieldSelector, resourceFieldSelector } from '../container/env-var.ts'

export const keyToPath = message('io.k8s.api.core.v1.KeyToPath', {
  key: string(1, { required: true, description: 'The key.' }),
  path: string(2, {
    required: true,
    description: 'The path of its file in the volume, relative and without dots (..).',
  }),
  mode: int32(3, { pointer: true, description: 'The permission bits of the file; those of the volume by default.' }),
})
export interface KeyToPath extends Infer<typeof keyToPath> {}

export const configMapVolumeSource = message('io.k8s.api.core.v1.ConfigMapVolumeSource', {
  name: string(1, { embeddedAt: 1, description: 'The name of the ConfigMap in the namespace of the pod.' }),
  items: list(2, keyToPath, {
    listType: 'atomic',
    description: 'Which keys become files, and where. Without it, every key of the ConfigMap becomes a file.',
  }),
  defaultMode: int32(3, {
    pointer: true,
    default: 420,
    description: 'The permission bits of files without their own mode, such as 0644 (the default) or 420 in decimal.',
  }),
  optional: bool(4, {
    pointer: true,
    description: 'Whether the pod may start although the ConfigMap or a key does not exist; false by default.',
  }),
})
export interface ConfigMapVolumeSource extends Infer<typeof configMapVolumeSource> {}

export const configMapProjection = message('io.k8s.api.core.v1.ConfigMapProjection', {
  name: string(1, { embeddedAt: 1, description: 'The name of the ConfigMap in the namespace of the pod.' }),
  items: list(2, keyToPath, {
    listType: 'atomic',
    description: 'Which keys become files, and where. Without it, every key of the ConfigMap becomes a file.',
  }),
  optional: bool(4, {
    pointer: true,
    description: 'Whether the pod may start although the ConfigMap or a key does not exist; false by default.',
  }),
})
export interface ConfigMapProjection extends Infer<typeof configMapProjection> {}

export const downwardApiVolumeFile = message('io.k8s.api.core.v1.DownwardAPIVolumeFile', {
  path: string(1, {
    required: true,
    description: 'The path of the file in the volume, relative and without dots (..).',
  }),
  fieldRef: struct(2, objectFieldSelector, {
    pointer: true,
    description: 'A field of the pod: its name, namespace, uid, labels or annotations.',
  }),
  resourceFieldRef: struct(3, resourceFieldSelector, {
    pointer: true,
    description: 'A resource that a container requests or is limited to.',
  }),
  mode: int32(4, { pointer: true, description: 'The permission bits of the file; those of the volume by default.' }),
})
export interface DownwardAPIVolumeFile extends Infer<typeof downwardApiVolumeFile> {}

export const downwardApiVolumeSource = message('io.k8s.api.core.v1.DownwardAPIVolumeSource', {
  items: list(1, downwardApiVolumeFile, {
    listType: 'atomic',
    description: 'The files and the fields that they contain.',
  }),
  defaultMode: int32(2, {
    pointer: true,
    default: 420,
    description: 'The permission bits of files without their own mode, such as 0644 (the default) or 420 in decimal.',
  }),
})
export interface DownwardAPIVolumeSource extends Infer<typeof downwardApiVolumeSource> {}

export const downwardApiProjection = message('io.k8s.api.core.v1.DownwardAPIProjection', {
  items: list(1, downwardApiVolumeFile, {
    listType: 'atomic',
    description: 'The files and the fields that they contain.',
  }),
})
export interface DownwardAPIProjection extends Infer<typeof downwardApiProjection> {}

export const clusterTrustBundleProjection = message('io.k8s.api.core.v1.ClusterTrustBundleProjection', {
  name: string(1, { pointer: true, description: 'The name of one ClusterTrustBundle.' }),
  signerName: string(2, {
    pointer: true,
    description: 'The signer whose ClusterTrustBundles are selected, instead of a name.',
  }),
  labelSelector: struct(3, labelSelector, {
    pointer: true,
    description: 'The labels of the selected ClusterTrustBundles. Without it none is selected.',
  }),
  path: string(4, { required: true, description: 'The path of the file in the volume.' }),
  optional: bool(5, {
    pointer: true,
    description: 'Whether the pod may start although the ClusterTrustBundle does not exist; false by default.',
  }),
})
export interface ClusterTrustBundleProjection extends Infer<typeof clusterTrustBundleProjection> {}

export const podCertificateProjection = message('io.k8s.api.core.v1.PodCertificateProjection', {
  signerName: string(1, { required: true, omitEmpty: true, description: 'The signer that issues the certificate.' }),
  keyType: string(2, {
    required: true,
    omitEmpty: true,
    description: 'The kind of the private key: RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519.',
  }),
  maxExpirationSeconds: int32(3, {
    pointer: true,
    description: 'The longest validity of the certificate, in seconds: from 3600 to 7862400, 86400 by default.',
  }),
  credentialBundlePath: string(4, { description: 'The path of a file with the key and the certificate chain.' }),
  keyPath: string(5, { description: 'The path of a file with the key.' }),
  certificateChainPath: string(6, { description: 'The path of a file with the certificate chain.' }),
  userAnnotations: map(7, 'string', { description: 'Further information for the signer.' }),
})
export interface PodCertificateProjection extends Infer<typeof podCertificateProjection> {}

export const secretProjection = message('io.k8s.api.core.v1.SecretProjection', {
  name: string(1, { embeddedAt: 1, description: 'The name of the Secret in the namespace of the pod.' }),
  items: list(2, keyToPath, {
    listType: 'atomic',
    description: 'Which keys become files, and where. Without it, every key of the Secret becomes a file.',
  }),
  optional: bool(4, {
    pointer: true,
    description: 'Whether the pod may start although the Secret or a key does not exist; false by default.',
  }),
})
export interface SecretProjection extends Infer<typeof secretProjection> {}

export const serviceAccountTokenProjection = message('io.k8s.api.core.v1.ServiceAccountTokenProjection', {
  audience: string(1, { description: 'Whom the token is for; the API server by default.' }),
  expirationSeconds: int64(2, {
    pointer: true,
    default: 3600,
    fitsDouble: true,
    description: 'How long the token is valid, in seconds: at least 600, 3600 by default.',
  }),
  path: string(3, { required: true, description: 'The path of the file in the volume.' }),
})
export interface ServiceAccountTokenProjection extends Infer<typeof serviceAccountTokenProjection> {}

export const volumeProjection = message('io.k8s.api.core.v1.VolumeProjection', {
  secret: struct(1, secretProjection, { pointer: true, description: 'The keys of a Secret.' }),
  downwardAPI: struct(2, downwardApiProjection, { pointer: true, description: 'Fields of the pod.' }),
  configMap: struct(3, configMapProjection, { pointer: true, description: 'The keys of a ConfigMap.' }),
  serviceAccountToken: struct(4, serviceAccountTokenProjection, {
    pointer: true,
    description: 'A token of the ServiceAccount of the pod, which is renewed before it expires.',
  }),
  clusterTrustBundle: struct(5, clusterTrustBundleProjection, {
    pointer: true,
    description: 'The certificates of ClusterTrustBundles.',
  }),
  podCertificate: struct(6, podCertificateProjection, {
    pointer: true,
    description: 'A private key and a certificate for the pod, which is renewed before it expires.',
  }),
})
export interface VolumeProjection extends Infer<typeof volumeProjection> {}

export const projectedVolumeSource = message('io.k8s.api.core.v1.ProjectedVolumeSource', {
  sources: list(1, volumeProjection, {
    listType: 'atomic',
    keepEmpty: true,
    description: 'What is in the directory. No two sources may have the same path.',
  }),
  defaultMode: int32(2, {
    pointer: true,
    default: 420,
    description: 'The permission bits of files without their own mode, such as 0644 (the default) or 420 in decimal.',
  }),
})
export interface ProjectedVolumeSource extends Infer<typeof projectedVolumeSource> {}

export const secretVolumeSource = message('io.k8s.api.core.v1.SecretVolumeSource', {
  secretName: string(1, { description: 'The name of the Secret in the namespace of the pod.' }),
  items: list(2, keyToPath, {
    listType: 'atomic',
    description: 'Which keys become files, and where. Without it, every key of the Secret becomes a file.',
  }),
  defaultMode: int32(3, {
    pointer: true,
    default: 420,
    description: 'The permission bits of files without their own mode, such as 0644 (the default) or 420 in decimal.',
  }),
  optional: bool(4, {
    pointer: true,
    description: 'Whether the pod may start although the Secret or a key does not exist; false by default.',
  }),
})
export interface SecretVolumeSource extends Infer<typeof secretVolumeSource> {}
