// Rules of projected volumes: several sources in one directory without conflicting files.
import { append } from '../../../../base/collections/append.ts'
import { forbidden, invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { validateLabelSelector } from '../../../validation/label-selector-rules.ts'
import { validateDownwardFile, validateFileMode, validateKeysToPaths } from './file-volume-rules.ts'
import { validateFilePath } from '../../../validation/local-path-rules.ts'
import type {
  ClusterTrustBundleProjection,
  PodCertificateProjection,
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from './file-volume-sources.ts'

const tokenSecondsMin = 10 * 60
const tokenSecondsMax = 2 ** 32
const sourceNames = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
] as const

export function validateProjected({ defaultMode, sources }: ProjectedVolumeSource, path: string): FieldError[] {
  const taken = new Set<string>()
  return [
    ...validateFileMode(defaultMode, `${path}.defaultMode`),
    ...(sources ?? []).flatMap((source, index) => [
      ...validateProjection(source, path, `${path}.sources[${index}]`),
      ...validateCollisions(source, taken, path),
    ]),
  ]
}

// Upstream names most fields of a source as if they were fields of the volume itself.
function validateProjection(source: VolumeProjection, path: string, at: string): FieldError[] {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source
  const [, ...others] = sourceNames.filter((name) => source[name] !== undefined)
  const errors: FieldError[] = []
  for (const named of [secret, configMap]) {
    if (named === undefined) continue
    if (!named.name) errors.push(required(`${path}.name`))
    append(errors, validateKeysToPaths(named.items ?? [], `${path}.items`))
  }
  for (const file of downwardAPI?.items ?? []) append(errors, validateDownwardFile(file, `${path}.downwardAPI`))
  if (serviceAccountToken !== undefined)
    append(errors, validateToken(serviceAccountToken, path, `${at}.serviceAccountToken`))
  if (clusterTrustBundle !== undefined)
    append(errors, validateTrustBundle(clusterTrustBundle, `${at}.clusterTrustBundle`))
  if (podCertificate !== undefined) append(errors, validateCertificate(podCertificate, `${at}.podCertificate`))
  return [
    ...errors,
    ...others.map((name) => forbidden(`${at}.${name}`, 'may not specify more than 1 volume type per source')),
  ]
}

const validateToken = (
  { expirationSeconds: seconds, path: file }: ServiceAccountTokenProjection,
  path: string,
  at: string,
): FieldError[] => [
  ...(seconds < tokenSecondsMin
    ? [invalid(`${at}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes')]
    : []),
  ...(seconds > tokenSecondsMax
    ? [invalid(`${at}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds')]
    : []),
  ...(file ? validateFilePath(file, `${path}.path`) : [required(`${path}.path`)]),
]

function validateTrustBundle(bundle: ClusterTrustBundleProjection, path: string): FieldError[] {
  const { name, signerName, labelSelector, path: file } = bundle
  const errors: FieldError[] = []
  if (name !== undefined && signerName !== undefined)
    errors.push(invalid(path, bundle, 'only one of name and signerName may be used'))
  else if (name === undefined && signerName === undefined)
    errors.push(required(path, 'either name or signerName must be specified'))
  if (name === '') errors.push(required(`${path}.name`, 'must be a valid object name'))
  if (name !== undefined && labelSelector !== undefined)
    errors.push(invalid(`${path}.labelSelector`, labelSelector, 'labelSelector must be unset if name is specified'))
  if (signerName === '') errors.push(required(`${path}.signerName`, 'must be a valid signer name'))
  if (name === undefined && labelSelector !== undefined)
    append(errors, validateLabelSelector(labelSelector, `${path}.labelSelector`))
  return [...errors, ...(file ? validateFilePath(file, `${path}.path`) : [required(`${path}.path`)])]
}

const validateCertificate = (certificate: PodCertificateProjection, path: string): FieldError[] => [
  ...(certificate.signerName ? [] : [required(`${path}.signerName`)]),
  ...(certificate.keyType ? [] : [required(`${path}.keyType`)]),
  ...(['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const).flatMap((name) =>
    validateFilePath(certificate[name] ?? '', `${path}.${name}`),
  ),
]

function validateCollisions(source: VolumeProjection, taken: Set<string>, path: string): FieldError[] {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source
  const files: [file: string | undefined, shown: string | undefined][] = [
    ...(secret?.items ?? []).map(({ path: file }): [string, string | undefined] => [file, secret?.name]),
    ...(configMap?.items ?? []).map(({ path: file }): [string, string | undefined] => [file, configMap?.name]),
    ...[
      ...(downwardAPI?.items ?? []).map(({ path: file }) => file),
      serviceAccountToken?.path,
      clusterTrustBundle?.path,
      podCertificate?.credentialBundlePath,
      podCertificate?.keyPath,
      podCertificate?.certificateChainPath,
    ].map((file): [string | undefined, string | undefined] => [file, file]),
  ]
  return files.flatMap(([file, shown]) => {
    if (!file) return []
    if (taken.has(file)) return [invalid(path, shown, 'conflicting duplicate paths')]
    taken.add(file)
    return []
  })
}
