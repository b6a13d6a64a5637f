// target: what a method and a path mean: which verb on which kind, or a path of the server's own.
import { kinds } from '../api/kinds.ts'
import type { Kind } from '../api/kind.ts'
import { getOrMake } from '../base/get-or-make.ts'
import { methodVerbs } from '../api/method-verbs.ts'
import { methodNotAllowed, pathNotFound } from '../api/status-error.ts'
import { booleanOf } from './query.ts'
import type { Target, Verb } from './request.ts'

/** By version, then by the plural of the name. */
const byPath = new Map<string, Map<string, Kind>>()
for (const kind of kinds) getOrMake(byPath, kind.apiVersion, () => new Map<string, Kind>()).set(kind.plural, kind)

/** What stands between slashes. To look for them one by one costs half of `split`, which remembers texts. */
function segmentsOf(path: string): string[] {
  const parts: string[] = []
  for (let start = 0; start < path.length;) {
    const slash = path.indexOf('/', start)
    const end = slash < 0 ? path.length : slash
    if (end > start) parts.push(path.slice(start, end))
    start = end + 1
  }
  return parts
}

export function targetOf(method: string, path: string, query: URLSearchParams, accept: string): Target {
  const raw = segmentsOf(path)
  const parts = path.includes('%') ? raw.map(decodeURIComponent) : raw
  const isCore = parts[0] === 'api'
  const behind = isCore ? 2 : 3
  // The old form of a watch: /api/v1/watch/pods.
  const isWatch = parts[behind] === 'watch' && parts.length > behind + 1
  const from = isWatch ? behind + 1 : behind
  if ((!isCore && parts[0] !== 'apis') || parts.length <= from)
    return { kind: 'path', verb: method.toLowerCase(), path, accept }
  const apiVersion = isCore ? (parts[1] ?? '') : `${parts[1]}/${parts[2]}`
  const isScoped =
    parts[from] === 'namespaces' && parts.length > from + 2 && !isNamespaceSubresource(parts, from, apiVersion)
  const at = isScoped ? from + 2 : from
  const [plural = '', name = '', subresource = ''] = [parts[at], parts[at + 1], parts[at + 2]]
  const more = Math.max(0, parts.length - at - 3)
  const resource = byPath.get(apiVersion)?.get(plural)
  const isProxied = subresource === 'proxy'
  if (resource === undefined || (more > 0 && !isProxied) || (isScoped && !resource.namespaced)) throw pathNotFound()
  const verb = isWatch && method === 'GET' ? 'watch' : verbOf(method, resource, name, query)
  if (verb === 'create' && name === '' && resource.namespaced && !isScoped) throw methodNotAllowed(resource, 'create')
  const namespace = isScoped ? (parts[from + 1] ?? '') : ''
  const found = { kind: 'resource', verb, resource, subresource, namespace, name } as const
  if (!isProxied) return found
  // What goes on to another server goes as it came.
  const onward = raw.slice(raw.length - more).join('/')
  return { ...found, path: `/${onward}${onward !== '' && path.endsWith('/') ? '/' : ''}` }
}

/** What a path is about that targetOf refuses: as much as rights and records need. */
export function unservedTarget(method: string, path: string, accept: string): Target {
  const parts = segmentsOf(path)
  const isCore = parts[0] === 'api'
  const [version = '', ...rest] = parts.slice(isCore ? 1 : 2)
  const isScoped = rest[0] === 'namespaces' && rest.length > 2
  const [plural, name = '', subresource = ''] = isScoped ? rest.slice(2) : rest
  const verb = methodVerbs[method]
  if ((!isCore && parts[0] !== 'apis') || plural === undefined || verb === undefined)
    return { kind: 'path', verb: method.toLowerCase(), path, accept }
  const group = isCore ? '' : (parts[1] ?? '')
  const apiVersion = isCore ? version : `${group}/${version}`
  const served = byPath.get(apiVersion)?.get(plural)
  // Nothing else of it is asked for: a request for it ends where it would be read.
  const resource = served ?? ({ group, version, plural, apiVersion, namespaced: isScoped } as Kind)
  const namespace = isScoped ? (rest[1] ?? '') : ''
  const asked = name === '' ? (verb === 'get' ? 'list' : verb === 'delete' ? 'deletecollection' : verb) : verb
  return { kind: 'resource', verb: asked, resource, subresource, namespace, name, isUnserved: true }
}

// /api/v1/namespaces/x/status is a part of a namespace, /api/v1/namespaces/x/pods a collection in it.
const isNamespaceSubresource = (parts: readonly string[], from: number, apiVersion: string): boolean =>
  parts.length === from + 3 && apiVersion === 'v1' && (parts[from + 2] === 'status' || parts[from + 2] === 'finalize')

function verbOf(method: string, resource: Kind, name: string, query: URLSearchParams): Verb {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (booleanOf(query, 'watch')) return 'watch'
      return name === '' ? 'list' : 'get'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete'
    default:
      throw methodNotAllowed(resource, method.toLowerCase())
  }
}
