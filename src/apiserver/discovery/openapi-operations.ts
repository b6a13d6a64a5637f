// Operations: what can be done at which path, with which parameters, body and response. OpenAPI v2 and v3 are two
// formats of the same list.
import { lookup } from '../../base/collections/lookup.ts'
import { append } from '../../base/collections/append.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { deleteOptions } from '../../api/meta/v1/delete-options.ts'
import { patch } from '../../api/meta/v1/discovery-types.ts'
import { status } from '../../api/meta/v1/status.ts'
import type { Subresource } from '../../api/kind/subresource.ts'
import {
  builtInShapes,
  customShapes,
  listShape,
  pretty,
  shapeOf,
  type OperationShape,
  type Parameters,
} from './operation-shapes.ts'
import { rootPath, subresourcesOf, verbsOf } from './served-resources.ts'

export interface Operation {
  readonly path: string
  readonly method: OperationShape['method']
  readonly action: string
  readonly id: string
  readonly tag: string
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly parameters: Parameters
  /** The name of the body's schema. */
  readonly body?: string
  /** The name of the response's schema; without one the response is text or a stream. */
  readonly response?: string
  readonly statuses: readonly number[]
  /** Objects of custom kinds have no protobuf and no strategic merge patches. */
  readonly isCustom: boolean
}

const idVerbs: Readonly<Record<string, string>> = {
  list: 'list',
  create: 'create',
  deletecollection: 'delete',
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

/** The name of the schema of lists. */
export const listNameOf = ({ message, kind, custom }: Kind): string =>
  `${message.name.slice(0, message.name.length - kind.length)}${custom?.listKind ?? `${kind}List`}`

export function operationsOf(kind: Kind): Operation[] {
  const verbs = verbsOf(kind)
  const root = rootPath(kind)
  const scoped = `${root}/${kind.namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`
  const object = kind.message.name
  const scope = kind.namespaced ? 'Namespaced' : ''
  const common = {
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    tag: `${groupTag(kind.group)}_${kind.version}`,
    isCustom: kind.custom !== undefined,
  }
  const shapes = kind.custom === undefined ? builtInShapes : customShapes
  const listName = listNameOf(kind)
  const idOf = (verb: string, middle: string) =>
    `${lookup(idVerbs, verb)}${capital(groupTag(kind.group))}${capital(kind.version)}${middle}`
  const bodies = { object, patch: patch.name, delete: deleteOptions.name }
  const made = (verb: string, path: string, middle: string, shape: OperationShape, response: string): Operation => ({
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
    list: listName,
    deletecollection: status.name,
    delete: kind.plural === 'pods' ? object : status.name,
  }
  const operations = verbs.flatMap((verb) => {
    const shape = shapeOf(shapes, verb)
    if (shape === undefined) return []
    const path = Object.hasOwn(shapes.collection, verb) ? scoped : `${scoped}/{name}`
    const middle = `${verb === 'deletecollection' ? 'Collection' : ''}${scope}${kind.kind}`
    return [made(verb, path, middle, shape, lookup(responseNames, verb) ?? object)]
  })
  if (kind.namespaced && verbs.includes('list'))
    operations.push(made('list', `${root}/${kind.plural}`, `${kind.kind}ForAllNamespaces`, listShape, listName))
  for (const part of subresourcesOf(kind))
    append(
      operations,
      subresourceOperations(part, `${scoped}/{name}/${part.name}`, `${scope}${kind.kind}`, made, object, shapes),
    )
  return operations
}

type Make = (verb: string, path: string, middle: string, shape: OperationShape, response: string) => Operation

function subresourceOperations(
  part: Subresource,
  path: string,
  middle: string,
  made: Make,
  object: string,
  shapes: typeof builtInShapes,
): Operation[] {
  const response = part.body?.name ?? object
  return part.verbs.flatMap((verb) => {
    const shape = shapeOf(shapes, verb)
    if (shape === undefined) return []
    const plain = made(verb, path, middle + capital(part.name), shape, response)
    const kind = plain.isCustom ? plain.kind : (part.response ?? plain.kind)
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
