// The body of a request: bytes in JSON, YAML or protobuf become a JSON value, which is not decoded as a type yet.
import { lookup } from '../../base/collections/lookup.ts'
import { tokenRequest } from '../../api/authentication/v1/token-request.ts'
import { scale } from '../../api/autoscaling/v1/scale.ts'
import { bindingMessage } from '../../api/core/v1/binding.ts'
import { kinds } from '../../api/kinds.ts'
import { deleteOptions } from '../../api/meta/v1/delete-options.ts'
import { eviction } from '../../api/policy/v1/eviction.ts'
import { badRequest, StatusError } from '../../api/errors/status-error.ts'
import { releaseBytes } from '../../base/collections/release-bytes.ts'
import type { Clock } from '../../base/time/clock.ts'
import { errorText } from '../../base/observability/log.ts'
import { thenMaybe, settleMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import type { WireRequest } from '../../platform/http/listener.ts'
import type { Message } from '../../schema/descriptor/field.ts'
import { NumberRangeError, parseJson, parseJsonInRange } from '../../schema/json/exact-json.ts'
import { jsonSyntaxError } from '../../schema/json/json-syntax-error.ts'
import { nestsTooDeep } from '../../schema/json/json-depth.ts'
import { decodeProtobuf, decodeEnvelope } from '../../schema/protobuf/protobuf-decode.ts'
import { strictErrors } from '../../schema/json/duplicate-keys.ts'
import { unknownOperationFields } from '../../schema/patch/json-patch.ts'
import { parseInSlices, type ParsedJson } from '../../schema/json/sliced-json.ts'
import { hasTooManySeparators, TooManyValuesError } from '../../schema/json/too-many-values.ts'
import type { YamlParser } from './yaml-parser.ts'
import { bodyFormat, type BodyFormat } from './media-type.ts'
import type { Pace } from '../request/paced-requests.ts'
import type { Body, PatchType } from '../request/request.ts'

/** As upstream: a larger body is rejected. */
export const bodyBytesMax = 3 << 20

export const noBody: Body = { kind: 'none' }

/**
 * No object that upstream can store has as many values. A denser body would take a hundred times its size in memory.
 */
export const bodyValuesMax = 200_000

/** Longer JSON is parsed in time slices, because the native parser cannot be interrupted, and its request is paced. */
export const largeBodyBytes = 128 << 10

export interface BodyDeps {
  readonly clock: Clock
  readonly yaml: YamlParser
}

/** The slices of a large body are steps of its request. */
interface PacedDeps extends BodyDeps {
  readonly pace: Pace | undefined
  readonly isCustom: boolean
}

export function parseBody(
  wire: WireRequest,
  bytes: Uint8Array,
  deps: BodyDeps,
  isCustom = false,
  pace?: Pace,
): MaybePromise<Body> {
  // An empty patch is parsed, because its error depends on its type.
  if (bytes.length === 0 && wire.method !== 'PATCH') return noBody
  const { syntax, patchType } = bodyFormat(wire.headers['content-type'] ?? '', wire.method, isCustom)
  return settleMaybe(
    () => parse(bytes, syntax, wire.signal, { ...deps, pace, isCustom }),
    (body) => (patchType === undefined ? body : asPatch(body, patchType)),
    (error) => {
      throw parseErrorStatus(error, syntax, patchType)
    },
  )
}

type ValueBody = Extract<Body, { kind: 'value' }>

function parseErrorStatus(error: unknown, syntax: BodyFormat['syntax'], patchType: PatchType | undefined): Error {
  if (error instanceof StatusError || (error instanceof DOMException && error.name === 'AbortError')) return error
  if (error instanceof NumberRangeError && patchType === undefined) return error
  if (error instanceof NumberRangeError && patchType === 'json') return badRequest(operationRangeError(error))
  if (error instanceof TooManyValuesError)
    return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${error.message}`)
  if (patchType !== undefined) return badRequest(`${patchErrorPrefixes[patchType]}${errorText(error)}`)
  const type = syntax === 'protobuf' ? 'Protobuf' : syntax.toUpperCase()
  return badRequest(`the object provided is unrecognized (must be of type ${type}): ${errorText(error)}`)
}

const operationRangeError = ({ text }: NumberRangeError): string =>
  `error decoding patch: json: cannot unmarshal number ${text} into Go struct field jsonPatchOp.value of type float64`

const patchErrorPrefixes: Readonly<Record<PatchType, string>> = {
  apply: 'error decoding YAML: error converting YAML to JSON: ',
  json: 'error decoding patch: ',
  merge: 'error decoding patch: ',
  strategic: '',
}

function parse(
  bytes: Uint8Array,
  syntax: BodyFormat['syntax'],
  signal: AbortSignal,
  deps: PacedDeps,
): MaybePromise<ValueBody> {
  if (syntax === 'protobuf') return { kind: 'value', value: parseProtobuf(bytes) }
  if (syntax === 'json' && hasTooManySeparators(bytes, bodyValuesMax)) {
    releaseBytes(bytes)
    throw new TooManyValuesError(bodyValuesMax)
  }
  const text = utf8.decode(bytes)
  // A large body would be held until the request ends.
  if (isLarge(text)) releaseBytes(bytes)
  const ofJson = ({ value, repeatsKeys }: ParsedText): ValueBody => {
    if (repeatsKeys === undefined) return jsonBody(value, () => bytes)
    // A large text is not searched again if the parser has found no repeated keys.
    return jsonBody(value, repeatsKeys ? () => utf8Encoder.encode(text) : noSource)
  }
  if (syntax === 'json') return thenMaybe(parseText(text, bytes, deps), ofJson)
  if (!isBraced(text)) return yamlBody(text, signal, deps)
  // Many clients send JSON as YAML, and the JSON parser is a hundred times faster. YAML in flow style begins with a
  // brace too.
  return settleMaybe(
    () => parseText(text, bytes, deps),
    ofJson,
    (error) => {
      // As upstream: in YAML, a number out of range is a text.
      const isYaml = error instanceof SyntaxError || error instanceof NumberRangeError
      if (!isYaml || error.message === tooDeep) throw error
      return yamlBody(text, signal, deps)
    },
  )
}

const tooDeep = 'exceeded max depth'

const isLarge = (text: string): boolean => text.length > largeBodyBytes

const noSource = () => undefined

/** `source`: the text in which repeated keys are searched. */
const jsonBody = (value: unknown, source: () => Uint8Array | undefined): ValueBody => ({
  kind: 'value',
  value,
  strictErrors: (unknown) => strictErrors(unknown, source()),
})

/** Unlike the sliced parser, the native one does not report repeated keys. */
type ParsedText = Pick<ParsedJson, 'value'> & Partial<ParsedJson>

function parseText(text: string, bytes: Uint8Array, { clock, pace, isCustom }: PacedDeps): MaybePromise<ParsedText> {
  if (isLarge(text)) return parseInSlices(text, bodyValuesMax, clock, pace)
  if (nestsTooDeep(bytes)) throw new SyntaxError(tooDeep)
  try {
    return { value: isCustom ? parseJsonInRange(text) : parseJson(text) }
  } catch (error) {
    if (error instanceof NumberRangeError) throw error
    throw new SyntaxError(jsonSyntaxError(text))
  }
}

async function yamlBody(text: string, signal: AbortSignal, deps: PacedDeps): Promise<ValueBody> {
  const { json, repeatedKeys } = await deps.yaml.parse(text, signal)
  const { value } = await parseText(json, utf8Encoder.encode(json), deps)
  return { kind: 'value', value, strictErrors: (unknown) => [...asOneError(repeatedKeys), ...strictErrors(unknown)] }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const utf8Encoder = new TextEncoder()

const isBraced = (text: string): boolean => text.trimStart().startsWith('{')

/** Go's YAML parser reports all repeated keys in one error. */
const asOneError = (lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`yaml: unmarshal errors:\n${lines.map((line) => `  ${line}`).join('\n')}`]

/** Unknown fields are those of the patched object, so they have no position in the text of the patch. */
const asPatch = (body: ValueBody, patchType: PatchType): Body => ({
  ...body,
  patchType,
  strictErrors: (unknown) => [...strictErrorsOfPatch(body, patchType), ...strictErrors(unknown)],
})

function strictErrorsOfPatch({ value, strictErrors: found }: ValueBody, patchType: PatchType): readonly string[] {
  if (patchType !== 'json') return found?.([]) ?? []
  return (found?.(unknownOperationFields(value)) ?? []).map((error) => `json patch ${error}`)
}

/** Messages of bodies that are not kinds. */
const otherMessages: Readonly<Record<string, Message>> = {
  Binding: bindingMessage,
  DeleteOptions: deleteOptions,
  Eviction: eviction,
  Scale: scale,
  TokenRequest: tokenRequest,
}

function parseProtobuf(bytes: Uint8Array): unknown {
  const { apiVersion, kind: kindName, raw } = decodeEnvelope(bytes)
  const message =
    kinds.find((kind) => kind.kind === kindName && kind.apiVersion === apiVersion)?.message ??
    lookup(otherMessages, kindName)
  if (message === undefined)
    throw new Error(`no kind ${JSON.stringify(kindName)} is registered for version ${JSON.stringify(apiVersion)}`)
  return { ...decodeProtobuf(message, raw, bodyValuesMax), apiVersion, kind: kindName }
}
