// ConversionReview: builds the request to a conversion webhook and checks its response. A webhook may change everything of
// an object except its identity and its metadata; of the metadata it may change labels and annotations.
import { lookup } from '../../base/collections/lookup.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { validateMetadataFields } from '../../api/validation/metadata-rules.ts'
import { equalValues, isJsonObject, without, type JsonObject, type JsonValue } from '../../schema/json/json-value.ts'

const group = 'apiextensions.k8s.io'

export type ReviewVersion = 'v1' | 'v1beta1'

/** The first supported version; validation ensures that there is one. */
export const reviewVersionOf = (versions: readonly string[]): ReviewVersion =>
  versions.find((version): version is ReviewVersion => version === 'v1' || version === 'v1beta1') ?? 'v1'

export const conversionReview = (
  version: ReviewVersion,
  uid: string,
  desiredAPIVersion: string,
  objects: readonly ApiObject[],
): object => ({
  kind: 'ConversionReview',
  apiVersion: `${group}/${version}`,
  request: { uid, desiredAPIVersion, objects },
  response: { uid: '', convertedObjects: null, result: { metadata: {} } },
})

/** Upstream's values of the label `failure_type`. */
export type ConversionFailure =
  | 'conversion_webhook_call_failure'
  | 'conversion_webhook_malformed_response_failure'
  | 'conversion_webhook_partial_response_failure'
  | 'conversion_webhook_invalid_converted_object_failure'

/** A failed conversion; `message` continues `conversion webhook for example.com/v1, Kind=Widget`, unless it is whole. */
export class ConversionError extends Error {
  override name = 'ConversionError'
  readonly failure: ConversionFailure
  readonly isWhole: boolean

  constructor(
    failure: ConversionFailure,
    message: string,
    { isWhole = false, ...options }: ConversionErrorOptions = {},
  ) {
    super(message, options)
    this.failure = failure
    this.isWhole = isWhole
  }
}

interface ConversionErrorOptions extends ErrorOptions {
  readonly isWhole?: boolean
}

export interface SentReview {
  readonly version: ReviewVersion
  readonly uid: string
  readonly apiVersion: string
  readonly objects: readonly ApiObject[]
}

/** The converted objects, with the metadata of the objects that were sent. */
export function convertedObjects(response: unknown, sent: SentReview): readonly ApiObject[] {
  const converted = objectsIn(isJsonObject(response) ? response : {}, sent)
  const { objects, apiVersion } = sent
  if (converted.length !== objects.length)
    throw new ConversionError(
      'conversion_webhook_partial_response_failure',
      `returned ${converted.length} objects, expected ${objects.length}`,
    )
  return objects.map((original, index) => checkedObject(converted[index], original, apiVersion, indexText(sent, index)))
}

/** How messages name one of several objects. Upstream words them differently for a single object. */
interface IndexText {
  readonly object: string
  readonly identity: string
  readonly metadata: string
  readonly isSingle: boolean
}

function indexText({ objects }: SentReview, index: number): IndexText {
  const at = `invalid converted object at index ${index}`
  return objects.length === 1
    ? { object: 'invalid object at index 0', identity: 'invalid object', metadata: 'invalid metadata', isSingle: true }
    : { object: at, identity: at, metadata: `invalid metadata in object at index ${index}`, isSingle: false }
}

