// requestTargetOf: the target of a method and path: a verb on a kind, or another path of the server.
import type { Kind } from '../../api/kind/kind.ts'
import {
  badRequest,
  methodNotAllowed,
  PageNotFound,
  pathNotFound,
  type StatusError,
} from '../../api/errors/status-error.ts'
import { subresourcesOf } from '../discovery/served-resources.ts'
import type { KindCatalogue } from '../kinds/kind-catalogue.ts'
import { customRejectionOf } from './custom-rejection.ts'
import { proxiedPath } from './proxied-path.ts'
import { requestInfo, type ResourceInfo } from './request-info.ts'
import type { Extension, PeerRoutes, ServedExtensions } from '../request/extension.ts'
import type { ApiRequest } from '../request/request.ts'

/** The segments of a path. Searching for slashes takes half as long as `split`, which caches strings. */
function segmentsOf(path: string): string[] {
  const parts: string[] = []
  let first = 0
  let end = path.length
  while (path[first] === '/') first++
  while (end > first && path[end - 1] === '/') end--
  for (let start = first; start < end;) {
    const slash = path.indexOf('/', start)
    const next = slash < 0 || slash > end ? end : slash
    parts.push(path.slice(start, next))
    start = next + 1
  }
  return parts
}

/** What this server serves, and what extensions and other servers of the cluster serve. */
export interface Routes {
  readonly catalogue: KindCatalogue
  readonly extensions: ServedExtensions
  /** What other API servers of the cluster serve; none by default. */
  readonly peers?: PeerRoutes | undefined
}

export type Routed = Pick<ApiRequest, 'target' | 'rejection' | 'extension'>

/** The target, and the rejection where it is not served. The rejection is reported after authorization. */
export function requestTargetOf(
  method: string,
  path: string,
  query: URLSearchParams,
  accept: string,
  routes: Routes,
): Routed {
  const ownPath = { kind: 'path', verb: method.toLowerCase(), path, accept } as const
  try {
    const decoded = path.includes('%') ? decodeURIComponent(path) : path
    const segments = segmentsOf(decoded)
    const info = requestInfo(method, segments, query)
    const extension = extensionOf(segments, routes)
    if (info.kind === 'path') return { target: { ...ownPath, path: decoded }, ...(extension && { extension }) }
    return extension === undefined
      ? resourceTarget(info, method, path, decoded, routes)
      : { target: extensionTarget(info, extension), extension }
  } catch (error) {
    return { target: ownPath, rejection: { error } }
  }
}

/** The extension of `/apis/<group>/<version>/…`, and of its OpenAPI document. */
function extensionOf(segments: readonly string[], { extensions }: Routes): Extension | undefined {
  const parts = segments[0] === 'openapi' && segments[1] === 'v3' ? segments.slice(2) : segments
  return parts[0] === 'apis' && parts.length > 2 ? extensions.at(parts[1] ?? '', parts[2] ?? '') : undefined
}

/** The extension decides what it serves. The target is for authorization and audit. */
function extensionTarget(info: ResourceInfo, extension: Extension): ApiRequest['target'] {
  const { verb, resource, isScoped, subresource, namespace, name, hasVerbInPath } = info
  return {
    kind: 'resource',
    verb,
    resource: extension.resource(resource, isScoped),
    subresource,
    namespace,
    name,
    ...(hasVerbInPath ? { hasVerbInPath } : {}),
  }
}

function resourceTarget(
  info: ResourceInfo,
  method: string,
  path: string,
  decoded: string,
  { catalogue, peers }: Routes,
): Routed {
  const { verb, group, version, resource: plural, name, subresource } = info
  const apiVersion = group === '' ? version : `${group}/${version}`
  const served = catalogue.atPath(apiVersion, plural)
  const peer = served === undefined && !path.startsWith('//') ? peers?.at(group, version, plural) : undefined
  if (peer !== undefined) return { target: extensionTarget(info, peer), extension: peer }
  const unknown = () => (catalogue.isBuiltInGroup(group) ? pathNotFound() : new PageNotFound())
  const rejection = served === undefined || path.startsWith('//') ? unknown() : rejectionOf(info, served, method)
  // The other properties of a kind that is not served are never read: the request is rejected before.
  const resource = served ?? ({ group, version, plural, apiVersion, namespaced: info.isScoped } as Kind)
  const isInItself = plural === 'namespaces' && !info.isScoped && served !== undefined
  const namespace = isInItself ? '' : info.namespace
  const form = info.hasVerbInPath ? { hasVerbInPath: true as const } : {}
  const target = { kind: 'resource', verb, resource, subresource, namespace, name, ...form } as const
  if (rejection !== undefined) return { target: { ...target, isUnserved: true }, rejection: { error: rejection } }
  if (subresource !== 'proxy') return { target }
  return { target: { ...target, path: proxiedPath(info.rest, decoded.endsWith('/')) } }
}

/** Why the path or the method is not served; undefined where it is. */
function rejectionOf(info: ResourceInfo, kind: Kind, method: string): StatusError | undefined {
  if (kind.custom !== undefined) return customRejectionOf(info, kind)
  const { verb, name, subresource, isScoped, namespace, hasVerbInPath, rest } = info
  const isProxied = subresource === 'proxy'
  const hasOtherScope = kind.namespaced ? name !== '' && !isScoped : isScoped
  const isUnknown = verb === 'proxy' || hasOtherScope || (rest.length > 0 && !isProxied)
  if (isUnknown || (hasVerbInPath && subresource !== '')) return pathNotFound()
  if (kind.namespaced && name !== '' && namespace === '') return badRequest('Namespace parameter required.')
  if (name === '' && subresource !== '') return badRequest('name must be provided')
  if (isProxied) return proxiedMethods.includes(method) ? undefined : methodNotAllowed()
  if (subresource === '') return methodsOf(info, kind).includes(method) ? undefined : methodNotAllowed()
  const part = subresourcesOf(kind).find((each) => each.name === subresource)
  if (part === undefined) return pathNotFound()
  return method !== 'HEAD' && part.verbs.some((each) => each === verb) ? undefined : methodNotAllowed()
}

const proxiedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const objectMethods = ['GET', 'PUT', 'PATCH', 'DELETE']
const collectionMethods = ['GET', 'POST', 'DELETE']

function methodsOf({ name, namespace, hasVerbInPath }: ResourceInfo, { namespaced }: Kind): readonly string[] {
  if (hasVerbInPath || (name === '' && namespaced && namespace === '')) return ['GET']
  return name === '' ? collectionMethods : objectMethods
}
