// toApiRequest: an HTTP request as the server handles it. Its body is read later, after authorization.
import { settleMaybe, thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { noCause, type Cause } from '../../base/observability/flow-recorder.ts'
import { readSpan } from '../../base/observability/span.ts'
import { badRequest } from '../../api/errors/status-error.ts'
import type { WireRequest } from '../../platform/http/listener.ts'
import { traceHeader, wokenByHeader } from '../../api/coxswain/v1/flow-protocol.ts'
import { bodyBytesMax, noBody, parseBody, type BodyDeps } from '../http/request-body.ts'
import { cannotHandle } from '../objects/decode-object.ts'
import type { Pace } from '../request/paced-requests.ts'
import { clientOf } from '../request/component-identity.ts'
import type { ApiRequest, Credentials, Origin, ReceivedBody, ResourceTarget, Target } from '../request/request.ts'
import { NumberRangeError } from '../../schema/json/exact-json.ts'
import { peerProxiedHeader } from '../request/extension.ts'
import { requestTargetOf, type Routed, type Routes } from './request-target.ts'

/** Shared by all requests without a query. It is never modified. */
export const noQuery = new URLSearchParams()

export interface RequestDeps extends BodyDeps {
  readonly server: Routes
}

export function toApiRequest(
  wire: WireRequest,
  { auditId, responseHeaders }: Pick<Origin, 'auditId' | 'responseHeaders'>,
  deps: RequestDeps,
): ApiRequest {
  const { method, target: uri, headers } = wire
  const mark = uri.indexOf('?')
  const query = mark < 0 ? noQuery : new URLSearchParams(uri.slice(mark))
  const path = mark < 0 ? uri : uri.slice(0, mark)
  const { server } = deps
  const routes = headers[peerProxiedHeader] === undefined ? server : ownRoutes(server)
  const routed = requestTargetOf(method, path, query, headers['accept'] ?? '', routes)
  const readBody = bodyReader(wire, routed, deps)
  return {
    context: { signal: wire.signal, cause: causeFrom(wire) },
    credentials: credentialsOf(wire),
    user: undefined,
    ...clientOf(headers['user-agent'] ?? ''),
    ...routed,
    query,
    origin: { auditId, responseHeaders, uri, remoteAddress: wire.remoteAddress },
    body: noBody,
    ...(readBody === undefined ? {} : { readBody }),
    ...(wire.upgrade ? { upgrade: { headers } } : {}),
  }
}

/** What another server has forwarded is served here or not at all. */
const ownRoutes = ({ catalogue, extensions }: Routes): Routes => ({ catalogue, extensions })

/** Undefined where the method has no body. A proxied body is forwarded without parsing it. */
function bodyReader(wire: WireRequest, { target, extension }: Routed, deps: BodyDeps): ApiRequest['readBody'] {
  const isProxied = extension !== undefined || (target.kind === 'resource' && target.subresource === 'proxy')
  const isCustom = wire.method === 'PATCH' ? isOfCustomKind(target) : isCustomObject(target) && wire.method !== 'DELETE'
  const { method, headers } = wire
  if (!isProxied && (method === 'GET' || method === 'HEAD')) return undefined
  const parsed = (bytes: Uint8Array, pace: Pace | undefined): MaybePromise<ReceivedBody> =>
    isProxied
      ? { body: noBody, proxied: { method, headers, body: bytes } }
      : settleMaybe(
          () => parseBody(wire, bytes, deps, isCustom, pace),
          (body) => ({ body }),
          (error) => {
            throw error instanceof NumberRangeError ? outOfRange(target, error) : error
          },
        )
  return () =>
    thenMaybe(wire.body(bodyBytesMax), (bytes) => ({
      bytes: isProxied ? 0 : bytes.length,
      parse: (pace) => parsed(bytes, pace),
    }))
}

const outOfRange = (target: Target, { message }: NumberRangeError): Error =>
  target.kind === 'resource' ? cannotHandle(target.resource, message) : badRequest(message)

const isOfCustomKind = (target: Target): target is ResourceTarget =>
  target.kind === 'resource' && target.resource.custom !== undefined

/** The scale of a custom object is not a custom object, though it is patched like one. */
export const isCustomObject = (target: Target): boolean => isOfCustomKind(target) && target.subresource !== 'scale'

const causeRevisionsMax = 8

/** The cause that a component of the cluster names in its headers. */
function causeFrom({ headers }: WireRequest): Cause {
  const woken = headers[wokenByHeader]
  const trace = headers[traceHeader]
  if (woken === undefined && trace === undefined) return noCause
  const revisions = woken !== undefined && /^\d+(,\d+)*$/.test(woken) ? woken.split(',') : []
  const span = readSpan(trace)
  return {
    ...noCause,
    revisions: revisions.slice(0, causeRevisionsMax).map(Number),
    ...(span === undefined ? {} : { span }),
  }
}

const credentialsOf = ({ certificate, headers, headerValues }: WireRequest): Credentials => ({
  kind: 'presented',
  certificate,
  headers,
  headerValues,
})
