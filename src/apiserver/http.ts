// The HTTP station: wire requests in, wire answers out. Only here errors become Status objects.
import type { Clock } from '../base/clock.ts'
import { noCause, type Cause } from '../base/flow.ts'
import { errorText, type Log } from '../base/log.ts'
import { managerOfUserAgent } from '../api/field-manager.ts'
import { senderMark, wokenByHeader } from '../api/flow-wire.ts'
import { badRequest, StatusError } from '../api/status-error.ts'
import { StoreUnavailable } from '../store/store.ts'
import { BodyTooLarge, type WireAnswer, type WireRequest } from '../platform/listener.ts'
import type { Answer, WatchEvent } from './answer.ts'
import type { ApiServer } from './server.ts'
import { encodeList, encodeObject, encodeWatch, type EncodeOptions } from './encode.ts'
import { protobufList, protobufObject, protobufWatch } from './encode-protobuf.ts'
import { readBody, bodyBytesMax } from './body.ts'
import { answerForm, type AnswerForm } from './media-type.ts'
import type { ApiRequest, Credentials } from './request.ts'
import type { IncludeObject } from './table.ts'
import { targetOf } from './target.ts'

export interface HttpParts {
  readonly server: ApiServer
  readonly clock: Clock
  readonly log: Log
}

export async function handleHttp(wire: WireRequest, { server, clock, log }: HttpParts): Promise<WireAnswer> {
  try {
    const url = new URL(wire.target, 'https://server')
    const request = await toRequest(wire, url)
    const isPath = request.target.kind === 'path'
    const form = isPath ? plainJson : answerForm(wire.headers['accept'] ?? '')
    const include = (url.searchParams.get('includeObject') ?? 'Metadata') as IncludeObject
    const answer = await inTime(request, server, clock)
    if ('etag' in answer && answer.etag === wire.headers['if-none-match']) return notModified(answer.etag)
    return await toWire(answer, { form, include, nowMs: clock.nowMs() })
  } catch (error) {
    return failure(error, wire, log)
  }
}

const notModified = (etag: string): WireAnswer => ({ status: 304, headers: { etag, vary: 'Accept' }, body: '' })

/** As upstream: a request that is no watch must be answered within this time. */
const requestMsMax = 60_000

