// The HTTP handler: wire requests in, wire responses out. Only here errors become Status objects.
import { finallyMaybe, settleMaybe, thenMaybe, type MaybePromise } from '../base/async/maybe-promise.ts'
import type { Log } from '../base/observability/log.ts'
import { newUid } from '../base/random/ids.ts'
import type { Random } from '../base/random/random.ts'
import type { Clock } from '../base/time/clock.ts'
import { badRequest, PageNotFound } from '../api/errors/status-error.ts'
import type { WireRequest, WireResponse } from '../platform/http/listener.ts'
import { negotiateFormat, plainJson, type OfferName } from './http/media-type.ts'
import type { IncludeObjectPolicy } from './http/table.ts'
import { errorResponse, notModified, toWireResponse, withHeaders, type WireOptions } from './http/wire-response.ts'
import { warningHeaders } from './http/warning-headers.ts'
import type { YamlParser } from './http/yaml-parser.ts'
import { isConnection } from './registry/subresources/subresource-admission.ts'
import { requestTimeout } from './request/request-termination.ts'
import { timeoutMsParameter } from './request/query-values.ts'
import type { ApiRequest, ResourceTarget, Target } from './request/request.ts'
import type { ApiResponse } from './request/response.ts'
import { sessionCookiePrefix } from './request/session-cookies.ts'
import { isCustomObject, noQuery, toApiRequest } from './routing/http-request.ts'
import type { ApiServer } from './server.ts'
import { isLoopback } from '../base/net/remote-address.ts'
import { UiEndpoints } from './ui/ui-endpoints.ts'

export interface HttpDeps {
  readonly server: ApiServer
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly yaml: YamlParser
  /** Which clients get the web UI; by default those of this machine. */
  readonly servesUiTo?: (remoteAddress: string) => boolean
}

export function handleHttp(wire: WireRequest, deps: HttpDeps): MaybePromise<WireResponse> {
  const auditId = wire.headers['audit-id'] ?? newUid(deps.random)
  const responseHeaders = { 'audit-id': auditId }
  let target: Target | undefined
  const complete = (response: WireResponse) => {
    const completed = withHeaders(withDeprecation(response, target), responseHeaders)
    return isOfPage(wire, target, response.status) ? { ...completed, keepsConnection: true } : completed
  }
  return settleMaybe(
    () => {
      const request = toApiRequest(wire, { auditId, responseHeaders }, deps)
      target = request.target
      if (UiEndpoints.ownsPath(target) && !(deps.servesUiTo ?? isLoopback)(wire.remoteAddress)) throw new PageNotFound()
      return respond(request, wire, deps)
    },
    complete,
    (error) => complete(errorResponse(error, wire, deps.log)),
  )
}

/**
 * Browsers load the files of the web UI, which need no user, over one connection, and then send requests with the cookie of a
 * session; one that is not valid is rejected with 401.
 */
const isOfPage = ({ headers }: WireRequest, target: Target | undefined, status: number): boolean =>
  (target !== undefined && UiEndpoints.ownsPath(target) && status < 400) ||
  (headers['cookie']?.includes(sessionCookiePrefix) === true && status !== 401)

/** Every response of a deprecated version has a warning, including errors. */
function withDeprecation(response: WireResponse, target: Target | undefined): WireResponse {
  const warning = target?.kind === 'resource' ? target.resource.deprecationWarning : undefined
  if (warning === undefined) return response
  const { warning: others = [], ...headers } = response.headers
  return { ...response, headers: { ...headers, warning: [...warningHeaders([warning]), ...[others].flat()] } }
}

