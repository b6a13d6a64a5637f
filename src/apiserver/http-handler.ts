// The HTTP station: wire requests in, wire answers out. Only here errors become Status objects.
import type { Clock } from '../base/time/clock.ts'
import { noCause, type Cause } from '../base/observability/flow-recorder.ts'
import { newUid } from '../base/random/ids.ts'
import type { Log } from '../base/observability/log.ts'
import type { Random } from '../base/random/random.ts'
import { finallyMaybe, thenMaybe, settleMaybe, type MaybePromise } from '../base/async/maybe-promise.ts'
import { managerOfUserAgent } from '../api/meta/field-manager.ts'
import { readSpan, traceHeader, wokenByHeader } from '../api/coxswain/v1/flow-protocol.ts'
import { badRequest, StatusError } from '../api/errors/status-error.ts'
import type { WireResponse, WireRequest } from '../platform/http/listener.ts'
import type { ApiResponse } from './request/response.ts'
import type { ApiServer } from './server.ts'
import { encodeList, encodeObject, type EncodeOptions } from './http/encode-json.ts'
import { protobufList, protobufObject } from './http/encode-protobuf.ts'
import { bodyBytesMax, noBody, parseBody } from './http/request-body.ts'
import { senderOf } from './request/component-identity.ts'
import { statusErrorOf } from './http/error-status.ts'
import { listPieces, streamedItemsMin } from './http/list-pieces.ts'
import { negotiateFormat, type ResponseFormat } from './http/media-type.ts'
import { timeoutMsParameter } from './request/query-values.ts'
import type { ApiRequest, Credentials, Origin, ReceivedBody, ResourceTarget, Target } from './request/request.ts'
import type { IncludeObjectPolicy } from './http/table.ts'
import { requestTargetOf } from './routing/request-target.ts'
import { warningHeaders } from './http/warning-headers.ts'
import { watchPieces } from './http/watch-pieces.ts'
import type { YamlParser } from './http/yaml-parser.ts'

export interface HttpDeps {
  readonly server: ApiServer
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly yaml: YamlParser
}

export function handleHttp(wire: WireRequest, deps: HttpDeps): MaybePromise<WireResponse> {
  const auditId = wire.headers['audit-id'] ?? newUid(deps.random)
  const answerHeaders = { 'audit-id': auditId }
  return settleMaybe(
    () => respond(toRequest(wire, { auditId, responseHeaders: answerHeaders }, deps), wire, deps),
    (answer) => withHeaders(answer, answerHeaders),
    (error) => withHeaders(errorResponse(error, wire, deps.log), answerHeaders),
  )
}

function respond(asked: ApiRequest, wire: WireRequest, deps: HttpDeps): MaybePromise<WireResponse> {
  const { form, include, rejection: unreadable } = responseFormatOf(asked, wire)
  const answer = withDeadline(unreadable === undefined ? asked : { rejection: unreadable, ...asked }, wire, deps)
  return thenMaybe(answer, (known) =>
    'etag' in known && known.etag === wire.headers['if-none-match']
      ? notModified(known.etag)
      : toMonitoredWire(known, { form, include, nowMs: deps.clock.nowMs() }, asked, deps),
  )
}

/** Shorter lists are written in no time. */
const monitoredItemsMin = 100

/** A long list that is not written in pieces may hold the event loop. */
function toMonitoredWire(
  answer: ApiResponse,
  options: EncodeOptions,
  asked: ApiRequest,
  { server, clock }: HttpDeps,
): MaybePromise<WireResponse> {
  if (answer.kind !== 'list' || answer.items.length < monitoredItemsMin) return toWireResponse(answer, options, clock)
  const startMs = clock.monotonicMs()
  const wire = toWireResponse(answer, options, clock)
  server.loop.responseDone(asked, startMs, clock.monotonicMs())
  return wire
}

const withHeaders = (answer: WireResponse, headers: Readonly<Record<string, string>>): WireResponse => {
  const { status, body, onUpgrade: takeOver } = answer
  const whole = { status, headers: { ...answer.headers, ...headers }, body }
  return takeOver === undefined ? whole : { ...whole, onUpgrade: takeOver }
}

const notModified = (etag: string): WireResponse => ({ status: 304, headers: { etag, vary: 'Accept' }, body: '' })

/** As upstream: a request that is no watch must be answered within this time. */
const requestMsMax = 60_000

