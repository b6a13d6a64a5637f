// The rules for responses of a KMS plugin and for stored values, as pure functions. Each returns the error, or
// undefined. Sizes and messages are upstream's.
import { dnsLabelErrors, dnsSubdomainErrors } from '../../../api/validation/names.ts'
import { dekSourceTypes, type EncryptedObject, type KmsStatus, type WrappedKey } from './kms-messages.ts'

export const keyIdBytesMax = 1024
export const encryptedDekSourceBytesMax = 1024
export const annotationsBytesMax = 32 * 1024

const versions: readonly string[] = ['v2', 'v2beta1']
const encoder = new TextEncoder()

export function keyIdProblem(keyId: string): string | undefined {
  const { length } = encoder.encode(keyId)
  if (length === 0) return 'keyID is empty'
  return length > keyIdBytesMax ? `keyID is ${length} bytes, which exceeds the max size of ${keyIdBytesMax}` : undefined
}

/** Values from the plugin are quoted and truncated, because they are logged. */
export function statusProblem({ version, healthz, keyId }: KmsStatus): string | undefined {
  if (healthz !== 'ok') return `got unexpected healthz status: ${quoted(healthz)}`
  if (!versions.includes(version)) return `expected KMSv2 API version v2, got ${quoted(version)}`
  return keyIdProblem(keyId)
}

const quotedCharsMax = 100
const quoted = (text: string): string => JSON.stringify(text.slice(0, quotedCharsMax))

export function wrappedKeyProblem(key: WrappedKey): string | undefined {
  const { length } = key.encryptedDekSource
  if (length === 0) return 'encrypted DEK source is empty'
  if (length > encryptedDekSourceBytesMax)
    return `encrypted DEK source is ${length} bytes, which exceeds the max size of ${encryptedDekSourceBytesMax}`
  return keyIdProblem(key.keyId) ?? annotationsProblem(key.annotations) ?? sourceTypeProblem(key)
}

function sourceTypeProblem({ encryptedDekSourceType: type }: WrappedKey): string | undefined {
  const isKnown = Object.values<number>(dekSourceTypes).includes(type)
  return isKnown ? undefined : `unknown encryptedDEKSourceType: ${type}`
}

/** At least two labels; a dot at the end is allowed. */
function isFullyQualified(name: string): boolean {
  const domain = name.endsWith('.') ? name.slice(0, -1) : name
  const labels = domain.split('.')
  return (
    labels.length >= 2 &&
    dnsSubdomainErrors(domain).length === 0 &&
    labels.every((label) => dnsLabelErrors(label).length === 0)
  )
}

function annotationsProblem(annotations: WrappedKey['annotations']): string | undefined {
  let bytes = 0
  for (const [name, value] of Object.entries(annotations)) {
    if (!isFullyQualified(name)) return `annotations: key ${quoted(name)} is not a fully qualified domain name`
    bytes += name.length + value.length
  }
  return bytes > annotationsBytesMax
    ? `total size of annotations is ${bytes}, which exceeds the max size of ${annotationsBytesMax}`
    : undefined
}

export const encryptedObjectProblem = (object: EncryptedObject): string | undefined =>
  object.encryptedData.length === 0 ? 'encrypted data is empty' : wrappedKeyProblem(object)
