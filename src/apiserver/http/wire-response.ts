// toWireResponse: a response as status, headers and body, in the format that the client accepts.
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { PageNotFound } from '../../api/errors/status-error.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { Log } from '../../base/observability/log.ts'
import type { WireRequest, WireResponse } from '../../platform/http/listener.ts'
import type { ApiResponse, ListResponse, ResponseOf } from '../request/response.ts'
import { encodeList, encodeObject, type EncodeOptions } from './encode-json.ts'
import { protobufList, protobufObject } from './encode-protobuf.ts'
import { statusErrorOf } from './error-status.ts'
import { isShortList, listPieces } from './list-pieces.ts'
import { negotiateFormat, type ResponseFormat } from './media-type.ts'
import { warningHeaders } from './warning-headers.ts'
import { watchPieces, type WatchForm } from './watch-pieces.ts'
import { jsonText, parseJson } from '../../schema/json/exact-json.ts'
import type { JsonObject, JsonValue } from '../../schema/json/json-value.ts'
import { yamlText } from '../../schema/yaml/yaml-text.ts'

export type WireOptions = EncodeOptions & WatchForm

const uncached = 'no-cache, private'

const contentTypes = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
} as const

export function toWireResponse(response: ApiResponse, options: WireOptions): MaybePromise<WireResponse> {
  const { form } = options
  switch (response.kind) {
    case 'object':
      if (form.isList && response.objectKind !== undefined) throw notAList(response.objectKind)
      return thenMaybe(objectBody(response, options), (body) =>
        encodedResponse(response.status, body, form, response.warnings),
      )
    case 'list':
      if (form.shape === 'metadata' && !form.isList) throw isAList(response.objectKind)
      return thenMaybe(listBody(response, options), (body) => encodedResponse(200, body, form, response.warnings))
    case 'watch':
      return watchResponse(response, options)
    case 'json':
      return jsonResponse(response)
    case 'document': {
      const { body, contentType, etag, cacheControl = uncached, expiresMs } = response
      const expires = expiresMs === undefined ? {} : { expires: goTime(expiresMs) }
      const headers = { 'content-type': contentType, 'cache-control': cacheControl, etag, vary: 'Accept', ...expires }
      return { status: 200, headers, body }
    }
    case 'redirect': {
      const { location, tag } = response
      const headers = {
        'content-type': contentTypes.json,
        'cache-control': uncached,
        etag: tag,
        location,
        vary: 'Accept',
      }
      return { status: 301, headers, body: '' }
    }
    case 'text':
      return textResponse(response)
    case 'wire':
      return response.response
    default:
      return response satisfies never
  }
}

const isAList = (kind: Kind): StatusError =>
  notAcceptable(`you requested PartialObjectMetadata, but the requested object is a list (${goTypeOf(kind, 'List')})`)

