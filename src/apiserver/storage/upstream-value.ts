// readableValue: stored values as JSON of the version that this server stores, also those that kube-apiserver has written: built-in kinds
// in protobuf, and definitions of custom resources as v1beta1. An update stores what this server writes, which kube-apiserver reads.
import { errorText } from '../../base/observability/log.ts'
import { kinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { parseJson } from '../../schema/json/exact-json.ts'
import { decodeEnvelope, decodeProtobuf } from '../../schema/protobuf/protobuf-decode.ts'
import { ValueUnreadable } from '../../store/store.ts'
import { definitionFromBeta } from './beta-definition.ts'
import { storedBytes } from './stored-json.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const protobufStart = encoder.encode('k8s\0')
/** As upstream's encoder begins, which writes kind and apiVersion first. */
const betaDefinitionStart = encoder.encode(
  '{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1"',
)

/**
 * Earlier versions with the same fields and numbers as v1. Kubernetes v1.36 stores the policies in them, v1.33 and v1.34 others, so that
 * the release before can read them.
 */
const sameAsV1: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicy',
  'admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicyBinding',
  'networking.k8s.io/v1beta1 IPAddress',
  'networking.k8s.io/v1beta1 ServiceCIDR',
  'resource.k8s.io/v1beta2 DeviceClass',
  'resource.k8s.io/v1beta2 ResourceClaim',
  'resource.k8s.io/v1beta2 ResourceClaimTemplate',
  'resource.k8s.io/v1beta2 ResourceSlice',
  'storage.k8s.io/v1beta1 VolumeAttributesClass',
])

/** The same bytes unless only upstream writes such. Throws ValueUnreadable for a version that is not known, and for a damaged value. */
export function readableValue(key: string, value: Uint8Array): Uint8Array {
  if (startsWith(value, protobufStart)) return converted(key, () => fromProtobuf(key, value))
  if (startsWith(value, betaDefinitionStart))
    return converted(key, () => definitionFromBeta(parseJson(decoder.decode(value)) as ApiObject))
  return value
}

function converted(key: string, object: () => ApiObject): Uint8Array {
  try {
    return storedBytes(object())
  } catch (cause) {
    if (cause instanceof ValueUnreadable) throw cause
    throw new ValueUnreadable(`the value of ${key} cannot be decoded: ${errorText(cause)}`, { cause })
  }
}

function fromProtobuf(key: string, value: Uint8Array): ApiObject {
  const { apiVersion, kind: name, raw } = decodeEnvelope(value)
  const kind = kindOf(apiVersion, name)
  if (kind === undefined)
    throw new ValueUnreadable(`the value of ${key} is a ${name} of ${apiVersion}, which is not supported`)
  const { kind: _, apiVersion: __, ...fields } = kind.schema.decode(decodeProtobuf(kind.message, raw)).value
  const typed = { kind: kind.kind, apiVersion: kind.apiVersion, ...fields } as unknown as ApiObject
  const object = kind.applyDefaults(kind.schema.withDefaults(typed))
  return kind.storedAs?.toStored(object) ?? object
}

function kindOf(apiVersion: string, name: string): Kind | undefined {
  const version = sameAsV1.has(`${apiVersion} ${name}`) ? `${apiVersion.split('/')[0]}/v1` : apiVersion
  return kinds.find((kind) => kind.kind === name && kind.apiVersion === version && kind.computed === undefined)
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  if (bytes.length < start.length) return false
  for (let index = 0; index < start.length; index++) if (bytes[index] !== start[index]) return false
  return true
}