function withDeadline(request: ApiRequest, wire: WireRequest, { server, clock }: HttpDeps): MaybePromise<ApiResponse> {
  const { target } = request
  const isLong = target.kind === 'resource' && (target.verb === 'watch' || target.subresource !== '')
  if (isLong && (target.verb === 'watch' || wire.upgrade)) return server.handle(request)
  const late = () =>
    wire.cancel(new StatusError(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout', {}))
  const askedMs = request.query === noQuery ? 0 : timeoutMsParameter(request.query)
  const done = server.deadlines.begin(requestMsMax, late)
  const timer = askedMs > 0 && askedMs < requestMsMax ? clock.after(askedMs, late) : undefined
  return finallyMaybe(
    () => server.handle(request),
    () => {
      done()
      timer?.cancel()
    },
  )
}

/** In which form the client wants its answer; what cannot be is told behind who may ask. */
function responseFormatOf(
  { target, query }: ApiRequest,
  { headers }: WireRequest,
): Pick<EncodeOptions, 'form' | 'include'> & Pick<ApiRequest, 'rejection'> {
  try {
    const form = target.kind === 'path' ? plainJson : negotiateFormat(headers['accept'] ?? '', hasTable(target))
    return { form, include: includeOf(query) }
  } catch (error) {
    return { form: plainJson, include: 'Metadata', rejection: { error } }
  }
}

/** Answers to questions and actions are no rows: reviews, bindings, evictions, tokens. */
const hasTable = ({ verb, resource, subresource }: ResourceTarget): boolean =>
  verb !== 'create' || (subresource === '' && resource.computed === undefined)

const plainJson: ResponseFormat = { syntax: 'json', shape: 'object' }

const includes: readonly IncludeObjectPolicy[] = ['None', 'Metadata', 'Object']

function includeOf(query: URLSearchParams): IncludeObjectPolicy {
  const asked = query.get('includeObject') ?? 'Metadata'
  const include = includes.find((one) => one === asked)
  if (include === undefined) throw badRequest(`unrecognized includeObject value: ${JSON.stringify(asked)}`)
  return include
}

const noQuery = new URLSearchParams()

function toRequest(
  wire: WireRequest,
  { auditId, responseHeaders: answerHeaders }: Pick<Origin, 'auditId' | 'responseHeaders'>,
  deps: HttpDeps,
): ApiRequest {
  const { method, target: path, headers } = wire
  const mark = path.indexOf('?')
  // Most requests have no query, and share this one: nobody writes to it.
  const query = mark < 0 ? noQuery : new URLSearchParams(path.slice(mark))
  const { target, ...problem } = requestTargetOf(
    method,
    mark < 0 ? path : path.slice(0, mark),
    query,
    headers['accept'] ?? '',
  )
  const readBody = bodyReader(wire, target, deps)
  return {
    context: { signal: wire.signal, cause: causeFrom(wire) },
    credentials: credentialsOf(wire),
    user: undefined,
    ...senderOf(headers['user-agent'] ?? ''),
    agent: managerOfUserAgent(headers['user-agent'] ?? ''),
    target,
    query,
    origin: { auditId, responseHeaders: answerHeaders, uri: path, remoteAddress: wire.remoteAddress },
    body: noBody,
    ...(readBody === undefined ? {} : { readBody }),
    ...problem,
    ...(wire.upgrade ? { upgrade: { headers } } : {}),
  }
}

/** How the body will be read; undefined where the method has none. A proxied body is forwarded without parsing it. */
function bodyReader(wire: WireRequest, target: Target, deps: HttpDeps): ApiRequest['readBody'] {
  const isProxied = target.kind === 'resource' && target.subresource === 'proxy'
  const { method, headers } = wire
  if (!isProxied && (method === 'GET' || method === 'HEAD')) return undefined
  const parsed = (bytes: Uint8Array): MaybePromise<ReceivedBody> =>
    isProxied
      ? { body: noBody, proxied: { method, headers, body: bytes } }
      : thenMaybe(parseBody(wire, bytes, deps), (body) => ({ body }))
  return () =>
    thenMaybe(wire.body(bodyBytesMax), (bytes) => ({ bytes: isProxied ? 0 : bytes.length, parse: () => parsed(bytes) }))
}

const wokenByRevisionsMax = 8

function causeFrom({ headers }: WireRequest): Cause {
  const [woken, trace] = [headers[wokenByHeader], headers[traceHeader]]
  if (woken === undefined && trace === undefined) return noCause
  const revisions = woken !== undefined && /^\d+(,\d+)*$/.test(woken) ? woken.split(',') : []
  const span = readSpan(trace)
  return {
    ...noCause,
    revisions: revisions.slice(0, wokenByRevisionsMax).map(Number),
    ...(span === undefined ? {} : { span }),
  }
}

const credentialsOf = ({ certificate, headers, headerValues }: WireRequest): Credentials => ({
  kind: 'presented',
  certificate,
  headers,
  headerValues,
})

function toWireResponse(answer: ApiResponse, options: EncodeOptions, clock: Clock): MaybePromise<WireResponse> {
  const { form, include } = options
  switch (answer.kind) {
    case 'object':
      return thenMaybe(objectBody(answer, options), (body) =>
        encodedResponse(answer.status, body, form, answer.warnings),
      )
    case 'list':
      return thenMaybe(listBody(answer, options), (body) => encodedResponse(200, body, form, answer.warnings))
    case 'watch': {
      const type = form.syntax === 'protobuf' ? `${contentTypes.protobuf};stream=watch` : contentTypes.json
      return {
        status: 200,
        headers: { 'content-type': type, 'cache-control': uncached },
        body: watchPieces(answer.events, answer.objectKind, { form, include, clock }),
      }
    }
    case 'json':
      return {
        status: answer.status,
        headers: {
          'content-type': answer.contentType ?? contentTypes.json,
          'cache-control': uncached,
          ...(answer.etag === undefined ? {} : { etag: answer.etag, vary: 'Accept' }),
        },
        body: JSON.stringify(answer.value),
      }
    case 'document':
      return {
        status: 200,
        headers: { 'content-type': answer.contentType, etag: answer.etag, vary: 'Accept' },
        body: answer.body,
      }
    case 'text':
      return {
        status: answer.status,
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          'cache-control': uncached,
          'x-content-type-options': 'nosniff',
        },
        body: answer.text,
      }
    case 'wire':
      return answer.response
    default:
      return answer satisfies never
  }
}

const uncached = 'no-cache, private'

const contentTypes = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
} as const