async function inTime(request: ApiRequest, server: ApiServer, clock: Clock): Promise<Answer> {
  if (request.target.kind === 'resource' && request.target.verb === 'watch') return server.handle(request)
  const late = new AbortController()
  const timer = clock.after(requestMsMax, () =>
    late.abort(new StatusError(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout', {})),
  )
  try {
    const signal = AbortSignal.any([request.context.signal, late.signal])
    return await server.handle({ ...request, context: { ...request.context, signal } })
  } finally {
    timer.cancel()
  }
}

const plainJson: AnswerForm = { syntax: 'json', shape: 'object' }

async function toRequest(wire: WireRequest, url: URL): Promise<ApiRequest> {
  return {
    context: { signal: wire.signal, cause: causeFrom(wire) },
    credentials: credentialsOf(wire),
    user: undefined,
    sender: senderOf(wire.headers['user-agent'] ?? ''),
    agent: managerOfUserAgent(wire.headers['user-agent'] ?? ''),
    target: targetOf(wire.method, url.pathname, url.searchParams, wire.headers['accept'] ?? ''),
    query: url.searchParams,
    body: await readBody(wire),
    ...(wire.upgrade ? { upgrade: { headers: wire.headers } } : {}),
  }
}

const wokenByRevisionsMax = 8

function causeFrom({ headers }: WireRequest): Cause {
  const woken = headers[wokenByHeader]
  if (woken === undefined || !/^\d+(,\d+)*$/.test(woken)) return noCause
  return { ...noCause, revisions: woken.split(',').slice(0, wokenByRevisionsMax).map(Number) }
}

function credentialsOf({ certificate, headers }: WireRequest): Credentials {
  if (certificate !== undefined)
    return { kind: 'certificate', commonName: certificate.commonName, organizations: certificate.organizations }
  const token = /^bearer\s+(.+)$/i.exec(headers['authorization'] ?? '')?.[1]
  return token === undefined ? { kind: 'none' } : { kind: 'bearer', token }
}

/** Of clients that are not ours the program's name is taken. */
const senderOf = (userAgent: string): string =>
  userAgent.startsWith(senderMark) ? userAgent.slice(senderMark.length) : (/^[^/\s(]+/.exec(userAgent)?.[0] ?? 'client')

async function toWire(answer: Answer, options: EncodeOptions): Promise<WireAnswer> {
  switch (answer.kind) {
    case 'object':
      return written(answer.status, await objectBody(answer, options), options.form, answer.warnings)
    case 'list':
      return written(
        200,
        options.form.syntax === 'protobuf'
          ? protobufList(answer)
          : await textBody(encodeList(answer, options), options.form),
        options.form,
        answer.warnings,
      )
    case 'watch': {
      const events = withErrors(answer.events)
      const isProtobuf = options.form.syntax === 'protobuf'
      return {
        status: 200,
        headers: {
          'content-type': `${contentTypes[isProtobuf ? 'protobuf' : 'json']}${isProtobuf ? ';stream=watch' : ''}`,
          'cache-control': 'no-cache, private',
        },
        body: isProtobuf ? protobufWatch(events, answer.of) : encodeWatch(events, answer.of, options),
      }
    }
    case 'json':
      return {
        status: answer.status,
        headers: {
          'content-type': answer.contentType ?? contentTypes.json,
          'cache-control': 'no-cache, private',
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
      return { status: answer.status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: answer.text }
    case 'wire':
      return answer.answer
    case 'upgraded':
      return { status: 101, headers: answer.headers, body: '', takeOver: answer.join }
    default:
      return answer satisfies never
  }
}

const contentTypes = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
} as const

async function textBody(json: Uint8Array, { syntax }: AnswerForm): Promise<Uint8Array | string> {
  if (syntax !== 'yaml') return json
  const { stringify } = await import('yaml')
  return stringify(JSON.parse(new TextDecoder().decode(json)))
}

const objectBody = async (
  { object, of: kind, stored }: Extract<Answer, { kind: 'object' }>,
  options: EncodeOptions,
): Promise<string | Uint8Array> =>
  options.form.syntax === 'protobuf'
    ? protobufObject(object, kind, stored)
    : textBody(encodeObject(object, kind, stored, options), options.form)

function written(
  status: number,
  body: string | Uint8Array,
  { syntax }: AnswerForm,
  warnings: readonly string[] = [],
): WireAnswer {
  const warning = warnings.map((text) => headerBytes(`299 - ${JSON.stringify(text)}`))
  return {
    status,
    headers: {
      'content-type': contentTypes[syntax],
      'cache-control': 'no-cache, private',
      ...(warning.length === 0 ? {} : { warning }),
    },
    body,
  }
}

/** Headers are written one byte for each character: text in UTF-8 is handed over so. */
const headerBytes = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text))

/** A watch that breaks tells why before it ends. */
async function* withErrors(events: AsyncIterable<WatchEvent>): AsyncIterable<WatchEvent> {
  try {
    yield* events
  } catch (error) {
    const status = error instanceof StatusError ? error : new StatusError(410, 'Expired', errorText(error))
    yield { type: 'ERROR', status: status.toStatus() }
  }
}

function failure(error: unknown, wire: WireRequest, log: Log): WireAnswer {
  const status = asStatusError(error)
  if (status.code >= 500 && !wire.signal.aborted)
    log.error('a request failed', { method: wire.method, target: wire.target, error })
  const retryAfter = status.details?.retryAfterSeconds
  return {
    status: status.code,
    headers: {
      'content-type': contentTypes.json,
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    },
    body: JSON.stringify(status.toStatus()),
  }
}

function asStatusError(error: unknown): StatusError {
  if (error instanceof StatusError) return error
  if (error instanceof BodyTooLarge)
    return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${bodyBytesMax}`)
  if (error instanceof URIError || (error instanceof TypeError && error.message.includes('URL')))
    return badRequest('the path is malformed')
  if (error instanceof StoreUnavailable)
    return new StatusError(503, 'ServiceUnavailable', error.message, { retryAfterSeconds: 1 }, { cause: error })
  return new StatusError(500, 'InternalError', `Internal error occurred: ${errorText(error)}`, {
    causes: [{ reason: 'UnexpectedServerResponse', message: errorText(error) }],
  })
}