/** As upstream: a custom object is rejected by another check, whose error has no reason. */
const notAList = (kind: Kind): StatusError =>
  kind.custom === undefined
    ? notAcceptable(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${goTypeOf(kind, '')})`,
      )
    : new StatusError(500, '', 'content is not a list')

const notAcceptable = (message: string): StatusError => new StatusError(406, 'NotAcceptable', message)

/** Upstream's type of a kind: `*core.ConfigMap`, `*apps.DeploymentList`. */
const goTypeOf = ({ custom, group, kind }: Kind, suffix: '' | 'List'): string =>
  custom === undefined ? `*${group.split('.')[0] || 'core'}.${kind}${suffix}` : `*unstructured.Unstructured${suffix}`

/** `Mon, 02 Jan 2006 15:04:05 UTC`: upstream writes the zone, not GMT. */
const goTime = (ms: number): string => new Date(ms).toUTCString().replace('GMT', 'UTC')

function watchResponse({ events, objectKind }: ResponseOf<'watch'>, options: WireOptions): WireResponse {
  const type = options.form.syntax === 'protobuf' ? `${contentTypes.protobuf};stream=watch` : contentTypes.json
  return {
    status: 200,
    headers: { 'content-type': type, 'cache-control': uncached },
    body: watchPieces(events, objectKind, options),
  }
}

const jsonResponse = ({ status, value, contentType, etag, isYaml = false }: ResponseOf<'json'>): WireResponse => ({
  status,
  headers: {
    'content-type': contentType ?? contentTypes[isYaml ? 'yaml' : 'json'],
    'cache-control': uncached,
    ...(etag === undefined ? {} : { etag, vary: 'Accept' }),
  },
  body: isYaml ? yamlText(value as JsonValue) : jsonText(value),
})

const textResponse = ({ status, text, contentType }: ResponseOf<'text'>): WireResponse => ({
  status,
  headers: {
    'content-type': contentType ?? 'text/plain; charset=utf-8',
    'cache-control': uncached,
    'x-content-type-options': 'nosniff',
  },
  body: text,
})

const decoder = new TextDecoder()
const textBody = (json: Uint8Array, { syntax }: ResponseFormat): Uint8Array | string =>
  syntax === 'yaml' ? yamlText(parseJson(decoder.decode(json)) as JsonValue) : json

const objectBody = (
  { object, objectKind, stored }: ResponseOf<'object'>,
  options: EncodeOptions,
): Uint8Array | string =>
  options.form.syntax === 'protobuf'
    ? protobufObject(object, objectKind, stored, options.form)
    : textBody(encodeObject(object, objectKind, stored, options), options.form)

function listBody(response: ListResponse, options: EncodeOptions): MaybePromise<WireResponse['body']> {
  const { form } = options
  if (form.syntax === 'protobuf') return protobufList(response, form)
  if (form.syntax === 'json' && form.shape === 'object' && !isShortList(response)) return listPieces(response)
  return textBody(encodeList(response, options), form)
}

function encodedResponse(
  status: number,
  body: WireResponse['body'],
  { syntax }: ResponseFormat,
  warnings: readonly string[] = [],
): WireResponse {
  const headers = { 'content-type': contentTypes[syntax], 'cache-control': uncached }
  if (warnings.length === 0) return { status, headers, body }
  return { status, headers: { ...headers, warning: warningHeaders(warnings) }, body }
}

/** The Status of an error. Errors of the server are logged. */
export function errorResponse(error: unknown, wire: WireRequest, log: Log): WireResponse {
  const status = statusErrorOf(error)
  if (status instanceof PageNotFound) return textResponse({ kind: 'text', status: 404, text: `${status.message}\n` })
  if (status.code >= 500 && !wire.signal.aborted)
    // Without the query: that of an exec is a command line, which may hold secrets.
    log.error('a request failed', { method: wire.method, path: wire.target.split('?', 1)[0], error })
  const retryAfter = status.details?.retryAfterSeconds
  const syntax = statusSyntax(wire.headers['accept'] ?? '')
  return {
    status: status.code,
    headers: {
      'content-type': contentTypes[syntax],
      'cache-control': uncached,
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    },
    body: statusBody(status.toStatus(), syntax),
  }
}

/** A Status is JSON where the client accepts none of its formats. */
function statusSyntax(accept: string): ResponseFormat['syntax'] {
  try {
    return negotiateFormat(accept, 'status').syntax
  } catch {
    return 'json'
  }
}

function statusBody(status: object, syntax: ResponseFormat['syntax']): string | Uint8Array {
  switch (syntax) {
    case 'json':
      return JSON.stringify(status)
    case 'yaml':
      return yamlText(status as JsonObject)
    case 'protobuf':
      return protobufObject(status, undefined)
    default:
      return syntax satisfies never
  }
}

export const notModified = (etag: string): WireResponse => ({
  status: 304,
  headers: { etag, vary: 'Accept' },
  body: '',
})

export function withHeaders(response: WireResponse, more: Readonly<Record<string, string>>): WireResponse {
  const { status, body, onUpgrade } = response
  const headers = { ...response.headers, ...more }
  return onUpgrade === undefined ? { status, headers, body } : { status, headers, body, onUpgrade }
}
