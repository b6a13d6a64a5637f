// Sources of a PersistentVolume: required fields and valid values of each.
import { invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { validateDriverName } from '../../../validation/driver-name-rules.ts'
import { dnsLabelErrors } from '../../../validation/names.ts'
import { validateNoBacksteps } from '../../../validation/local-path-rules.ts'
import type { CSIPersistentVolumeSource, PersistentVolumeSpec, SecretReference } from './persistent-volume-spec.ts'
import type { FCVolumeSource, FlockerVolumeSource } from './in-tree-volume-sources.ts'

/** The fields that must not be empty, by source. */
const neededFields = {
  hostPath: ['path'],
  gcePersistentDisk: ['pdName'],
  awsElasticBlockStore: ['volumeID'],
  glusterfs: ['endpoints', 'path'],
  flocker: [],
  nfs: ['server', 'path'],
  rbd: ['monitors', 'image'],
  quobyte: ['registry', 'volume'],
  cephfs: ['monitors'],
  iscsi: ['targetPortal', 'iqn'],
  cinder: ['volumeID'],
  fc: [],
  flexVolume: ['driver'],
  azureFile: ['secretName', 'shareName'],
  vsphereVolume: ['volumePath'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  local: ['path'],
  storageos: ['volumeName'],
  csi: ['volumeHandle'],
} as const satisfies Partial<Record<keyof PersistentVolumeSpec, readonly string[]>>

export type SourceName = keyof typeof neededFields

/** The sources that a volume has, in upstream's order; there should be one. */
export const sourcesOf = (spec: PersistentVolumeSpec): SourceName[] =>
  (Object.keys(neededFields) as SourceName[]).filter((name) => spec[name] !== undefined)

export function validateVolumeSource(spec: PersistentVolumeSpec, name: SourceName, path: string): FieldError[] {
  const source = (spec[name] ?? {}) as Readonly<Record<string, unknown>>
  const errors = neededFields[name]
    .filter((field) => isEmpty(source[field]))
    .map((field) => required(`${path}.${field}`))
  return [...errors, ...validateFields(spec, path)]
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

/** There is exactly one source. */
function validateFields(spec: PersistentVolumeSpec, path: string): FieldError[] {
  const { hostPath, local, nfs, gcePersistentDisk, awsElasticBlockStore, iscsi, glusterfs } = spec
  const partition = gcePersistentDisk?.partition ?? awsElasticBlockStore?.partition ?? 0
  const namespace = glusterfs?.endpointsNamespace
  return [
    ...validateNoBacksteps(hostPath?.path ?? local?.path ?? '', `${path}.path`),
    ...(nfs?.path && !nfs.path.startsWith('/') ? [invalid(`${path}.path`, nfs.path, 'must be an absolute path')] : []),
    ...validateRange(partition, 'must be between 1 and 255, inclusive', `${path}.partition`),
    ...validateRange(iscsi?.lun ?? 0, 'must be between 0 and 255, inclusive', `${path}.lun`),
    ...(namespace === undefined
      ? []
      : dnsLabelErrors(namespace).map((detail) => invalid(`${path}.endpointsNamespace`, namespace, detail))),
    ...(spec.azureFile?.secretNamespace === '' ? [required(`${path}.secretNamespace`)] : []),
    ...(spec.fc === undefined ? [] : validateFibreChannel(spec.fc, path)),
    ...(spec.flocker === undefined ? [] : validateFlocker(spec.flocker, path)),
    ...(spec.csi === undefined ? [] : validateCsi(spec.csi, path)),
    ...(spec.cinder?.secretRef === undefined ? [] : validateSecret(spec.cinder.secretRef, `${path}.secretRef`)),
  ]
}

const validateRange = (value: number, detail: string, path: string): FieldError[] =>
  value < 0 || value > 255 ? [invalid(path, value, detail)] : []

function validateFibreChannel({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, path: string): FieldError[] {
  if (targetWWNs.length === 0 && wwids.length === 0)
    return [required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both')]
  if (targetWWNs.length > 0 && wwids.length > 0)
    return [invalid(`${path}.targetWWNs`, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously')]
  if (targetWWNs.length === 0) return []
  return lun === undefined
    ? [required(`${path}.lun`, 'lun is required if targetWWNs is specified')]
    : validateRange(lun, 'must be between 0 and 255, inclusive', `${path}.lun`)
}

function validateFlocker({ datasetName = '', datasetUUID = '' }: FlockerVolumeSource, path: string): FieldError[] {
  if (datasetName === '' && datasetUUID === '')
    return [required(path, 'one of datasetName and datasetUUID is required')]
  if (datasetName !== '' && datasetUUID !== '')
    return [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
  return datasetName.includes('/') ? [invalid(`${path}.datasetName`, datasetName, "must not contain '/'")] : []
}

const csiSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodeStageSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const

const validateCsi = (source: CSIPersistentVolumeSource, path: string): FieldError[] => [
  ...validateDriverName(source.driver, `${path}.driver`),
  ...csiSecrets.flatMap((field) => {
    const reference = source[field]
    return reference === undefined ? [] : validateSecret(reference, `${path}.${field}`)
  }),
]

const validateSecret = (reference: SecretReference, path: string): FieldError[] =>
  (['name', 'namespace'] as const).filter((field) => !reference[field]).map((field) => required(`${path}.${field}`))
