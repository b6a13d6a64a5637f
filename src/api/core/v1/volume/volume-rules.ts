// Rules of a pod's volumes: a name, exactly one source, and the requirements of each source.
import { duplicate, forbidden, invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { validateDriverName } from '../../../validation/driver-name-rules.ts'
import { dnsLabelErrors } from '../../../validation/names.ts'
import { quantityNanos } from '../../../../schema/scalar/quantity.ts'
import { imagePullPolicyOf } from '../container/image-pull-policy.ts'
import { validateNoBacksteps } from '../../../validation/local-path-rules.ts'
import type { Volumes } from './mount-rules.ts'
import {
  validateConfigMapSource,
  validateDownwardApiSource,
  validateGitRepo,
  validateSecretSource,
} from './file-volume-rules.ts'
import { validateProjected } from './projected-volume-rules.ts'
import { networkSources, validateRequiredFields } from './network-volume-rules.ts'
import { validateClaimSpec } from './persistent-volume-claim-rules.ts'
import type { CSIVolumeSource, EphemeralVolumeSource, HostPathVolumeSource, Volume } from './volume.ts'

/** A volume without a source is an emptyDir; the pull policy of an image volume defaults like that of a container. */
export function withVolumeDefaults(volume: Volume): Volume {
  const { name: _, image, ...others } = volume
  if (image !== undefined)
    return image.pullPolicy === undefined
      ? { ...volume, image: { ...image, pullPolicy: imagePullPolicyOf(image.reference ?? '') } }
      : volume
  return Object.values(others).every((source) => source === undefined) ? { ...volume, emptyDir: {} } : volume
}

export interface VolumesCheck {
  readonly errors: FieldError[]
  /** The valid volumes: only these can be mounted. */
  readonly good: Volumes
}

export function checkVolumes(volumes: readonly Volume[], path: string): VolumesCheck {
  const good = new Map<string, Volume>()
  const errors = volumes.flatMap((volume, index) => {
    const at = `${path}[${index}]`
    const { name } = volume
    const found = validateSource(volume, at)
    if (!name) found.push(required(`${at}.name`))
    else for (const detail of dnsLabelErrors(name)) found.push(invalid(`${at}.name`, name, detail))
    if (good.has(name)) found.push(duplicate(`${at}.name`, name))
    if (found.length === 0) good.set(name, volume)
    return found
  })
  return { errors, good }
}

type SourceName = Exclude<keyof Volume, 'name'>
type SourceRule = (volume: Volume, path: string) => FieldError[]

/** In the order in which upstream checks them: if there are several sources, all but the first are rejected. */
const sourceRules: Readonly<Record<SourceName, SourceRule>> = {
  emptyDir: ({ emptyDir }, path) => {
    const amount = quantityNanos(emptyDir?.sizeLimit ?? '0') ?? 0n
    return amount < 0n ? [forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')] : []
  },
  hostPath: ({ hostPath }, path) => (hostPath ? validateHostPath(hostPath, path) : []),
  gitRepo: ({ gitRepo }, path) => (gitRepo ? validateGitRepo(gitRepo, path) : []),
  gcePersistentDisk: networkSources.gcePersistentDisk,
  awsElasticBlockStore: networkSources.awsElasticBlockStore,
  secret: ({ secret }, path) => (secret ? validateSecretSource(secret, path) : []),
  nfs: networkSources.nfs,
  iscsi: networkSources.iscsi,
  glusterfs: networkSources.glusterfs,
  flocker: networkSources.flocker,
  persistentVolumeClaim: ({ persistentVolumeClaim }, path) =>
    validateRequiredFields(persistentVolumeClaim, ['claimName'], path),
  rbd: networkSources.rbd,
  cinder: networkSources.cinder,
  cephfs: networkSources.cephfs,
  quobyte: networkSources.quobyte,
  downwardAPI: ({ downwardAPI }, path) => (downwardAPI ? validateDownwardApiSource(downwardAPI, path) : []),
  fc: networkSources.fc,
  flexVolume: networkSources.flexVolume,
  configMap: ({ configMap }, path) => (configMap ? validateConfigMapSource(configMap, path) : []),
  azureFile: networkSources.azureFile,
  vsphereVolume: networkSources.vsphereVolume,
  photonPersistentDisk: networkSources.photonPersistentDisk,
  portworxVolume: networkSources.portworxVolume,
  azureDisk: networkSources.azureDisk,
  storageos: networkSources.storageos,
  projected: ({ projected }, path) => (projected ? validateProjected(projected, path) : []),
  scaleIO: networkSources.scaleIO,
  csi: ({ csi }, path) => (csi ? validateCsi(csi, path) : []),
  ephemeral: ({ ephemeral }, path) => (ephemeral ? validateEphemeral(ephemeral, path) : []),
  image: ({ image }, path) => validateRequiredFields(image, ['reference'], path),
}

const sourceNames = Object.keys(sourceRules) as SourceName[]

function validateSource(volume: Volume, path: string): FieldError[] {
  const [first, ...others] = sourceNames.filter((name) => volume[name] !== undefined)
  if (first === undefined) return [required(path, 'must specify a volume type')]
  return [
    ...sourceRules[first](volume, `${path}.${first}`),
    ...others.map((other) => forbidden(`${path}.${other}`, 'may not specify more than 1 volume type')),
  ]
}

const validateHostPath = ({ path: directory }: HostPathVolumeSource, path: string): FieldError[] =>
  directory ? validateNoBacksteps(directory, `${path}.path`) : [required(`${path}.path`)]

const validateCsi = ({ driver, nodePublishSecretRef }: CSIVolumeSource, path: string): FieldError[] => [
  ...validateDriverName(driver, `${path}.driver`),
  ...validateRequiredFields(nodePublishSecretRef, ['name'], `${path}.nodePublishSecretRef`),
]

function validateEphemeral({ volumeClaimTemplate: template }: EphemeralVolumeSource, path: string): FieldError[] {
  const at = `${path}.volumeClaimTemplate`
  return template === undefined ? [required(at)] : validateClaimSpec(template.spec, `${at}.spec`)
}
