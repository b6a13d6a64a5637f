// ABAC: a file of policies, one JSON object per line, read once at the start.
import { lookup } from '../../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject } from '../../../schema/json/json-value.ts'
import { authenticatedGroup } from '../../request/user-names.ts'
import { allowed, noOpinion, type Authorizer } from '../authorizer.ts'
import type { AccessAttributes } from '../attributes.ts'
import { matchesPath } from '../rbac/rule-table.ts'

interface Policy {
  /** Empty: any user. */
  readonly user: string
  /** Empty: any group. A policy without user and group matches no request. */
  readonly group: string
  readonly readonly: boolean
  readonly apiGroup: string
  readonly resource: string
  readonly namespace: string
  readonly nonResourcePath: string
}

const version = 'abac.authorization.kubernetes.io/v1beta1'
const readVerbs = ['get', 'list', 'watch']

export function abac(text: string): Authorizer {
  const policies = text.split('\n').flatMap((line, index) => {
    const isEmpty = line.trim() === '' || line.trim().startsWith('#')
    return isEmpty ? [] : [policyOf(line, index + 1)]
  })
  return {
    name: 'ABAC',
    authorize: (attributes) => (policies.some((policy) => matches(policy, attributes)) ? yes : no),
    rulesFor(user, namespace) {
      const own = policies.filter(
        (policy) => isSubject(policy, user.name, user.groups) && fits(policy.namespace, namespace),
      )
      const rules = own.flatMap(({ readonly, apiGroup, resource, nonResourcePath }) => {
        const verbs = readonly ? readVerbs : ['*']
        return [
          ...(resource === '' ? [] : [{ verbs, apiGroups: [apiGroup], resources: [resource] }]),
          ...(nonResourcePath === '' ? [] : [{ verbs, nonResourceURLs: [nonResourcePath] }]),
        ]
      })
      return { rules, incomplete: false, errors: [] }
    },
  }
}

const yes = allowed('ABAC: allowed by a policy of the file')
const no = noOpinion('No policy matched.')

function policyOf(line: string, number: number): Policy {
  try {
    const value: unknown = JSON.parse(line)
    if (!isJsonObject(value)) throw new Error('it is not an object')
    const { apiVersion, kind, spec } = value
    if (apiVersion === undefined && kind === undefined) return unversionedPolicy(value)
    if (apiVersion !== version || kind !== 'Policy' || !isJsonObject(spec))
      throw new Error(`it is no Policy of ${version}`)
    return forAuthenticated(fieldsOf(spec))
  } catch (error) {
    throw new Error(`line ${number} of the ABAC policy file: ${(error as Error).message}`, { cause: error })
  }
}

/** The format before v1beta1, in which an unset field matches everything. */
function unversionedPolicy(value: JsonObject): Policy {
  const { user, group, readonly, resource, namespace } = fieldsOf(value)
  return forAuthenticated({
    user: user === '' && group === '' ? '*' : user,
    group,
    readonly,
    apiGroup: '*',
    resource: resource === '' ? '*' : resource,
    namespace: namespace === '' ? '*' : namespace,
    nonResourcePath: resource === '' && namespace === '' ? '*' : '',
  })
}

/** A field of a wrong type is an error, so that `"readonly": "true"` does not become a policy that allows writes. */
function fieldsOf(value: JsonObject): Policy {
  const text = (key: string): string => {
    const found = lookup(value, key) ?? ''
    if (typeof found !== 'string') throw new Error(`${key} must be a string`)
    return found
  }
  const readonly = value['readonly'] ?? false
  if (typeof readonly !== 'boolean') throw new Error('readonly must be true or false')
  return {
    user: text('user'),
    group: text('group'),
    readonly,
    apiGroup: text('apiGroup'),
    resource: text('resource'),
    namespace: text('namespace'),
    nonResourcePath: text('nonResourcePath'),
  }
}

/** `*` matches every authenticated user, but not anonymous requests. */
const forAuthenticated = (policy: Policy): Policy =>
  policy.user === '*' || policy.group === '*' ? { ...policy, user: '', group: authenticatedGroup } : policy

function isSubject({ user, group }: Policy, name: string, groups: readonly string[]): boolean {
  if (user === '' && group === '') return false
  return (user === '' || user === name) && (group === '' || groups.includes(group))
}

const fits = (word: string, value: string): boolean => word === '*' || word === value

function matches(policy: Policy, attributes: AccessAttributes): boolean {
  if (!isSubject(policy, attributes.user.name, attributes.user.groups)) return false
  if (policy.readonly && !readVerbs.includes(attributes.verb)) return false
  if (attributes.kind === 'path') return matchesPath(policy.nonResourcePath, attributes.path)
  return (
    fits(policy.namespace, attributes.namespace) &&
    fits(policy.resource, attributes.resource) &&
    fits(policy.apiGroup, attributes.group)
  )
}
