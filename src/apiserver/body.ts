// The body of a request: bytes in JSON, YAML or protobuf become one JSON value, not yet of a type.
import type { DocumentOptions, ParseOptions, SchemaOptions, ToJSOptions } from 'yaml'
import { scale } from '../api/autoscaling/v1/scale.ts'
import { binding } from '../api/core/v1/binding.ts'
import { kinds } from '../api/kinds.ts'
import { deleteOptions } from '../api/meta/v1/delete-options.ts'
import { badRequest } from '../api/status-error.ts'
import { errorText } from '../base/log.ts'
import type { WireRequest } from '../platform/listener.ts'
import type { Message } from '../schema/field.ts'
import { decodeProtobuf, openEnvelope } from '../schema/protobuf.ts'
import { bodyForm, type BodyForm } from './media-type.ts'
import type { Body } from './request.ts'

/** As upstream: a larger body is refused. */
export const bodyBytesMax = 3 << 20

// YAML 1.1 without timestamps, as kubectl's own parser reads it; aliases may not unfold without bound.
const yamlOptions: ParseOptions & DocumentOptions & SchemaOptions & ToJSOptions = {
  version: '1.1',
  customTags: (tags) => tags.filter((tag) => typeof tag !== 'object' || tag.tag !== 'tag:yaml.org,2002:timestamp'),
  maxAliasCount: 100,
}

export async function readBody(wire: WireRequest): Promise<Body> {
  if (wire.method === 'GET' || wire.method === 'HEAD') return { kind: 'none' }
  const bytes = await wire.body(bodyBytesMax)
  if (bytes.length === 0) return { kind: 'none' }
  const { syntax, patchType } = bodyForm(wire.headers['content-type'] ?? '', wire.method)
  const value = await parseBody(bytes, syntax)
  return patchType === undefined ? { kind: 'value', value } : { kind: 'value', value, patchType }
}

async function parseBody(bytes: Uint8Array, syntax: BodyForm['syntax']): Promise<unknown> {
  try {
    if (syntax === 'protobuf') return parseProtobuf(bytes)
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (syntax === 'json') return JSON.parse(text)
    // Few send YAML, so it is loaded when the first one does.
    const { parse } = await import('yaml')
    return parse(text, yamlOptions)
  } catch (error) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${syntax === 'protobuf' ? 'Protobuf' : syntax.toUpperCase()}): ${errorText(error)}`,
    )
  }
}

/** Messages that are sent without being kinds of their own. */
const otherMessages: Readonly<Record<string, Message>> = {
  Binding: binding,
  DeleteOptions: deleteOptions,
  Scale: scale,
}

function parseProtobuf(bytes: Uint8Array): unknown {
  const { apiVersion, kind: kindName, raw } = openEnvelope(bytes)
  const message =
    kinds.find((kind) => kind.kind === kindName && kind.apiVersion === apiVersion)?.message ?? otherMessages[kindName]
  if (message === undefined)
    throw new Error(`no kind ${JSON.stringify(kindName)} is registered for version ${JSON.stringify(apiVersion)}`)
  return { ...decodeProtobuf(message, raw), apiVersion, kind: kindName }
}
