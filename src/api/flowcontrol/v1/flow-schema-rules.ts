// Rules of a FlowSchema: its subjects and rules. The schemas that fairness requires are fixed.
import { append } from '../../../base/collections/append.ts'
import { forbidden, invalid, notSupported, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { dnsLabelErrors, dnsSubdomainErrors } from '../../validation/names.ts'
import { validateFlowConditions } from './condition-rules.ts'
import type {
  FlowSchemaSpec,
  FlowSchemaStatus,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from './flow-schema-spec.ts'

const matchingPrecedenceMax = 10_000
const distinguisherMethods = ['ByNamespace', 'ByUser']
const subjectKinds = ['Group', 'ServiceAccount', 'User']
const verbsKnown = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']

const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}
const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', group: { name } }))

/** The mandatory schemas: without them a request could match none. */
const fixedSpecs = new Map<string, object>([
  [
    'catch-all',
    {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: matchingPrecedenceMax,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: groups('system:unauthenticated', 'system:authenticated'), ...everything }],
    },
  ],
  [
    'exempt',
    {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: [{ subjects: groups('system:masters'), ...everything }],
    },
  ],
])

export function validateFlowSchema(name: string, spec: FlowSchemaSpec, status: FlowSchemaStatus): FieldError[] {
  const fixed = fixedSpecs.get(name)
  return [
    ...validatePrecedence(name, spec.matchingPrecedence),
    ...validateReferences(spec),
    ...(spec.rules ?? []).flatMap((rule, index) => validateRule(rule, `spec.rules[${index}]`)),
    ...(fixed === undefined || equalValues(spec, fixed)
      ? []
      : [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)]),
    ...validateFlowConditions(status.conditions ?? []),
  ]
}

function validatePrecedence(name: string, precedence: number): FieldError[] {
  const reject = (detail: string) => [invalid('spec.matchingPrecedence', precedence, detail)]
  if (precedence <= 0) return reject('must be a positive value')
  if (precedence > matchingPrecedenceMax) return reject(`must not be greater than ${matchingPrecedenceMax}`)
  return precedence === 1 && name !== 'exempt'
    ? reject("only the schema named 'exempt' may have matchingPrecedence 1")
    : []
}

function validateReferences({ distinguisherMethod: method, priorityLevelConfiguration }: FlowSchemaSpec): FieldError[] {
  const path = 'spec.priorityLevelConfiguration.name'
  const { name } = priorityLevelConfiguration
  const errors: FieldError[] = []
  if (method !== undefined && !distinguisherMethods.includes(method.type))
    errors.push(notSupported('spec.distinguisherMethod.type', method.type, distinguisherMethods))
  if (!name) errors.push(required(path, 'must reference a priority level'))
  else
    append(
      errors,
      dnsSubdomainErrors(name).map((detail) => invalid(path, name, detail)),
    )
  return errors
}