const textBody = (json: Uint8Array, { syntax }: ResponseFormat): MaybePromise<Uint8Array | string> =>
  syntax === 'yaml' ? yamlText(json) : json

async function yamlText(json: Uint8Array): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(JSON.parse(new TextDecoder().decode(json)))
}

const objectBody = (
  { object, objectKind: kind, stored }: Extract<ApiResponse, { kind: 'object' }>,
  options: EncodeOptions,
): MaybePromise<Uint8Array | string> =>
  options.form.syntax === 'protobuf'
    ? protobufObject(object, kind, stored)
    : textBody(encodeObject(object, kind, stored, options), options.form)

function listBody(
  answer: Extract<ApiResponse, { kind: 'list' }>,
  options: EncodeOptions,
): MaybePromise<WireResponse['body']> {
  const { form } = options
  if (form.syntax === 'protobuf') return protobufList(answer)
  if (form.syntax === 'json' && form.shape === 'object' && answer.items.length >= streamedItemsMin)
    return listPieces(answer)
  return textBody(encodeList(answer, options), form)
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

function errorResponse(error: unknown, wire: WireRequest, log: Log): WireResponse {
  const status = statusErrorOf(error)
  if (status.code >= 500 && !wire.signal.aborted)
    // Without the query: that of an exec is a command line, which may hold secrets.
    log.error('a request failed', { method: wire.method, path: wire.target.split('?', 1)[0], error })
  const retryAfter = status.details?.retryAfterSeconds
  const isProtobuf = wantsProtobuf(wire.headers['accept'] ?? '')
  const body = status.toStatus()
  return {
    status: status.code,
    headers: {
      'content-type': contentTypes[isProtobuf ? 'protobuf' : 'json'],
      'cache-control': uncached,
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    },
    body: isProtobuf ? protobufObject(body, undefined) : JSON.stringify(body),
  }
}

/** An error is told in the form that was asked for, as far as an error has it. */
function wantsProtobuf(accept: string): boolean {
  try {
    return negotiateFormat(accept).syntax === 'protobuf'
  } catch {
    return false
  }
}
