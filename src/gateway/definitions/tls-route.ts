// The CustomResourceDefinition of TLSRoute.
import { backendRefs, commonSpec, routeStatus } from './route-parts.ts'
import { ageColumn, atomicList, definition, object, rule, sectionName, subdomain, withRules } from './schema-parts.ts'

const hostnames = withRules(
  { ...commonSpec.hostnames, minItems: 1 },
  rule('Hostnames cannot contain an IP', 'self.all(h, !isIP(h))'),
  rule(
    'Hostnames must be valid based on RFC-1123',
    `self.all(h, h.contains('*') || h.matches(r"""^(${subdomain})$"""))`,
  ),
  rule(
    'Wildcards on hostnames must be the first label, and the rest of hostname must be valid based on RFC-1123',
    `self.all(h, !h.contains('*') || (h.startsWith('*.') && h.substring(2).matches(r"""^(${subdomain})$""")))`,
  ),
)

const routeRule = object({ backendRefs: { ...backendRefs(), minItems: 1 }, name: sectionName }, ['backendRefs'])

export const tlsRouteDefinition = definition({
  kind: 'TLSRoute',
  plural: 'tlsroutes',
  scope: 'Namespaced',
  versions: ['v1'],
  spec: object({ ...commonSpec, hostnames, rules: { ...atomicList(routeRule, 1), minItems: 1 } }, [
    'hostnames',
    'rules',
  ]),
  status: routeStatus,
  columns: [ageColumn],
})
