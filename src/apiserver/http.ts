// The HTTP station: wire requests in, wire answers out. Only here errors become Status objects.
import type { Clock } from '../base/clock.ts'
import { noCause, type Cause } from '../base/flow.ts'
import { newUid } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import { ending, whenKnown, whenSettled, type Soon } from '../base/when-known.ts'
import { managerOfUserAgent } from '../api/field-manager.ts'
import { readSpan, traceHeader, wokenByHeader } from '../api/flow-wire.ts'
import { badRequest, StatusError } from '../api/status-error.ts'
import type { WireAnswer, WireRequest } from '../platform/listener.ts'
import type { Answer } from './answer.ts'
import type { ApiServer } from './server.ts'
import { encodeList, encodeObject, type EncodeOptions } from './encode.ts'
import { protobufList, protobufObject } from './encode-protobuf.ts'
import { bodyBytesMax, noBody, parseBody } from './body.ts'
import { senderOf } from './component-identity.ts'
import { statusErrorOf } from './failure.ts'
import { listPieces, listPiecesFrom } from './list-pieces.ts'
import { answerForm, type AnswerForm } from './media-type.ts'
import { timeoutMsOf } from './query.ts'
import type { ApiRequest, Credentials, Origin, ReceivedBody, ResourceTarget, Target } from './request.ts'
import type { IncludeObject } from './table.ts'
import { targetOf } from './target.ts'
import { warningHeaders } from './warning-headers.ts'
import { watchPieces } from './watch-pieces.ts'
import type { YamlParser } from './yaml-parser.ts'

export interface HttpParts {
  readonly server: ApiServer
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly yaml: YamlParser
}

export function handleHttp(wire: WireRequest, parts: HttpParts): Soon<WireAnswer> {
  const auditId = wire.headers['audit-id'] ?? newUid(parts.random)
  const answerHeaders = { 'audit-id': auditId }
  return whenSettled(
    () => answerTo(toRequest(wire, { auditId, answerHeaders }, parts), wire, parts),
    (answer) => withHeaders(answer, answerHeaders),
    (error) => withHeaders(failure(error, wire, parts.log), answerHeaders),
  )
}

function answerTo(asked: ApiRequest, wire: WireRequest, parts: HttpParts): Soon<WireAnswer> {
  const { form, include, unreadable } = formOf(asked, wire)
  const answer = inTime(unreadable === undefined ? asked : { unreadable, ...asked }, wire, parts)
  return whenKnown(answer, (known) =>
    'etag' in known && known.etag === wire.headers['if-none-match']
      ? notModified(known.etag)
      : watchedToWire(known, { form, include, nowMs: parts.clock.nowMs() }, asked, parts),
  )
}

/** Shorter lists are written in no time. */
const watchedItemsMin = 100

/** A long list that is not written in pieces may hold the event loop. */
function watchedToWire(
  answer: Answer,
  options: EncodeOptions,
  asked: ApiRequest,
  { server, clock }: HttpParts,
): Soon<WireAnswer> {
  if (answer.kind !== 'list' || answer.items.length < watchedItemsMin) return toWire(answer, options, clock)
  const startMs = clock.monotonicMs()
  const wire = toWire(answer, options, clock)
  server.loop.answered(asked, startMs, clock.monotonicMs())
  return wire
}

const withHeaders = (answer: WireAnswer, headers: Readonly<Record<string, string>>): WireAnswer => {
  const { status, body, takeOver } = answer
  const whole = { status, headers: { ...answer.headers, ...headers }, body }
  return takeOver === undefined ? whole : { ...whole, takeOver }
}

const notModified = (etag: string): WireAnswer => ({ status: 304, headers: { etag, vary: 'Accept' }, body: '' })

/** As upstream: a request that is no watch must be answered within this time. */
const requestMsMax = 60_000