function objectsIn(review: JsonObject, { version, uid }: SentReview): readonly (JsonValue | undefined)[] {
  const { kind = '', apiVersion = '', response } = review
  const wanted = `${group}/${version}`
  const isTyped = kind !== '' || apiVersion !== ''
  if (isTyped && (kind !== 'ConversionReview' || apiVersion !== wanted)) throw failedCall(wrongType(review, version))
  if (!isTyped && version === 'v1')
    throw malformed(`expected webhook response of ${wanted}, Kind=ConversionReview, got /, Kind=`)
  if (!isJsonObject(response)) throw malformed('no response provided')
  const { uid: given = '', result, convertedObjects: objects = [] } = response
  if (version === 'v1' && given !== uid)
    throw malformed(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}`)
  const { status = '', message = '' } = isJsonObject(result) ? result : {}
  if (status !== 'Success')
    throw malformed(message === '' ? `response.result.status was '${String(status)}', not 'Success'` : String(message))
  if (Array.isArray(objects)) return objects
  if (objects === null) return []
  const field = 'field ConversionResponse.response.convertedObjects of type []runtime.RawExtension'
  throw failedCall(`json: cannot unmarshal ${jsonTypeOf(objects)} into Go struct ${field}`)
}

function wrongType({ kind = '', apiVersion = '' }: JsonObject, version: ReviewVersion): string {
  const isOther = kind === 'ConversionReview' && (apiVersion === `${group}/v1` || apiVersion === `${group}/v1beta1`)
  if (isOther) {
    const other = version === 'v1' ? 'v1beta1' : 'v1'
    return `converting (${other}.ConversionReview) to (${version}.ConversionReview): unknown conversion`
  }
  const given = JSON.stringify(String(apiVersion))
  return `no kind ${JSON.stringify(String(kind))} is registered for version ${given} in scheme "pkg/util/webhook/client.go:71"`
}

export const failedCall = (message: string, cause?: unknown): ConversionError =>
  new ConversionError('conversion_webhook_call_failure', `failed: ${message}`, { cause })

const malformed = (message: string): ConversionError =>
  new ConversionError('conversion_webhook_malformed_response_failure', `failed: ${message}`)

const invalidObject = (message: string, isWhole = false): ConversionError =>
  new ConversionError('conversion_webhook_invalid_converted_object_failure', message, { isWhole })

function checkedObject(
  converted: JsonValue | undefined,
  original: ApiObject,
  apiVersion: string,
  at: IndexText,
): ApiObject {
  const problem = unreadable(converted)
  if (problem !== undefined)
    throw at.isSingle ? invalidObject(problem, true) : invalidObject(`returned ${at.object}: ${problem}`)
  const object = converted as JsonObject
  const { apiVersion: version = '', kind = '' } = object
  if (version !== apiVersion)
    throw invalidObject(
      `returned ${at.object}: invalid groupVersion (expected ${apiVersion}, received ${String(version)})`,
    )
  if (kind !== original.kind)
    throw invalidObject(`returned ${at.object}: invalid kind (expected ${original.kind}, received ${String(kind)})`)
  const identity = changedIdentity(object['metadata'], original)
  if (identity !== undefined) throw invalidObject(`returned ${at.identity}: ${identity}`)
  try {
    return { ...object, metadata: restoredMetadata(object['metadata'], original) } as unknown as ApiObject
  } catch (error) {
    throw error instanceof MetadataError ? invalidObject(`returned ${at.metadata}: ${error.message}`) : error
  }
}

function unreadable(converted: JsonValue | undefined): string | undefined {
  if (converted === null || converted === undefined) return 'unexpected end of JSON input'
  if (!isJsonObject(converted))
    return `json: cannot unmarshal ${jsonTypeOf(converted)} into Go value of type map[string]interface {}`
  return typeof converted['kind'] === 'string' && converted['kind'] !== ''
    ? undefined
    : `Object 'Kind' is missing in '${JSON.stringify(converted)}'`
}

function changedIdentity(metadata: JsonValue | undefined, original: ApiObject): string | undefined {
  const given = isJsonObject(metadata) ? metadata : {}
  for (const [name, title] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const before = original.metadata[name] ?? ''
    const after = given[name] ?? ''
    if (before !== after) return `must have the same ${title}: ${before} != ${String(after)}`
  }
  return undefined
}

class MetadataError extends Error {}

/** The metadata of the original, with the labels and annotations of the converted object. */
function restoredMetadata(given: JsonValue | undefined, { metadata }: ApiObject): ApiObject['metadata'] {
  const labels = textsIn(given, 'labels', metadata.labels)
  const annotations = textsIn(given, 'annotations', metadata.annotations)
  return {
    ...without(without(metadata, 'labels'), 'annotations'),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  }
}

type Texts = Readonly<Record<string, string>>

function textsIn(
  metadata: JsonValue | undefined,
  field: 'labels' | 'annotations',
  before: Texts = {},
): Texts | undefined {
  const given = isJsonObject(metadata) ? lookup(metadata, field) : undefined
  if (given === undefined || given === null) return undefined
  if (!isJsonObject(given))
    throw new MetadataError(`invalid metadata.${field} of type ${goTypeOf(given)} in converted object`)
  for (const [name, value] of Object.entries(given))
    if (typeof value !== 'string')
      throw new MetadataError(
        `metadata.${field}[${name}] must be a string, but is ${goTypeOf(value)} in converted object`,
      )
  const texts = given as Texts
  const errors = equalValues(texts, before) ? [] : validateMetadataFields({ [field]: texts }, 'metadata')
  // Upstream names annotations in the singular here.
  const messages = errors.map((error) => `${error.field.replace(/annotations$/, 'annotation')}: ${error.message}`)
  if (messages.length > 0) throw new MetadataError(messages.length === 1 ? messages[0] : `[${messages.join(', ')}]`)
  return texts
}

const jsonTypeOf = (value: JsonValue): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value

/** The type of a decoded value in Go. */
function goTypeOf(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'map[string]interface {}'
}
