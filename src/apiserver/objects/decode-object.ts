// decodeObject: from a parsed body to an object of its kind: typed, without unknown fields, with defaults. All writes
// pass here, from a socket or from this process. The result does not alias the body, except for parts of the current
// version, which have passed here before.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { badRequest, type StatusError } from '../../api/errors/status-error.ts'
import { decode, DecodeError } from '../../schema/decoding/decode.ts'
import type { Message } from '../../schema/descriptor/field.ts'
import type { Infer } from '../../schema/descriptor/infer.ts'
import { isJsonObject, type JsonObject } from '../../schema/json/json-value.ts'
import { strictErrors } from '../../schema/json/duplicate-keys.ts'
import { jsonCharactersMin } from '../../schema/json/json-size.ts'
import { transactionBytesMax, TransactionTooLarge } from '../../store/store.ts'
import type { StrictErrors } from '../request/request.ts'
import type { FieldValidation } from '../request/write-options.ts'
import { checkObjectType } from './object-type.ts'
import type { SpecInterning } from './spec-interning.ts'

/**
 * Objects share the defaults of their definition, so a small object can have a very large JSON. One that is far beyond what
 * the store accepts is rejected before it is validated, compared and sent to webhooks.
 */
const defaultedCharactersMax = 8 * transactionBytesMax

/** Where a body comes from. */
export interface BodySource {
  /** The error for a body that is not an object of the kind, where it was not sent as such. */
  readonly rejected?: (why: string) => StatusError
  /** The result of an apply, which upstream does not decode: a null that a custom object may not have is an error. */
  readonly isApplied?: boolean
}

export interface DecodedObject {
  readonly object: ApiObject
  readonly warnings: readonly string[]
}

export function decodeObject(
  kind: Kind,
  body: unknown,
  validation: FieldValidation,
  strict: StrictErrors = strictErrors,
  current?: ApiObject,
  interning?: SpecInterning,
  { rejected = (why) => cannotHandle(kind, why), isApplied = false }: BodySource = {},
): DecodedObject {
  if (!isJsonObject(body)) throw rejected('the body is not an object')
  checkObjectType(kind, body)
  try {
    if (interning !== undefined) return decodeInterned(kind, body, validation, strict, interning, rejected)
    const fresh = current === undefined || kind.custom ? body : changedParts(current, body)
    const { value, unknownFields } = kind.schema.decode(fresh)
    const warnings = warningsOf(unknownFields, validation, strict, rejected)
    if (current !== undefined && isStatusAlone(fresh, body, current)) {
      const { status } = kind.schema.withDefaults(value) as { readonly status?: unknown }
      const object = { ...current, status } as ApiObject
      return { object: kind.hasStatusDefaults ? kind.applyDefaults(object) : object, warnings }
    }
    const typed = asTyped(kind, fresh === body ? value : withUnchangedParts(kind, value, fresh, body))
    const object = kind.applyDefaults(kind.schema.withDefaults(typed, isApplied))
    if (kind.custom !== undefined && jsonCharactersMin(object, defaultedCharactersMax) > defaultedCharactersMax)
      throw new TransactionTooLarge()
    return { object, warnings }
  } catch (error) {
    if (error instanceof DecodeError) throw rejected(error.message)
    throw error
  }
}

/** A new object of a kind of which many objects have equal specs: a known spec is not decoded again. */
function decodeInterned(
  kind: Kind,
  body: JsonObject,
  validation: FieldValidation,
  strict: StrictErrors,
  interning: SpecInterning,
  rejected: (why: string) => StatusError,
): DecodedObject {
  const { name } = interning
  const sent = interning.find(body)
  const known = sent?.value
  const { value, unknownFields } = kind.schema.decode(known === undefined ? body : { ...body, [name]: undefined })
  const warnings = warningsOf(unknownFields, validation, strict, rejected)
  const filled: JsonObject = kind.schema.withDefaults(value)
  if (known !== undefined) return { object: asTyped(kind, withPart(kind, filled, name, known)), warnings }
  const object = kind.applyDefaults(asTyped(kind, filled))
  const part = (object as unknown as JsonObject)[name]
  // Specs with unknown fields are not interned, so that each client gets the warnings.
  if (sent !== undefined && unknownFields.length === 0 && isJsonObject(part)) interning.intern(sent, part)
  return { object, warnings }
}

/** The object with one more field, in the order of the kind's fields. */
function withPart(kind: Kind, object: JsonObject, name: string, part: JsonObject): JsonObject {
  const whole: Record<string, JsonObject[string]> = {}
  for (const field in kind.message.fields) {
    const value = field === name ? part : lookup(object, field)
    if (value !== undefined) setOwn(whole, field, value)
  }
  return whole
}

/** The fields of a body that differ from the current version. */
function changedParts(current: ApiObject, body: JsonObject): JsonObject {
  const fresh: Record<string, JsonObject[string]> = {}
  for (const name in body) if (body[name] !== current[name as keyof ApiObject]) setOwn(fresh, name, body[name])
  return fresh
}

/** The decoded fields, and the unchanged fields of the body, in the order of the kind's fields. */
function withUnchangedParts(kind: Kind, decoded: JsonObject, fresh: JsonObject, body: JsonObject): JsonObject {
  const whole: Record<string, JsonObject[string]> = {}
  for (const name in kind.message.fields) {
    const part = Object.hasOwn(body, name) && !Object.hasOwn(fresh, name) ? lookup(body, name) : lookup(decoded, name)
    if (part !== undefined) setOwn(whole, name, part)
  }
  return whole
}

function asTyped({ kind, apiVersion }: Kind, parts: JsonObject): ApiObject {
  const { kind: _, apiVersion: __, ...rest } = parts
  return { kind, apiVersion, ...rest } as unknown as ApiObject
}

/** Whether only the status differs, as in a status report. No default depends on the status. */
const isStatusAlone = (fresh: JsonObject, body: JsonObject, current: ApiObject): boolean =>
  'status' in fresh && Object.keys(fresh).length === 1 && Object.keys(body).length === Object.keys(current).length

/** A body that is not a kind (a Scale, a Binding, DeleteOptions). A wrong type in it is a client error. */
export function decodeBody<M extends Message>(message: M, name: string, body: unknown): Partial<Infer<M>> {
  try {
    return decode(message, body).value as Partial<Infer<M>>
  } catch (error) {
    if (error instanceof DecodeError)
      throw badRequest(`${name} in version "v1" cannot be handled as a ${name}: ${error.message}`)
    throw error
  }
}

function warningsOf(
  unknownFields: readonly string[],
  validation: FieldValidation,
  strict: StrictErrors,
  rejected: (why: string) => StatusError,
): string[] {
  const found = validation === 'Ignore' ? [] : strict(unknownFields)
  if (found.length > 0 && validation === 'Strict') throw rejected(`strict decoding error: ${found.join(', ')}`)
  return found.flatMap(asWarnings)
}

/** Warning headers are single lines, so a multi-line error of the YAML parser becomes several warnings. */
const asWarnings = (error: string): string[] => {
  const [first = '', ...lines] = error.split('\n')
  return lines.length === 0 ? [first] : lines.map((line) => line.trim())
}

export const cannotHandle = (kind: Pick<Kind, 'kind' | 'version'>, why: string): StatusError =>
  badRequest(`${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}: ${why}`)
