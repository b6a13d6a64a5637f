// The CustomResourceDefinition of GRPCRoute.
import {
  backendRefs,
  commonFilters,
  commonSpec,
  filterList,
  routeStatus,
  uniqueRuleNames,
  valueMatches,
} from './route-parts.ts'
import {
  ageColumn,
  atomicList,
  choice,
  column,
  definition,
  object,
  rule,
  sectionName,
  text,
  withRules,
} from './schema-parts.ts'

const serviceCharacters = '^(?i)\\.?[a-z_][a-z_0-9]*(\\.[a-z_][a-z_0-9]*)*$'
const methodCharacters = '^[A-Za-z_][A-Za-z_0-9]*$'

const hasCharacters = (field: string, pattern: string) =>
  rule(
    `${field} must only contain valid characters (matching ${pattern})`,
    `self.type == 'RegularExpression' || !has(self.${field}) || self.${field}.matches(r"""${pattern}""")`,
  )

const method = withRules(
  object({
    method: text(1_024, 0),
    service: text(1_024, 0),
    type: { ...choice('Exact', 'RegularExpression'), default: 'Exact' },
  }),
  rule("One or both of 'service' or 'method' must be specified", 'has(self.service) || has(self.method)'),
  hasCharacters('service', serviceCharacters),
  hasCharacters('method', methodCharacters),
)

const rules = withRules(
  atomicList(
    object({
      backendRefs: backendRefs(filterList(commonFilters)),
      filters: filterList(commonFilters),
      matches: atomicList(object({ headers: valueMatches(4_096), method }), 64),
      name: sectionName,
    }),
    16,
  ),
  uniqueRuleNames,
  rule(
    'While 16 rules and 64 matches per rule are allowed, the total number of matches across all rules in a route must be less than 128',
    'self.map(r, has(r.matches) ? size(r.matches) : 0).sum() <= 128',
  ),
)

export const grpcRouteDefinition = definition({
  kind: 'GRPCRoute',
  plural: 'grpcroutes',
  scope: 'Namespaced',
  versions: ['v1'],
  spec: object({ ...commonSpec, rules }),
  status: routeStatus,
  columns: [column('Hostnames', '.spec.hostnames'), ageColumn],
})