function validateRule(rule: Partial<PolicyRulesWithSubjects>, path: string): FieldError[] {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rule
  return [
    ...(subjects.length === 0 ? [required(`${path}.subjects`, 'subjects must contain at least one value')] : []),
    ...subjects.flatMap((subject, index) => validateSubject(subject, `${path}.subjects[${index}]`)),
    ...(resourceRules.length + nonResourceRules.length === 0
      ? [required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty')]
      : []),
    ...resourceRules.flatMap((resourceRule, index) =>
      validateResourceRule(resourceRule, `${path}.resourceRules[${index}]`),
    ),
    ...nonResourceRules.flatMap((nonResourceRule, index) =>
      validateNonResourceRule(nonResourceRule, `${path}.nonResourceRules[${index}]`),
    ),
  ]
}

/** The field of each kind of subject; the other two must be empty. */
const placeOfKind = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const

function validateSubject(subject: Subject, path: string): FieldError[] {
  const { kind } = subject
  if (!isSubjectKind(kind)) return [notSupported(`${path}.kind`, kind, subjectKinds)]
  const own = placeOfKind[kind]
  const errors = validateIdentity(subject, own, `${path}.${own}`)
  for (const [otherKind, other] of Object.entries(placeOfKind))
    if (other !== own && subject[other] !== undefined)
      errors.push(forbidden(`${path}.${other}`, `${other} is forbidden when subject kind is not '${otherKind}'`))
  return errors
}

const isSubjectKind = (kind: string): kind is keyof typeof placeOfKind => subjectKinds.includes(kind)

function validateIdentity(subject: Subject, place: 'serviceAccount' | 'user' | 'group', path: string): FieldError[] {
  const identity = subject[place]
  if (identity === undefined) return [required(path, `${place} is required when subject kind is '${subject.kind}'`)]
  const { name } = identity
  const errors = name ? [] : [required(`${path}.name`)]
  if (place !== 'serviceAccount') return errors
  const namespace = subject.serviceAccount?.namespace ?? ''
  if (name && name !== '*')
    append(
      errors,
      dnsSubdomainErrors(name).map((detail) => invalid(`${path}.name`, name, detail)),
    )
  if (namespace === '') errors.push(required(`${path}.namespace`, 'must specify namespace for service account'))
  else
    append(
      errors,
      dnsLabelErrors(namespace).map((detail) => invalid(`${path}.namespace`, namespace, detail)),
    )
  return errors
}

function validateResourceRule(rule: Partial<ResourcePolicyRule>, path: string): FieldError[] {
  const { apiGroups = [], resources = [], clusterScope = false } = rule
  const namespaces = rule.namespaces ?? []
  const errors = validateVerbs(rule.verbs ?? [], `${path}.verbs`)
  if (apiGroups.length === 0)
    errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'))
  else append(errors, validateWildcard(apiGroups, `${path}.apiGroups`, 'api groups'))
  if (resources.length === 0)
    errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'))
  else append(errors, validateWildcard(resources, `${path}.resources`, 'resources'))
  if (namespaces.length === 0 && !clusterScope)
    errors.push(
      required(`${path}.namespaces`, 'resource rules that are not cluster scoped must supply at least one namespace'),
    )
  return [...errors, ...validateNamespaces(namespaces, `${path}.namespaces`)]
}

function validateNamespaces(namespaces: readonly string[], path: string): FieldError[] {
  if (namespaces.includes('*')) return validateWildcard(namespaces, path, 'namespaces')
  return namespaces.flatMap((namespace, index) =>
    dnsLabelErrors(namespace).map((detail) =>
      invalid(`${path}[${index}]`, namespace, `each member of this list must be '*' or a DNS-1123 label; ${detail}`),
    ),
  )
}

function validateNonResourceRule({ verbs = [], nonResourceURLs = [] }: Partial<NonResourcePolicyRule>, path: string) {
  const at = `${path}.nonResourceURLs`
  const errors = validateVerbs(verbs, `${path}.verbs`)
  if (nonResourceURLs.length === 0) return [...errors, required(at, 'nonResourceURLs must contain at least one value')]
  if (nonResourceURLs.includes('*')) return [...errors, ...validateWildcard(nonResourceURLs, at, 'non-resource URLs')]
  for (const [index, url] of nonResourceURLs.entries()) {
    const detail = urlError(url)
    if (detail !== undefined) errors.push(invalid(`${at}[${index}]`, url, detail))
  }
  return errors
}

function validateVerbs(verbs: readonly string[], path: string): FieldError[] {
  if (verbs.length === 0) return [required(path, 'verbs must contain at least one value')]
  if (verbs.includes('*')) return validateWildcard(verbs, path, 'verbs')
  return verbs.every((verb) => verbsKnown.includes(verb)) ? [] : [notSupported(path, verbs, verbsKnown)]
}

const validateWildcard = (values: readonly string[], path: string, what: string): FieldError[] =>
  values.length > 1 && values.includes('*')
    ? [invalid(path, values, `if '*' is present, must not specify other ${what}`)]
    : []

function urlError(url: string): string | undefined {
  if (url === '') return 'must not be empty'
  if (url === '/') return undefined
  if (!url.startsWith('/')) return 'must start with slash'
  if (url.includes(' ')) return 'must not contain white-space'
  if (url.includes('//')) return 'must not contain double slash'
  const star = url.indexOf('*')
  return star >= 0 && !(star === url.length - 1 && url.endsWith('/*'))
    ? 'wildcard can only do suffix matching'
    : undefined
}
