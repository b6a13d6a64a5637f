// Determines which rules other rules do not cover. Used by the escalation check and to update the default roles.
import type { PolicyRule } from '../../../api/rbac/v1/policy-rule.ts'
import { userWithName } from '../../request/request.ts'
import { resourceAttributes, type AccessAttributes } from '../attributes.ts'
import type { RuleTable } from './rule-table.ts'

const noUser = userWithName('')
/** Represents all names: no object can have this name. */
const everyName = '\0'

/** The subrules that the owned rules do not allow. */
export const uncoveredRules = (owned: RuleTable, rules: readonly PolicyRule[]): PolicyRule[] =>
  rules.flatMap(subrulesOf).filter((part) => !owned.allows(attributesOf(part)))

/** Splits a rule into rules with one verb and one resource or path. */
function subrulesOf(rule: PolicyRule): PolicyRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  return verbs.flatMap((verb) => [
    ...nonResourceURLs.map((path) => ({ verbs: [verb], nonResourceURLs: [path] })),
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) => {
        const part = { verbs: [verb], apiGroups: [group], resources: [resource] }
        return resourceNames.length === 0 ? [part] : resourceNames.map((name) => ({ ...part, resourceNames: [name] }))
      }),
    ),
  ])
}

function attributesOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): AccessAttributes {
  const [verb = ''] = verbs
  const [path] = nonResourceURLs ?? []
  if (path !== undefined) return { kind: 'path', user: noUser, verb, path }
  const [resource = '', subresource = ''] = (resources?.[0] ?? '').split('/')
  const [group = ''] = apiGroups ?? []
  const [name = everyName] = resourceNames ?? []
  return resourceAttributes(noUser, verb, { group, resource, subresource, name })
}

/** One line per resource or path, with all its verbs, as upstream's messages show them. */
export function ruleLines(parts: readonly PolicyRule[]): string[] {
  const verbsOf = new Map<string, string[]>()
  for (const part of parts) {
    const { apiGroups, resources, nonResourceURLs, resourceNames } = part
    const what = wordLists({
      APIGroups: apiGroups,
      Resources: resources,
      NonResourceURLs: nonResourceURLs,
      ResourceNames: resourceNames,
    })
    verbsOf.set(what, [...(verbsOf.get(what) ?? []), ...part.verbs])
  }
  return [...verbsOf].map(([what, verbs]) => `{${what}, ${wordLists({ Verbs: verbs })}}`).toSorted()
}

const wordLists = (lists: Readonly<Record<string, readonly string[] | undefined>>): string =>
  Object.entries(lists)
    .filter(([, words]) => words !== undefined && words.length > 0)
    .map(([name, words = []]) => `${name}:${quotedList(words)}`)
    .join(', ')

/** `["a" "b"]` */
export const quotedList = (words: readonly string[]): string =>
  `[${words.map((word) => JSON.stringify(word)).join(' ')}]`