function inTime(request: ApiRequest, wire: WireRequest, { server, clock }: HttpParts): Soon<Answer> {
  const { target } = request
  const isLong = target.kind === 'resource' && (target.verb === 'watch' || target.subresource !== '')
  if (isLong && (target.verb === 'watch' || wire.upgrade)) return server.handle(request)
  const late = () =>
    wire.cancel(new StatusError(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout', {}))
  const askedMs = request.query === noQuery ? 0 : timeoutMsOf(request.query)
  const done = server.deadlines.begin(requestMsMax, late)
  const timer = askedMs > 0 && askedMs < requestMsMax ? clock.after(askedMs, late) : undefined
  return ending(
    () => server.handle(request),
    () => {
      done()
      timer?.cancel()
    },
  )
}

/** In which form the client wants its answer; what cannot be is told behind who may ask. */
function formOf(
  { target, query }: ApiRequest,
  { headers }: WireRequest,
): Pick<EncodeOptions, 'form' | 'include'> & Pick<ApiRequest, 'unreadable'> {
  try {
    const form = target.kind === 'path' ? plainJson : answerForm(headers['accept'] ?? '', hasTable(target))
    return { form, include: includeOf(query) }
  } catch (error) {
    return { form: plainJson, include: 'Metadata', unreadable: { error } }
  }
}

/** Answers to questions and actions are no rows: reviews, bindings, evictions, tokens. */
const hasTable = ({ verb, resource, subresource }: ResourceTarget): boolean =>
  verb !== 'create' || (subresource === '' && resource.computed === undefined)

const plainJson: AnswerForm = { syntax: 'json', shape: 'object' }

const includes: readonly IncludeObject[] = ['None', 'Metadata', 'Object']

function includeOf(query: URLSearchParams): IncludeObject {
  const asked = query.get('includeObject') ?? 'Metadata'
  const include = includes.find((one) => one === asked)
  if (include === undefined) throw badRequest(`unrecognized includeObject value: ${JSON.stringify(asked)}`)
  return include
}

const noQuery = new URLSearchParams()

function toRequest(
  wire: WireRequest,
  { auditId, answerHeaders }: Pick<Origin, 'auditId' | 'answerHeaders'>,
  parts: HttpParts,
): ApiRequest {
  const { method, target: path, headers } = wire
  const mark = path.indexOf('?')
  // Most requests have no query, and share this one: nobody writes to it.
  const query = mark < 0 ? noQuery : new URLSearchParams(path.slice(mark))
  const { target, ...problem } = targetOf(method, mark < 0 ? path : path.slice(0, mark), query, headers['accept'] ?? '')
  const readBody = bodyReader(wire, target, parts)
  return {
    context: { signal: wire.signal, cause: causeFrom(wire) },
    credentials: credentialsOf(wire),
    user: undefined,
    ...senderOf(headers['user-agent'] ?? ''),
    agent: managerOfUserAgent(headers['user-agent'] ?? ''),
    target,
    query,
    origin: { auditId, answerHeaders, uri: path, remoteAddress: wire.remoteAddress },
    body: noBody,
    ...(readBody === undefined ? {} : { readBody }),
    ...problem,
    ...(wire.upgrade ? { upgrade: { headers } } : {}),
  }
}

/** How the body will be read; undefined where the method has none. A proxied body is forwarded without parsing it. */
function bodyReader(wire: WireRequest, target: Target, parts: HttpParts): ApiRequest['readBody'] {
  const isProxied = target.kind === 'resource' && target.subresource === 'proxy'
  const { method, headers } = wire
  if (!isProxied && (method === 'GET' || method === 'HEAD')) return undefined
  const parsed = (bytes: Uint8Array): Soon<ReceivedBody> =>
    isProxied
      ? { body: noBody, proxied: { method, headers, body: bytes } }
      : whenKnown(parseBody(wire, bytes, parts), (body) => ({ body }))
  return () =>
    whenKnown(wire.body(bodyBytesMax), (bytes) => ({ bytes: isProxied ? 0 : bytes.length, parse: () => parsed(bytes) }))
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

function toWire(answer: Answer, options: EncodeOptions, clock: Clock): Soon<WireAnswer> {
  const { form, include } = options
  switch (answer.kind) {
    case 'object':
      return whenKnown(objectBody(answer, options), (body) => written(answer.status, body, form, answer.warnings))
    case 'list':
      return whenKnown(listBody(answer, options), (body) => written(200, body, form, answer.warnings))
    case 'watch': {
      const type = form.syntax === 'protobuf' ? `${contentTypes.protobuf};stream=watch` : contentTypes.json
      return {
        status: 200,
        headers: { 'content-type': type, 'cache-control': uncached },
        body: watchPieces(answer.events, answer.of, { form, include, clock }),
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
      return answer.answer
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

const textBody = (json: Uint8Array, { syntax }: AnswerForm): Soon<Uint8Array | string> =>
  syntax === 'yaml' ? yamlText(json) : json

async function yamlText(json: Uint8Array): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(JSON.parse(new TextDecoder().decode(json)))
}

const objectBody = (
  { object, of: kind, stored }: Extract<Answer, { kind: 'object' }>,
  options: EncodeOptions,
): Soon<Uint8Array | string> =>
  options.form.syntax === 'protobuf'
    ? protobufObject(object, kind, stored)
    : textBody(encodeObject(object, kind, stored, options), options.form)

function listBody(answer: Extract<Answer, { kind: 'list' }>, options: EncodeOptions): Soon<WireAnswer['body']> {
  const { form } = options
  if (form.syntax === 'protobuf') return protobufList(answer)
  if (form.syntax === 'json' && form.shape === 'object' && answer.items.length >= listPiecesFrom)
    return listPieces(answer)
  return textBody(encodeList(answer, options), form)
}

function written(
  status: number,
  body: WireAnswer['body'],
  { syntax }: AnswerForm,
  warnings: readonly string[] = [],
): WireAnswer {
  const headers = { 'content-type': contentTypes[syntax], 'cache-control': uncached }
  if (warnings.length === 0) return { status, headers, body }
  return { status, headers: { ...headers, warning: warningHeaders(warnings) }, body }
}

function failure(error: unknown, wire: WireRequest, log: Log): WireAnswer {
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
    return answerForm(accept).syntax === 'protobuf'
  } catch {
    return false
  }
}
