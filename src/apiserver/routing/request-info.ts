// RequestInfo: what a method and a path ask for, by their syntax alone. Authorization depends on it, so it follows
// upstream also for paths that are not served: routing and authorization must not interpret a request differently.
import { lookup } from '../../base/collections/lookup.ts'
import { methodVerbs } from '../../api/kind/method-verbs.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { booleanParameter } from '../request/query-values.ts'
import type { Verb } from '../request/request.ts'

export interface ResourceInfo {
  readonly kind: 'resource'
  readonly verb: Verb
  /** The verb is part of the path, as in `/api/v1/watch/pods`. */
  readonly hasVerbInPath: boolean
  readonly group: string
  readonly version: string
  /** Whether the path names the namespace of the resource. */
  readonly isScoped: boolean
  readonly namespace: string
  readonly resource: string
  readonly name: string
  readonly subresource: string
  /** The segments after the subresource, or after the name where the verb is part of the path. */
  readonly rest: readonly string[]
}

export type RequestInfo = ResourceInfo | { readonly kind: 'path'; readonly verb: string }

const namespaceSubresources = ['status', 'finalize']

const noSegments: readonly string[] = []

const segmentAt = (segments: readonly string[], at: number): string => segments[at] ?? ''

export function requestInfo(method: string, segments: readonly string[], query: URLSearchParams): RequestInfo {
  const isCore = segments[0] === 'api'
  const start = isCore ? 1 : 2
  if ((!isCore && segments[0] !== 'apis') || segments.length < start + 2)
    return { kind: 'path', verb: method.toLowerCase() }
  const first = segments[start + 1]
  const verbInPath = first === 'watch' || first === 'proxy' ? first : undefined
  if (verbInPath !== undefined && segments.length < start + 3)
    throw new StatusError(
      500,
      'InternalError',
      `failed to create RequestInfo: unable to determine kind and namespace from url, /${segments.join('/')}`,
    )
  const behind = verbInPath === undefined ? start + 1 : start + 2
  const isInNamespace = segments[behind] === 'namespaces'
  const isScoped =
    isInNamespace && segments.length > behind + 2 && !namespaceSubresources.includes(segmentAt(segments, behind + 2))
  const place = isScoped ? behind + 2 : behind
  const name = segmentAt(segments, place + 1)
  const rest = place + (verbInPath === 'proxy' ? 2 : 3)
  return {
    kind: 'resource',
    verb: verbInPath ?? verbOf(method, name, query),
    hasVerbInPath: verbInPath !== undefined,
    group: isCore ? '' : segmentAt(segments, 1),
    version: segmentAt(segments, start),
    isScoped,
    namespace: isInNamespace ? segmentAt(segments, behind + 1) : '',
    resource: segmentAt(segments, place),
    name,
    subresource: verbInPath === 'proxy' ? '' : segmentAt(segments, place + 2),
    rest: segments.length > rest ? segments.slice(rest) : noSegments,
  }
}

/** A request for one object is never a list or a watch, whatever its query says. */
function verbOf(method: string, name: string, query: URLSearchParams): Verb {
  const verb = lookup(methodVerbs, method) ?? ''
  if (name !== '') return verb
  if (verb === 'get') return booleanParameter(query, 'watch') ? 'watch' : 'list'
  return verb === 'delete' ? 'deletecollection' : verb
}
