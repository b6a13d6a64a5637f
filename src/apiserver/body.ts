// The body of a request: bytes in JSON, YAML or protobuf become one JSON value, not yet of a type.
import { tokenRequest } from '../api/authentication/v1/token-request.ts'
import { scale } from '../api/autoscaling/v1/scale.ts'
import { binding } from '../api/core/v1/binding.ts'
import { kinds } from '../api/kinds.ts'
import { deleteOptions } from '../api/meta/v1/delete-options.ts'
import { eviction } from '../api/policy/v1/eviction.ts'
import { badRequest } from '../api/status-error.ts'
import { errorText } from '../base/log.ts'
import { whenKnown, type Soon } from '../base/when-known.ts'
import type { WireRequest } from '../platform/listener.ts'
import type { Message } from '../schema/field.ts'
import { nestsTooDeep } from '../schema/json-depth.ts'
import { decodeProtobuf, openEnvelope } from '../schema/protobuf.ts'
import { strictErrors } from '../schema/repeated-keys.ts'
import { bodyForm, type BodyForm } from './media-type.ts'
import type { Body, PatchType } from './request.ts'

/** As upstream: a larger body is refused. */
export const bodyBytesMax = 3 << 20

export const noBody: Body = { kind: 'none' }

export function readBody(wire: WireRequest): Soon<Body> {
  return whenKnown(wire.body(bodyBytesMax), (bytes) => {
    if (bytes.length === 0) return noBody
    const { syntax, patchType } = bodyForm(wire.headers['content-type'] ?? '', wire.method)
    return whenKnown(parseBody(bytes, syntax), (body) => (patchType === undefined ? body : asPatch(body, patchType)))
  })
}

type ValueBody = Extract<Body, { kind: 'value' }>

function parseBody(bytes: Uint8Array, syntax: BodyForm['syntax']): Soon<ValueBody> {
  const unrecognized = (error: unknown) =>
    badRequest(
      `the object provided is unrecognized (must be of type ${syntax === 'protobuf' ? 'Protobuf' : syntax.toUpperCase()}): ${errorText(error)}`,
    )
  try {
    if (syntax === 'protobuf') return { kind: 'value', value: parseProtobuf(bytes) }
    const text = utf8.decode(bytes)
    // What begins with a brace may be JSON, also where YAML was announced.
    if (nestsTooDeep(bytes) && (syntax === 'json' || isBraced(text))) throw new Error('exceeded max depth')
    const json = syntax === 'json' ? (JSON.parse(text) as unknown) : jsonInYaml(text)
    if (json !== undefined)
      return { kind: 'value', value: json, strictErrors: (unknown) => strictErrors(unknown, bytes) }
    return yamlBody(text).catch((error: unknown) => {
      throw unrecognized(error)
    })
  } catch (error) {
    throw unrecognized(error)
  }
}

async function yamlBody(text: string): Promise<ValueBody> {
  const { parseYaml } = await import('./yaml-body.ts')
  const { value, repeatedKeys } = parseYaml(text)
  return { kind: 'value', value, strictErrors: (unknown) => [...asOneError(repeatedKeys), ...strictErrors(unknown)] }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Clients send JSON where YAML may stand; its parser is a hundred times faster. */
const isBraced = (text: string): boolean => /^\s*\{/.test(text)

function jsonInYaml(text: string): unknown {
  if (!isBraced(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined // flow style in YAML begins with a brace too
  }
}

/** Go's parser of YAML tells all that it finds in one error. */
const asOneError = (lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`yaml: unmarshal errors:\n${lines.map((line) => `  ${line}`).join('\n')}`]

/** The unknown fields are those of the object after the patch, so they have no place in the patch's text. */
const asPatch = (body: ValueBody, patchType: PatchType): Body => ({
  ...body,
  patchType,
  strictErrors: (unknown) => [...(body.strictErrors?.([]) ?? []), ...strictErrors(unknown)],
})

/** Messages that are sent without being kinds of their own. */
const otherMessages: Readonly<Record<string, Message>> = {
  Binding: binding,
  DeleteOptions: deleteOptions,
  Eviction: eviction,
  Scale: scale,
  TokenRequest: tokenRequest,
}

function parseProtobuf(bytes: Uint8Array): unknown {
  const { apiVersion, kind: kindName, raw } = openEnvelope(bytes)
  const message =
    kinds.find((kind) => kind.kind === kindName && kind.apiVersion === apiVersion)?.message ?? otherMessages[kindName]
  if (message === undefined)
    throw new Error(`no kind ${JSON.stringify(kindName)} is registered for version ${JSON.stringify(apiVersion)}`)
  return { ...decodeProtobuf(message, raw), apiVersion, kind: kindName }
}