function respond(request: ApiRequest, wire: WireRequest, deps: HttpDeps): MaybePromise<WireResponse> {
  const { form, include, rejection } = responseFormatOf(request, wire)
  const { server, clock } = deps
  const onInitialEventsSent = server.calls.watchListTimer(request)
  const checked = rejection === undefined ? request : { rejection, ...request }
  return thenMaybe(handleInTime(checked, wire, deps), (response) =>
    'etag' in response && response.etag === wire.headers['if-none-match']
      ? notModified(response.etag)
      : encodeMonitored(
          response,
          {
            form,
            include,
            nowMs: clock.nowMs(),
            clock,
            frames: server.watchFrames,
            onSent: server.calls.eventsSent,
            onInitialEventsSent,
          },
          request,
          deps,
        ),
  )
}

/** Encoding a shorter list does not block the event loop for long. */
const monitoredItemsMin = 100

function encodeMonitored(
  response: ApiResponse,
  options: WireOptions,
  request: ApiRequest,
  { server }: HttpDeps,
): MaybePromise<WireResponse> {
  if (response.kind !== 'list' || response.items.length < monitoredItemsMin)
    return thenMaybe(toWireResponse(response, options), (wire) => measured(wire, request, server))
  const wire = server.loop.lastStep(request, () => toWireResponse(response, options))
  return thenMaybe(wire, (known) => measured(known, request, server))
}

/** Streams have no size when they start. */
function measured(wire: WireResponse, { target }: ApiRequest, server: ApiServer): WireResponse {
  if (typeof wire.body === 'string' || wire.body instanceof Uint8Array) server.calls.responded(target, wire.body.length)
  return wire
}

/** As upstream: the deadline of requests that are not watches. */
const requestMsMax = 60_000

function handleInTime(request: ApiRequest, wire: WireRequest, { server, clock }: HttpDeps): MaybePromise<ApiResponse> {
  const { target } = request
  const isLong =
    request.extension !== undefined ||
    (target.kind === 'resource' && (target.verb === 'watch' || target.subresource !== ''))
  if (isLong && (target.verb === 'watch' || wire.upgrade)) return server.handle(request)
  const cancel = () => wire.cancel(requestTimeout())
  const requestedMs = request.query === noQuery ? 0 : timeoutMsParameter(request.query)
  const done = server.deadlines.begin(requestMsMax, cancel)
  const timer = requestedMs > 0 && requestedMs < requestMsMax ? clock.after(requestedMs, cancel) : undefined
  return finallyMaybe(
    () => server.handle(request),
    () => {
      done()
      timer?.cancel()
    },
  )
}

/** The format that the client accepts. An unacceptable one is a rejection, which is reported after authorization. */
function responseFormatOf(
  { target, query, extension }: ApiRequest,
  { headers }: WireRequest,
): Pick<WireOptions, 'form' | 'include'> & Pick<ApiRequest, 'rejection'> {
  if (extension !== undefined) return { form: plainJson, include: 'Metadata' }
  try {
    const offer = target.kind === 'path' ? undefined : offerOf(target)
    const form = offer === undefined ? plainJson : negotiateFormat(headers['accept'] ?? '', offer)
    return { form, include: includeOf(query) }
  } catch (error) {
    return { form: plainJson, include: 'Metadata', rejection: { error } }
  }
}

/** Undefined for connections, whose other end negotiates. */
function offerOf(target: ResourceTarget): OfferName | undefined {
  const { verb, resource, subresource } = target
  if (isCustomObject(target)) return verb === 'watch' ? 'customWatch' : 'customObject'
  if (verb === 'list' || verb === 'watch') return verb
  if (subresource === '') return verb === 'create' && resource.computed !== undefined ? 'review' : 'object'
  if (subresource === 'log') return 'log'
  if (isConnection(resource, subresource)) return undefined
  // Responses of bindings, evictions and token requests are not tables either.
  return verb === 'create' ? 'review' : 'object'
}

const includes: readonly IncludeObjectPolicy[] = ['None', 'Metadata', 'Object']

function includeOf(query: URLSearchParams): IncludeObjectPolicy {
  const requested = query.get('includeObject') ?? 'Metadata'
  const include = includes.find((one) => one === requested)
  if (include === undefined)
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(requested)}: must be 'Metadata', 'Object', 'None', or empty`,
    )
  return include
}
