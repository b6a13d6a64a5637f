// AuditPolicy: which requests are recorded, and at which level. The first matching rule applies.
import type { ConfigReader } from '../config/config-reader.ts'
import type { ApiRequest, Target, User } from '../request/request.ts'

export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type AuditLevel = (typeof auditLevels)[number]

export const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type AuditStage = (typeof auditStages)[number]

interface ResourceMatch {
  readonly group: string
  readonly resources: readonly string[]
  readonly names: readonly string[]
}

export interface AuditRule {
  readonly level: AuditLevel
  readonly users: readonly string[]
  readonly groups: readonly string[]
  readonly verbs: readonly string[]
  readonly resources: readonly ResourceMatch[]
  readonly namespaces: readonly string[]
  readonly paths: readonly string[]
  readonly omittedStages: ReadonlySet<AuditStage>
  readonly omitsManagedFields: boolean
}

export type AuditPolicy = readonly AuditRule[]

/** The rules of a Policy of audit.k8s.io/v1. */
export function auditPolicy(file: ConfigReader): AuditPolicy {
  file.oneOf('apiVersion', ['audit.k8s.io/v1'])
  file.oneOf('kind', ['Policy'])
  file.object('metadata')
  const omittedStages = stagesOf(file)
  const omitsManagedFields = file.boolean('omitManagedFields', false)
  const rules = file.objects('rules').map((rule) => ruleOf(rule, omittedStages, omitsManagedFields))
  file.rejectUnknownFields()
  if (rules.length === 0) throw file.error('rules', 'must not be empty')
  return rules
}

const stagesOf = (reader: ConfigReader): readonly AuditStage[] =>
  reader.strings('omitStages', []).map((text) => {
    const stage = auditStages.find((each) => each === text)
    if (stage === undefined)
      throw reader.error('omitStages', `${JSON.stringify(text)} is none of ${auditStages.join(', ')}`)
    return stage
  })

function ruleOf(rule: ConfigReader, omittedStages: readonly AuditStage[], omitsManagedFields: boolean): AuditRule {
  const found: AuditRule = {
    level: rule.oneOf('level', auditLevels),
    users: rule.strings('users', []),
    groups: rule.strings('userGroups', []),
    verbs: rule.strings('verbs', []),
    resources: rule.objects('resources').map(resourceMatchOf),
    namespaces: rule.strings('namespaces', []),
    paths: rule.strings('nonResourceURLs', []),
    omittedStages: new Set([...omittedStages, ...stagesOf(rule)]),
    omitsManagedFields: rule.boolean('omitManagedFields', omitsManagedFields),
  }
  rule.rejectUnknownFields()
  if (found.paths.length > 0 && (found.resources.length > 0 || found.namespaces.length > 0))
    throw rule.error('nonResourceURLs', 'rules cannot apply to both regular resources and non-resource URLs')
  for (const path of found.paths)
    if (path !== '*' && (!path.startsWith('/') || path.slice(0, -1).includes('*')))
      throw rule.error('nonResourceURLs', `${JSON.stringify(path)} must begin with / and have * only at its end`)
  return found
}

function resourceMatchOf(reader: ConfigReader): ResourceMatch {
  const match = {
    group: reader.string('group', ''),
    resources: reader.strings('resources', []),
    names: reader.strings('resourceNames', []),
  }
  reader.rejectUnknownFields()
  if (match.names.length > 0 && match.resources.length === 0)
    throw reader.error('resourceNames', 'using resourceNames requires at least one resource')
  return match
}

/** The rule that applies; undefined if the request is not recorded. */
export function matchingRule(
  policy: AuditPolicy,
  { target }: Pick<ApiRequest, 'target'>,
  user: User | undefined,
): AuditRule | undefined {
  const rule = policy.find((each) => isMatch(each, target, user))
  return rule?.level === 'None' ? undefined : rule
}

function isMatch(rule: AuditRule, target: Target, user: User | undefined): boolean {
  if (rule.users.length > 0 && !(user !== undefined && rule.users.includes(user.name))) return false
  if (rule.groups.length > 0 && !user?.groups.some((group) => rule.groups.includes(group))) return false
  if (rule.verbs.length > 0 && !rule.verbs.includes(target.verb)) return false
  if (rule.namespaces.length > 0 || rule.resources.length > 0)
    return target.kind === 'resource' && isResourceMatch(rule, target)
  return rule.paths.length === 0 || (target.kind === 'path' && rule.paths.some((path) => isPath(path, target.path)))
}

const isPath = (pattern: string, path: string): boolean =>
  pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern

function isResourceMatch(rule: AuditRule, target: Extract<Target, { kind: 'resource' }>): boolean {
  const { resource, subresource, namespace, name } = target
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(namespace)) return false
  if (rule.resources.length === 0) return true
  const whole = subresource === '' ? resource.plural : `${resource.plural}/${subresource}`
  const isNamed = (pattern: string) =>
    pattern === '*' ||
    pattern === whole ||
    pattern === `${resource.plural}/*` ||
    (subresource !== '' && pattern === `*/${subresource}`)
  return rule.resources.some(
    ({ group, resources, names }) =>
      group === resource.group &&
      (resources.length === 0 || ((names.length === 0 || names.includes(name)) && resources.some(isNamed))),
  )
}
