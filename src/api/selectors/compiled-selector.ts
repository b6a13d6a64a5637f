// compiledLabels, compiledFields: a selector with many requirements as a predicate whose cost depends on the number of an
// object's labels, not on the length of the selector. Requirements on the same key are merged.
import { lookup } from '../../base/collections/lookup.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { int64 } from '../../schema/scalar/int64.ts'
import { matchesFields, matchesLabels, type Labels, type Requirement, type Selector } from './selectors.ts'

/** Shorter selectors are evaluated as they are. */
const compiledRequirementsMin = 8

/** All requirements on one key. */
interface KeyRules {
  /** The values that are possible, if only some are. */
  allowed: Set<string> | undefined
  readonly excluded: Set<string>
  above: bigint | undefined
  below: bigint | undefined
  isRequired: boolean
  isForbidden: boolean
}

type Rules = ReadonlyMap<string, KeyRules>

export type LabelsPredicate = (labels: Labels | undefined) => boolean

/** The same result as matchesLabels. */
export function compiledLabels(selector: Selector): LabelsPredicate {
  if (selector.length < compiledRequirementsMin) return (labels) => matchesLabels(selector, labels)
  const rules = mergedRules(selector)
  const required = new Map([...rules].filter(([, { isRequired }]) => isRequired))
  const optional = new Map([...rules].filter(([, { isRequired }]) => !isRequired))
  return (labels) => {
    // The first key that is absent ends it, so no more keys are looked up than there are labels.
    for (const [key, rule] of required) if (!isAllowed(rule, lookup(labels, key))) return false
    return labels === undefined || optional.size === 0 || haveNoneExcluded(labels, optional)
  }
}

/** A key without requirements of its own is only examined where the object has it: the smaller of both is walked. */
function haveNoneExcluded(labels: Labels, rules: Rules): boolean {
  if (rules.size <= countOf(labels)) {
    for (const [key, rule] of rules) if (!isAllowed(rule, lookup(labels, key))) return false
    return true
  }
  for (const key in labels) {
    const rule = rules.get(key)
    if (rule !== undefined && !isAllowed(rule, lookup(labels, key))) return false
  }
  return true
}

const counts = new WeakMap<Labels, number>()

/** Labels are not modified, and many selectors are evaluated with the same. */
const countOf = (labels: Labels): number => getOrInsert(counts, labels, () => Object.keys(labels).length)

/** The same result as matchesFields. */
export function compiledFields(selector: Selector): (valueOf: (key: string) => string) => boolean {
  if (selector.length < compiledRequirementsMin) return (valueOf) => matchesFields(selector, valueOf)
  const rules = mergedRules(selector)
  return (valueOf) => {
    for (const [key, rule] of rules) if (!isAllowed(rule, valueOf(key))) return false
    return true
  }
}

function mergedRules(selector: Selector): Rules {
  const rules = new Map<string, KeyRules>()
  for (const requirement of selector) merge(getOrInsert(rules, requirement.key, newRules), requirement)
  return rules
}

const newRules = (): KeyRules => ({
  allowed: undefined,
  excluded: new Set(),
  above: undefined,
  below: undefined,
  isRequired: false,
  isForbidden: false,
})

function merge(rules: KeyRules, { operator, values }: Requirement): void {
  if (operator !== 'NotIn' && operator !== 'DoesNotExist') rules.isRequired = true
  switch (operator) {
    case 'In':
      rules.allowed = rules.allowed === undefined ? new Set(values) : rules.allowed.intersection(new Set(values))
      return
    case 'NotIn':
      for (const value of values) rules.excluded.add(value)
      return
    case 'Exists':
      return
    case 'DoesNotExist':
      rules.isForbidden = true
      return
    case 'Gt':
    case 'Lt': {
      const bound = int64(values[0] ?? '')
      if (bound === undefined) rules.allowed = new Set()
      else if (operator === 'Gt') rules.above = rules.above === undefined || bound > rules.above ? bound : rules.above
      else rules.below = rules.below === undefined || bound < rules.below ? bound : rules.below
      return
    }
    default:
      operator satisfies never
      rules.allowed = new Set()
  }
}

function isAllowed(rules: KeyRules, value: string | undefined): boolean {
  const { allowed, excluded, above, below, isRequired, isForbidden } = rules
  if (value === undefined) return !isRequired
  if (isForbidden || allowed?.has(value) === false || excluded.has(value)) return false
  if (above === undefined && below === undefined) return true
  const number = int64(value)
  return number !== undefined && (above === undefined || number > above) && (below === undefined || number < below)
}
