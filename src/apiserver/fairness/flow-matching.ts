// FlowMatcher: the FlowSchema of a request. The matching one with the lowest precedence wins.
import type { FlowSchema } from '../../api/flowcontrol/v1/flow-schema.ts'
import type {
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../../api/flowcontrol/v1/flow-schema-spec.ts'
import type { ApiRequest, Target, User } from '../request/request.ts'
import { serviceAccountOf } from '../request/user-names.ts'

interface MatchingRules {
  readonly schema: FlowSchema
  readonly rules: readonly PolicyRulesWithSubjects[]
}

export class FlowMatcher {
  readonly #schemas: readonly FlowSchema[]
  /** Components of this process use the same User object for all requests, so the schemas of a user are cached. */
  readonly #bySubject = new WeakMap<User, readonly MatchingRules[]>()

  constructor(schemas: readonly FlowSchema[]) {
    this.#schemas = schemas.toSorted(
      (a, b) => a.spec.matchingPrecedence - b.spec.matchingPrecedence || (a.metadata.name < b.metadata.name ? -1 : 1),
    )
  }

  match(user: User, target: Target): FlowSchema | undefined {
    let concerned = this.#bySubject.get(user)
    if (concerned === undefined) {
      concerned = this.#concernedBy(user)
      this.#bySubject.set(user, concerned)
    }
    return concerned.find(({ rules }) => rules.some((rule) => matchesRule(rule, target)))?.schema
  }

  #concernedBy(user: User): readonly MatchingRules[] {
    return this.#schemas.flatMap((schema) => {
      const rules = (schema.spec.rules ?? []).filter(({ subjects }) => subjects.some((each) => isSubject(each, user)))
      return rules.length === 0 ? [] : [{ schema, rules }]
    })
  }
}

function isSubject({ kind, user: byName, group, serviceAccount }: Subject, user: User): boolean {
  switch (kind) {
    case 'User':
      return byName !== undefined && (byName.name === '*' || byName.name === user.name)
    case 'Group':
      return group !== undefined && (group.name === '*' || user.groups.includes(group.name))
    case 'ServiceAccount': {
      const account = serviceAccountOf(user.name)
      if (account === undefined || serviceAccount === undefined) return false
      const { namespace, name } = serviceAccount
      return namespace === account.namespace && (name === '*' || name === account.name)
    }
    default:
      return false
  }
}

const matchesRule = (
  { resourceRules = [], nonResourceRules = [] }: PolicyRulesWithSubjects,
  target: Target,
): boolean =>
  target.kind === 'path'
    ? nonResourceRules.some((rule) => matchesPath(rule, target))
    : resourceRules.some((rule) => matchesResource(rule, target))

const includes = (list: readonly string[], value: string): boolean => list.includes('*') || list.includes(value)

function matchesPath(
  { verbs, nonResourceURLs }: NonResourcePolicyRule,
  { verb, path }: Extract<Target, { kind: 'path' }>,
): boolean {
  if (!includes(verbs, verb)) return false
  return nonResourceURLs.some((url) => (url.endsWith('*') ? path.startsWith(url.slice(0, -1)) : url === path))
}

function matchesResource(rule: ResourcePolicyRule, target: Extract<Target, { kind: 'resource' }>): boolean {
  const { verb, resource, subresource, namespace } = target
  if (!includes(rule.verbs, verb) || !includes(rule.apiGroups, resource.group)) return false
  const whole = subresource === '' ? resource.plural : `${resource.plural}/${subresource}`
  if (!includes(rule.resources, whole)) return false
  return namespace === '' ? (rule.clusterScope ?? false) : includes(rule.namespaces ?? [], namespace)
}

/** The flow distinguisher of a request. */
export function flowOf({ spec, metadata }: FlowSchema, { target, user }: Pick<ApiRequest, 'target' | 'user'>): string {
  const method = spec.distinguisherMethod?.type
  if (method === 'ByUser') return `${metadata.name}/${user?.name}`
  if (method === 'ByNamespace') return `${metadata.name}/${target.kind === 'resource' ? target.namespace : ''}`
  return metadata.name
}
