// RuleTable: the rules of one role, compiled into lookup tables that all its bindings share.
import { append } from '../../../base/collections/append.ts'
import { withoutTrailing } from '../../../base/text/without-trailing.ts'
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { PolicyRule } from '../../../api/rbac/v1/policy-rule.ts'
import type { AccessAttributes, PathAttributes, ResourceAttributes } from '../attributes.ts'

/** The resource names of a rule, or all. */
type Names = Set<string> | 'all'
type ByResource = Map<string, Names>
type ByGroup = Map<string, ByResource>

const wildcard = '*'

export class RuleTable {
  readonly rules: readonly PolicyRule[]
  readonly #byVerb = new Map<string, ByGroup>()
  readonly #pathsByVerb = new Map<string, string[]>()
  #isCompiled = false

  constructor(rules: readonly PolicyRule[]) {
    this.rules = rules
  }

  allows(attributes: AccessAttributes): boolean {
    if (!this.#isCompiled) this.#compile()
    if (attributes.kind === 'path') return this.#allowsPath(attributes)
    return this.#allowsVerb(attributes.verb, attributes) || this.#allowsVerb(wildcard, attributes)
  }

  #allowsVerb(verb: string, attributes: ResourceAttributes): boolean {
    const groups = this.#byVerb.get(verb)
    return (
      groups !== undefined &&
      (isNamed(groups.get(attributes.group), attributes) || isNamed(groups.get(wildcard), attributes))
    )
  }

  #allowsPath({ verb, path }: PathAttributes): boolean {
    const matches = (rule: string) => matchesPath(rule, path)
    return [verb, wildcard].some((word) => this.#pathsByVerb.get(word)?.some(matches) ?? false)
  }

  /** Compiled on first use, because most default roles are never used. */
  #compile(): void {
    this.#isCompiled = true
    for (const rule of this.rules) for (const verb of rule.verbs) this.#add(verb, rule)
  }

  #add(verb: string, { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): void {
    if (nonResourceURLs.length > 0)
      append(
        getOrInsert(this.#pathsByVerb, verb, () => []),
        nonResourceURLs,
      )
    const byGroup = getOrInsert(this.#byVerb, verb, () => new Map())
    for (const group of apiGroups) {
      const byResource = getOrInsert(byGroup, group, () => new Map())
      for (const resource of resources) addNames(byResource, resource, resourceNames)
    }
  }
}

/** A rule that ends with `*` matches every path with that prefix. */
export const matchesPath = (rule: string, path: string): boolean =>
  rule === path || (rule.endsWith(wildcard) && path.startsWith(withoutTrailing(rule, wildcard)))

/** A rule matches the resource with its subresource, every resource with the subresource, or everything. */
function isNamed(resources: ByResource | undefined, { resource, subresource, name }: ResourceAttributes): boolean {
  if (resources === undefined) return false
  const has = (key: string) => {
    const names = resources.get(key)
    return names !== undefined && (names === 'all' || names.has(name))
  }
  if (has(wildcard)) return true
  return subresource === '' ? has(resource) : has(`${resource}/${subresource}`) || has(`*/${subresource}`)
}

function addNames(byResource: ByResource, resource: string, names: readonly string[]): void {
  const known = byResource.get(resource)
  if (known === 'all' || names.length === 0) byResource.set(resource, 'all')
  else if (known === undefined) byResource.set(resource, new Set(names))
  else for (const name of names) known.add(name)
}
