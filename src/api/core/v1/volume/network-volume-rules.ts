// Rules of network volumes: disks and file systems that are accessed over a network.
import { append } from '../../../../base/collections/append.ts'
import { invalid, notSupported, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { dnsLabelErrors } from '../../../validation/names.ts'
import type { AzureDiskVolumeSource, FCVolumeSource, ISCSIVolumeSource } from './in-tree-volume-sources.ts'
import type { Volume } from './volume.ts'

type Rule = (volume: Volume, path: string) => FieldError[]

const partitionMax = 255
const lunMax = 255

/** Names of required non-empty fields, checked in this order. */
export const validateRequiredFields = <Source extends object>(
  source: Source | undefined,
  names: readonly (keyof Source & string)[],
  path: string,
): FieldError[] =>
  source === undefined
    ? []
    : names
        .filter((name) => {
          const value: unknown = source[name]
          return value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
        })
        .map((name) => required(`${path}.${name}`))

const validatePartition = (partition: number | undefined, path: string): FieldError[] =>
  partition !== undefined && (partition < 0 || partition > partitionMax)
    ? [invalid(`${path}.partition`, partition, `must be between 1 and ${partitionMax}, inclusive`)]
    : []

const validateLun = (lun: number, path: string): FieldError[] =>
  lun < 0 || lun > lunMax ? [invalid(`${path}.lun`, lun, `must be between 0 and ${lunMax}, inclusive`)] : []

export const networkSources = {
  gcePersistentDisk: ({ gcePersistentDisk: source }, path) => [
    ...validateRequiredFields(source, ['pdName'], path),
    ...validatePartition(source?.partition, path),
  ],
  awsElasticBlockStore: ({ awsElasticBlockStore: source }, path) => [
    ...validateRequiredFields(source, ['volumeID'], path),
    ...validatePartition(source?.partition, path),
  ],
  nfs: ({ nfs }, path) => [
    ...validateRequiredFields(nfs, ['server', 'path'], path),
    ...(nfs?.path && !nfs.path.startsWith('/') ? [invalid(`${path}.path`, nfs.path, 'must be an absolute path')] : []),
  ],
  iscsi: ({ iscsi }, path) => (iscsi ? validateIscsi(iscsi, path) : []),
  glusterfs: ({ glusterfs }, path) => validateRequiredFields(glusterfs, ['endpoints', 'path'], path),
  flocker: ({ flocker }, path) => validateFlocker(flocker?.datasetName, flocker?.datasetUUID, path),
  rbd: ({ rbd }, path) => validateRequiredFields(rbd, ['monitors', 'image'], path),
  cinder: ({ cinder }, path) => [
    ...validateRequiredFields(cinder, ['volumeID'], path),
    ...validateRequiredFields(cinder?.secretRef, ['name'], `${path}.secretRef`),
  ],
  cephfs: ({ cephfs }, path) => validateRequiredFields(cephfs, ['monitors'], path),
  quobyte: ({ quobyte }, path) => validateRequiredFields(quobyte, ['registry', 'volume'], path),
  fc: ({ fc }, path) => (fc ? validateFc(fc, path) : []),
  flexVolume: ({ flexVolume }, path) => [
    ...validateRequiredFields(flexVolume, ['driver'], path),
    ...Object.keys(flexVolume?.options ?? {})
      .filter((name) => /^([^/]*\.)?(kubernetes|k8s)\.io\//.test(name))
      .map((name) => invalid(`${path}.options[${name}]`, name, 'kubernetes.io and k8s.io namespaces are reserved')),
  ],
  azureFile: ({ azureFile }, path) => validateRequiredFields(azureFile, ['secretName', 'shareName'], path),
  vsphereVolume: ({ vsphereVolume }, path) => validateRequiredFields(vsphereVolume, ['volumePath'], path),
  photonPersistentDisk: ({ photonPersistentDisk }, path) =>
    validateRequiredFields(photonPersistentDisk, ['pdID'], path),
  portworxVolume: ({ portworxVolume }, path) => validateRequiredFields(portworxVolume, ['volumeID'], path),
  azureDisk: ({ azureDisk }, path) => (azureDisk ? validateAzureDisk(azureDisk, path) : []),
  storageos: ({ storageos }, path) => [
    ...validateRequiredFields(storageos, ['volumeName'], path),
    ...(['volumeName', 'volumeNamespace'] as const).flatMap((name) => {
      const value = storageos?.[name]
      return value ? dnsLabelErrors(value).map((detail) => invalid(`${path}.${name}`, value, detail)) : []
    }),
    ...validateRequiredFields(storageos?.secretRef, ['name'], `${path}.secretRef`),
  ],
  scaleIO: ({ scaleIO }, path) => validateRequiredFields(scaleIO, ['gateway', 'system', 'volumeName'], path),
} satisfies Record<string, Rule>

const initiatorNames = {
  iqn: isQualifiedName,
  eui: (name: string) => /^eui.[a-zA-Z0-9]{16}$/.test(name),
  naa: (name: string) => /^naa.[a-zA-Z0-9]{32}$/.test(name),
}

const isInitiatorName = (name: string): boolean =>
  Object.entries(initiatorNames).some(([prefix, isName]) => name.startsWith(prefix) && isName(name))

/** `iqn.2001-04.com.example:disk` at any position. The domain is followed by a `:` and plain characters up to the end. */
function isQualifiedName(name: string): boolean {
  const plainStart = name.length - (name.split(/[,;*&$|\s]/).at(-1)?.length ?? 0)
  for (const { index, 0: found } of name.matchAll(/iqn\.\d{4}-\d{2}\.[a-zA-Z0-9.-]+/g)) {
    const colon = index + found.length
    if (name[colon] === ':' && colon >= plainStart && colon + 1 < name.length) return true
  }
  return false
}

function validateIscsi(source: Partial<ISCSIVolumeSource>, path: string): FieldError[] {
  const { iqn, lun = 0, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName } = source
  const errors = validateRequiredFields(source, ['targetPortal', 'iqn'], path)
  if (iqn && !Object.keys(initiatorNames).some((prefix) => iqn.startsWith(prefix)))
    errors.push(invalid(`${path}.iqn`, iqn, 'must be valid format starting with iqn, eui, or naa'))
  else if (iqn && !isInitiatorName(iqn)) errors.push(invalid(`${path}.iqn`, iqn, 'must be valid format'))
  append(errors, validateLun(lun, path))
  if ((chapAuthDiscovery || chapAuthSession) && secretRef === undefined) errors.push(required(`${path}.secretRef`))
  if (initiatorName !== undefined && !isInitiatorName(initiatorName))
    errors.push(invalid(`${path}.initiatorname`, initiatorName, 'must be valid format'))
  return errors
}

function validateFlocker(name: string | undefined, uuid: string | undefined, path: string): FieldError[] {
  if (!name && !uuid) return [required(path, 'one of datasetName and datasetUUID is required')]
  const errors =
    name && uuid ? [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')] : []
  if (name?.includes('/')) errors.push(invalid(`${path}.datasetName`, name, "must not contain '/'"))
  return errors
}

function validateFc({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, path: string): FieldError[] {
  const errors: FieldError[] = []
  const at = `${path}.targetWWNs`
  if (targetWWNs.length === 0 && wwids.length === 0)
    errors.push(required(at, 'must specify either targetWWNs or wwids, but not both'))
  if (targetWWNs.length > 0 && wwids.length > 0)
    errors.push(invalid(at, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously'))
  if (targetWWNs.length === 0) return errors
  return lun === undefined
    ? [...errors, required(`${path}.lun`, 'lun is required if targetWWNs is specified')]
    : [...errors, ...validateLun(lun, path)]
}

const managedDisk = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
const blobDisk = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'

function validateAzureDisk(source: Partial<AzureDiskVolumeSource>, path: string): FieldError[] {
  const { kind, diskURI = '' } = source
  const errors = validateRequiredFields(source, ['diskName', 'diskURI'], path)
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions'))
    errors.push(notSupported(`${path}.diskURI`, diskURI, [managedDisk]))
  if (kind !== 'Managed' && !diskURI.startsWith('https://'))
    errors.push(notSupported(`${path}.diskURI`, diskURI, [blobDisk]))
  return errors
}
