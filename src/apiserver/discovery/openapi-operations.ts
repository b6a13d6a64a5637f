// Operations: what can be done at which path, with which parameters, body and response. OpenAPI v2 and v3 are two
// formats of the same list.
import { lookup } from '../../base/collections/lookup.ts'
import { append } from '../../base/collections/append.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { deleteOptions } from '../../api/meta/v1/delete-options.ts'
import { patch } from '../../api/meta/v1/discovery-types.ts'
import { status } from '../../api/meta/v1/status.ts'
import type { Subresource } from '../../api/kind/subresource.ts'
import { rootPath, subresourcesOf, verbsOf } from './served-resources.ts'

export type ParameterType = 'string' | 'integer' | 'boolean'

export interface Operation {
  readonly path: string
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'patch'
  /** Upstream's names: `list`, `post`, `deletecollection`, `connect` … */
  readonly action: string
  readonly id: string
  readonly tag: string
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  /** Query parameters. */
  readonly parameters: Readonly<Record<string, ParameterType>>
  /** The name of the body's schema. */
  readonly body?: string
  /** The name of the response's schema; without one the response is text or a stream. */
  readonly response?: string
  readonly statuses: readonly number[]
}

const pretty = { pretty: 'string' } as const
const dryRun = { ...pretty, dryRun: 'string' } as const
const writing = { ...dryRun, fieldManager: 'string', fieldValidation: 'string' } as const
const listing = {
  ...pretty,
  allowWatchBookmarks: 'boolean',
  continue: 'string',
  fieldSelector: 'string',
  labelSelector: 'string',
  limit: 'integer',
  resourceVersion: 'string',
  resourceVersionMatch: 'string',
  sendInitialEvents: 'boolean',
  timeoutSeconds: 'integer',
  watch: 'boolean',
} as const
const deleting = {
  ...dryRun,
  gracePeriodSeconds: 'integer',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'boolean',
  orphanDependents: 'boolean',
  propagationPolicy: 'string',
} as const

type Shape = Pick<Operation, 'method' | 'action' | 'parameters' | 'statuses'> & {
  readonly takes?: 'object' | 'patch' | 'delete'
}

const collectionShapes: Readonly<Record<string, Shape>> = {
  list: { method: 'get', action: 'list', parameters: listing, statuses: [200] },
  create: { method: 'post', action: 'post', parameters: writing, takes: 'object', statuses: [200, 201, 202] },
  deletecollection: {
    method: 'delete',
    action: 'deletecollection',
    parameters: { ...listing, ...deleting },
    takes: 'delete',
    statuses: [200],
  },
}

const objectShapes: Readonly<Record<string, Shape>> = {
  get: { method: 'get', action: 'get', parameters: pretty, statuses: [200] },
  update: { method: 'put', action: 'put', parameters: writing, takes: 'object', statuses: [200, 201] },
  delete: { method: 'delete', action: 'delete', parameters: deleting, takes: 'delete', statuses: [200, 202] },
  patch: {
    method: 'patch',
    action: 'patch',
    parameters: { ...writing, force: 'boolean' },
    takes: 'patch',
    statuses: [200, 201],
  },
}

const idVerbs: Readonly<Record<string, string>> = {
  list: 'list',
  create: 'create',
  deletecollection: 'deleteCollection',
  get: 'read',
  update: 'replace',
  delete: 'delete',
  patch: 'patch',
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** `rbac.authorization.k8s.io` is `rbacAuthorization`; the group without a name is `core`. */
function groupTag(group: string): string {
  const [first = 'core', ...others] = group === '' ? ['core'] : group.replace(/\.k8s\.io$/, '').split('.')
  return first + others.map(capital).join('')
}

export function operationsOf(kind: Kind): Operation[] {
  const verbs = verbsOf(kind)
  const root = rootPath(kind)
  const scoped = `${root}/${kind.namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`
  const object = kind.message.name
  const scope = kind.namespaced ? 'Namespaced' : ''
  const common = {
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    tag: `${groupTag(kind.group)}_${kind.version}`,
  }
  const idOf = (verb: string, middle: string) =>
    `${lookup(idVerbs, verb)}${capital(groupTag(kind.group))}${capital(kind.version)}${middle}`
  const bodies = { object, patch: patch.name, delete: deleteOptions.name }
  const made = (verb: string, path: string, middle: string, shape: Shape, response: string): Operation => ({
    ...common,
    path,
    id: idOf(verb, middle),
    method: shape.method,
    action: shape.action,
    parameters: shape.parameters,
    ...(shape.takes === undefined ? {} : { body: bodies[shape.takes] }),
    response,
    statuses: shape.statuses,
  })
  const responseNames: Readonly<Record<string, string>> = {
    list: `${object}List`,
    deletecollection: status.name,
    delete: kind.plural === 'pods' ? object : status.name,
  }
  const operations = verbs.flatMap((verb) => {
    const [shape, path] = lookup(collectionShapes, verb)
      ? [lookup(collectionShapes, verb), scoped]
      : [lookup(objectShapes, verb), `${scoped}/{name}`]
    if (shape === undefined) return []
    return [made(verb, path, scope + kind.kind, shape, lookup(responseNames, verb) ?? object)]
  })
  const everywhere = collectionShapes['list']
  if (kind.namespaced && verbs.includes('list') && everywhere !== undefined)
    operations.push(made('list', `${root}/${kind.plural}`, `${kind.kind}ForAllNamespaces`, everywhere, `${object}List`))
  for (const part of subresourcesOf(kind))
    append(
      operations,
      subresourceOperations(part, `${scoped}/{name}/${part.name}`, `${scope}${kind.kind}`, made, object),
    )
  return operations
}

type Make = (verb: string, path: string, middle: string, shape: Shape, response: string) => Operation

function subresourceOperations(
  part: Subresource,
  path: string,
  middle: string,
  made: Make,
  object: string,
): Operation[] {
  const response = part.body?.name ?? object
  return part.verbs.flatMap((verb) => {
    const shape = lookup(objectShapes, verb) ?? lookup(collectionShapes, verb)
    if (shape === undefined) return []
    const plain = made(verb, path, middle + capital(part.name), shape, response)
    const kind = part.response ?? plain.kind
    if (!part.isStream) return [{ ...plain, kind, ...(plain.body === object ? { body: response } : {}) }]
    const { body: _, response: __, ...rest } = plain
    const stream: Operation = {
      ...rest,
      kind,
      action: part.name === 'log' ? 'get' : 'connect',
      id: part.name === 'log' ? rest.id : rest.id.replace(/^[a-z]+/, `connect${capital(shape.method)}`),
      parameters: { ...(part.name === 'log' ? pretty : {}), ...part.parameters },
      statuses: [200],
    }
    if (!part.takesPath) return [stream]
    return [stream, { ...stream, path: `${path}/{path}`, id: `${stream.id}WithPath` }]
  })
}
