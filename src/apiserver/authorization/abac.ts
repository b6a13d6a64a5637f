// ABAC: a file of policies, one JSON object per line, read once at the start.
import { lookup } from '../../base/lookup.ts'
import { isJsonObject } from '../../schema/json-value.ts'
import { allowed, noOpinion, type Authorizer } from './authorizer.ts'
import type { AccessAttributes } from './attributes.ts'
import { matchesPath } from './rbac/rule-table.ts'

interface Policy {
  readonly user: string
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
    authorize: (asked) => (policies.some((policy) => matches(policy, asked)) ? yes : no),
    rulesFor(user) {
      const own = policies.filter((policy) => isSubject(policy, user.name, user.groups))
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
    const spec =
      isJsonObject(value) && value['apiVersion'] === version && value['kind'] === 'Policy' ? value['spec'] : undefined
    if (!isJsonObject(spec)) throw new Error(`it is no Policy of ${version}`)
    const text = (key: string) => {
      const found = lookup(spec, key)
      return typeof found === 'string' ? found : ''
    }
    return {
      user: text('user'),
      group: text('group'),
      readonly: spec['readonly'] === true,
      apiGroup: text('apiGroup'),
      resource: text('resource'),
      namespace: text('namespace'),
      nonResourcePath: text('nonResourcePath'),
    }
  } catch (error) {
    throw new Error(`line ${number} of the ABAC policy file: ${(error as Error).message}`, { cause: error })
  }
}

/** Both must fit where both are given; a policy for nobody fits nobody. */
function isSubject({ user, group }: Policy, name: string, groups: readonly string[]): boolean {
  if (user === '' && group === '') return false
  const byUser = user === '' || user === '*' || user === name
  return byUser && (group === '' || group === '*' || groups.includes(group))
}

function matches(policy: Policy, asked: AccessAttributes): boolean {
  if (!isSubject(policy, asked.user.name, asked.user.groups)) return false
  if (policy.readonly && !readVerbs.includes(asked.verb)) return false
  if (asked.kind === 'path') return policy.nonResourcePath !== '' && matchesPath(policy.nonResourcePath, asked.path)
  const fits = (word: string, value: string) => word === '*' || word === value
  return (
    fits(policy.namespace, asked.namespace) &&
    fits(policy.resource, asked.resource) &&
    fits(policy.apiGroup, asked.group)
  )
}
