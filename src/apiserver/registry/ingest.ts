// ingest: from a parsed body to an object of its kind: right type, right kind, nothing unknown, defaults filled in.
// Every write passes here, from a socket or from this process; what comes out never aliases what came in, but for parts
// that are the present version's own: those passed here before.
import type { Kind } from '../../api/kind.ts'
import type { ApiObject } from '../../api/object.ts'
import { badRequest } from '../../api/status-error.ts'
import { decode, DecodeError } from '../../schema/decode.ts'
import { withDefaults } from '../../schema/defaults.ts'
import type { Message } from '../../schema/field.ts'
import type { Infer } from '../../schema/infer.ts'
import { isJsonObject, type JsonObject } from '../../schema/json-value.ts'
import { strictErrors } from '../../schema/repeated-keys.ts'
import type { StrictErrors } from '../request.ts'

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

export interface Ingested {
  readonly object: ApiObject
  readonly warnings: readonly string[]
}

export function ingest(
  kind: Kind,
  body: unknown,
  validation: FieldValidation,
  strict: StrictErrors = strictErrors,
  present?: ApiObject,
): Ingested {
  if (!isJsonObject(body)) throw cannotHandle(kind, 'the body is not an object')
  checkType(kind, body['apiVersion'], body['kind'])
  try {
    if (present !== undefined && hasNewStatusAlone(body, present))
      return withStatus(kind, body, present, validation, strict)
    const { value, unknownFields } = decode(kind.message, body)
    const warnings = warningsOf(kind, unknownFields, validation, strict)
    const { kind: _, apiVersion: __, ...rest } = value
    const typed = { kind: kind.kind, apiVersion: kind.apiVersion, ...rest } as unknown as ApiObject
    const object = kind.applyDefaults(withDefaults(kind.message, typed))
    return { object, warnings }
  } catch (error) {
    if (error instanceof DecodeError) throw cannotHandle(kind, error.message)
    throw error
  }
}

/** Whether a body is the present version itself but for its status, as one that reports sends it. */
function hasNewStatusAlone(body: JsonObject, present: ApiObject): boolean {
  if (!('status' in body)) return false
  for (const name in present) if (name !== 'status' && body[name] !== present[name as keyof ApiObject]) return false
  for (const name in body) if (!(name in present)) return false
  return true
}

/** Defaults that depend on other fields are none of a status. */
function withStatus(
  kind: Kind,
  { status }: JsonObject,
  present: ApiObject,
  validation: FieldValidation,
  strict: StrictErrors,
): Ingested {
  const { value, unknownFields } = decode(kind.message, { status })
  const warnings = warningsOf(kind, unknownFields, validation, strict)
  const { status: complete } = withDefaults(kind.message, value) as { readonly status?: unknown }
  return { object: { ...present, status: complete } as ApiObject, warnings }
}

/** A body that is no kind of its own (a Scale, a Binding, DeleteOptions): a wrong type in it is the client's mistake. */
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
  kind: Kind,
  unknownFields: readonly string[],
  validation: FieldValidation,
  strict: StrictErrors,
): string[] {
  const found = validation === 'Ignore' ? [] : strict(unknownFields)
  if (found.length > 0 && validation === 'Strict')
    throw cannotHandle(kind, `strict decoding error: ${found.join(', ')}`)
  return found.flatMap(asWarnings)
}

/** A header is one line: what the parser of YAML tells in several becomes several warnings. */
const asWarnings = (error: string): string[] => {
  const [first = '', ...lines] = error.split('\n')
  return lines.length === 0 ? [first] : lines.map((line) => line.trim())
}

const cannotHandle = (kind: Kind, why: string) =>
  badRequest(`${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}: ${why}`)

function checkType(kind: Kind, apiVersion: unknown, kindName: unknown): void {
  if (apiVersion !== undefined && apiVersion !== '' && apiVersion !== kind.apiVersion)
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${kind.apiVersion})`,
    )
  if (kindName !== undefined && kindName !== '' && kindName !== kind.kind)
    throw badRequest(`the kind in the data (${String(kindName)}) does not match the expected kind (${kind.kind})`)
}
