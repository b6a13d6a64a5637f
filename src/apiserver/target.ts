// target: what a method and a path mean: which verb on which kind, or a path of the server's own.
import { kinds } from '../api/kinds.ts'
import type { Kind } from '../api/kind.ts'
import { methodNotAllowed, pathNotFound } from '../api/status-error.ts'
import { booleanOf } from './query.ts'
import type { Target, Verb } from './request.ts'

const byPath = new Map(kinds.map((kind) => [`${kind.apiVersion}/${kind.plural}`, kind]))

export function targetOf(method: string, path: string, query: URLSearchParams, accept: string): Target {
  const raw = path.split('/').filter((part) => part !== '')
  const parts = path.includes('%') ? raw.map(decodeURIComponent) : raw
  const isCore = parts[0] === 'api'
  const behind = isCore ? parts.slice(2) : parts.slice(3)
  // The old form of a watch: /api/v1/watch/pods.
  const isWatch = behind[0] === 'watch' && behind.length > 1
  const rest = isWatch ? behind.slice(1) : behind
  if ((!isCore && parts[0] !== 'apis') || rest.length === 0)
    return { kind: 'path', verb: method.toLowerCase(), path, accept }
  const apiVersion = isCore ? (parts[1] ?? '') : `${parts[1]}/${parts[2]}`
  const isScoped = rest[0] === 'namespaces' && rest.length > 2 && !isNamespaceSubresource(rest, apiVersion)
  const [plural = '', name = '', subresource = '', ...more] = isScoped ? rest.slice(2) : rest
  const resource = byPath.get(`${apiVersion}/${plural}`)
  const isProxied = subresource === 'proxy'
  if (resource === undefined || (more.length > 0 && !isProxied) || (isScoped && !resource.namespaced))
    throw pathNotFound()
  const verb = isWatch && method === 'GET' ? 'watch' : verbOf(method, resource, name, query)
  if (verb === 'create' && name === '' && resource.namespaced && !isScoped) throw methodNotAllowed(resource, 'create')
  const namespace = isScoped ? (rest[1] ?? '') : ''
  const found = { kind: 'resource', verb, resource, subresource, namespace, name } as const
  if (!isProxied) return found
  // What goes on to another server goes as it came.
  const onward = raw.slice(raw.length - more.length).join('/')
  return { ...found, path: `/${onward}${onward !== '' && path.endsWith('/') ? '/' : ''}` }
}

/** What a path is about that targetOf refuses: as much as rights and records need. */
export function unservedTarget(method: string, path: string, accept: string): Target {
  const parts = path.split('/').filter((part) => part !== '')
  const isCore = parts[0] === 'api'
  const [version = '', ...rest] = parts.slice(isCore ? 1 : 2)
  const isScoped = rest[0] === 'namespaces' && rest.length > 2
  const [plural, name = '', subresource = ''] = isScoped ? rest.slice(2) : rest
  const verb = methodVerbs[method]
  if ((!isCore && parts[0] !== 'apis') || plural === undefined || verb === undefined)
    return { kind: 'path', verb: method.toLowerCase(), path, accept }
  const group = isCore ? '' : (parts[1] ?? '')
  const apiVersion = isCore ? version : `${group}/${version}`
  const served = byPath.get(`${apiVersion}/${plural}`)
  // Nothing else of it is asked for: a request for it ends where it would be read.
  const resource = served ?? ({ group, version, plural, apiVersion, namespaced: isScoped } as Kind)
  const namespace = isScoped ? (rest[1] ?? '') : ''
  const asked = name === '' ? (verb === 'get' ? 'list' : verb === 'delete' ? 'deletecollection' : verb) : verb
  return { kind: 'resource', verb: asked, resource, subresource, namespace, name, isUnserved: true }
}

const methodVerbs: Readonly<Record<string, Verb>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

// /api/v1/namespaces/x/status is a part of a namespace, /api/v1/namespaces/x/pods a collection in it.
const isNamespaceSubresource = (rest: readonly string[], apiVersion: string): boolean =>
  rest.length === 3 && apiVersion === 'v1' && ['status', 'finalize'].includes(rest[2] ?? '')

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
