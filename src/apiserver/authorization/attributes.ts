// AccessAttributes: what an authorizer decides on: the user, the verb and the resource or path.
import { parseFieldSelector } from '../../api/selectors/field-selector-text.ts'
import { parseLabelSelector } from '../../api/selectors/label-selector-text.ts'
import type { Selector } from '../../api/selectors/selectors.ts'
import { pathSegmentErrors } from '../../api/validation/names.ts'
import type { ApiRequest, ResourceTarget, User } from '../request/request.ts'

export interface ResourceAttributes {
  readonly kind: 'resource'
  readonly user: User
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** The selectors of a list, watch or deletecollection; undefined if there is none or it is invalid. */
  readonly fields: Selector | undefined
  readonly labels: Selector | undefined
}

export interface PathAttributes {
  readonly kind: 'path'
  readonly user: User
  readonly verb: string
  readonly path: string
}

export type AccessAttributes = ResourceAttributes | PathAttributes

export const resourceAttributes = (
  user: User,
  verb: string,
  rest: Partial<Omit<ResourceAttributes, 'kind' | 'user' | 'verb'>>,
): ResourceAttributes => ({
  kind: 'resource',
  user,
  verb,
  group: '',
  version: '*',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  fields: undefined,
  labels: undefined,
  ...rest,
})

/** `prefix` is that of the verb, such as `impersonate-on:user-info:`. */
export function attributesOf(
  user: User,
  { target, query }: Pick<ApiRequest, 'target' | 'query'>,
  prefix = '',
): AccessAttributes {
  const asked = prefix + target.verb
  if (target.kind === 'path') return { kind: 'path', user, verb: asked, path: target.path }
  const { resource, subresource, verb, name } = target
  const { group, version, plural } = resource
  const namespace = namespaceOf(target)
  const common = {
    kind: 'resource',
    user,
    verb: asked,
    group,
    version,
    resource: plural,
    subresource,
    namespace,
  } as const
  if (verb !== 'list' && verb !== 'watch' && verb !== 'deletecollection')
    return { ...common, name, fields: undefined, labels: undefined }
  const fields = once(() => parsed(query.get('fieldSelector'), parseFieldSelector))
  const labels = once(() => parsed(query.get('labelSelector'), parseLabelSelector))
  const isOfOne = verb !== 'deletecollection' && !target.hasVerbInPath
  return {
    ...common,
    // Selectors are parsed when an authorizer reads them, so requests of clients without permissions are not parsed.
    get name() {
      return name === '' && isOfOne ? nameIn(fields()) : name
    },
    get fields() {
      return fields()
    },
    get labels() {
      return labels()
    },
  }
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => (made ??= { value: make() }).value
}

/** A namespace belongs to itself, so a role in it may allow access to it. */
const namespaceOf = ({ resource, namespace, name }: ResourceTarget): string =>
  resource.group === '' && resource.plural === 'namespaces' ? name : namespace

/** A list or watch with a field selector for one name is authorized by that name. */
function nameIn(fields: Selector | undefined): string {
  const name = fields?.find(({ key, operator }) => key === 'metadata.name' && operator === 'In')?.values[0] ?? ''
  return pathSegmentErrors(name).length === 0 ? name : ''
}

// An invalid selector is ignored here; the registry rejects it.
function parsed(text: string | null, parse: (text: string) => Selector): Selector | undefined {
  if (text === null || text === '') return undefined
  try {
    return parse(text)
  } catch {
    return undefined
  }
}
