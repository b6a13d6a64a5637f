// What the schemas of HTTPRoute and GRPCRoute share: parents, hostnames, backends, filters and status.
import {
  atomicList,
  choice,
  conditions,
  controllerName,
  gatewayGroup,
  group,
  headerName,
  hostname,
  keyedList,
  kindName,
  namespaceName,
  object,
  objectName,
  portNumber,
  rule,
  sectionName,
  text,
  withRules,
  type Rule,
  type Schema,
} from './schema-parts.ts'

/** A reference to a parent, or to an ancestor. */
export const parentRef = object(
  {
    group: { ...group, default: gatewayGroup },
    kind: { ...kindName, default: 'Gateway' },
    name: objectName,
    namespace: namespaceName,
    port: portNumber,
    sectionName,
  },
  ['name'],
)

/** The expression of a field that may be absent. */
export const orEmpty = (field: string): string => `(has(${field}) ? ${field} : '')`
const isSameParent = `a.group == b.group && a.kind == b.kind && a.name == b.name && ${orEmpty('a.__namespace__')} == ${orEmpty('b.__namespace__')}`

export const commonSpec = {
  hostnames: atomicList(hostname, 16),
  parentRefs: withRules(
    atomicList(parentRef, 32),
    rule(
      'sectionName must be specified when parentRefs includes 2 or more references to the same parent',
      `self.all(a, self.all(b, !(${isSameParent}) || has(a.sectionName) == has(b.sectionName)))`,
    ),
    rule(
      'sectionName must be unique when parentRefs includes 2 or more references to the same parent',
      `self.all(a, self.exists_one(b, ${isSameParent} && ${orEmpty('a.sectionName')} == ${orEmpty('b.sectionName')}))`,
    ),
  ),
} as const

/** For the list of rules. */
export const uniqueRuleNames = rule(
  'Rule name must be unique within the route',
  'self.all(a, !has(a.name) || self.exists_one(b, has(b.name) && b.name == a.name))',
)

const backendObjectFields = {
  group: { ...group, default: '' },
  kind: { ...kindName, default: 'Service' },
  name: objectName,
  namespace: namespaceName,
  port: portNumber,
} as const

const portOfService = rule(
  'Must have port for Service reference',
  "self.group != '' || self.kind != 'Service' || has(self.port)",
)

/** References to backends with weights and, where the kind of route has them, filters. */
export const backendRefs = (filters?: Schema): Schema =>
  atomicList(
    withRules(
      object(
        {
          ...backendObjectFields,
          ...(filters === undefined ? {} : { filters }),
          weight: { type: 'integer', format: 'int32', minimum: 0, maximum: 1_000_000, default: 1 },
        },
        ['name'],
      ),
      portOfService,
    ),
    16,
  )

const header = object({ name: headerName, value: text(4_096) }, ['name', 'value'])

const headerModifier = object({
  add: keyedList(header, 16, 'name'),
  remove: { type: 'array', items: { type: 'string' }, maxItems: 16, 'x-kubernetes-list-type': 'set' },
  set: keyedList(header, 16, 'name'),
})

const fraction = withRules(
  object(
    {
      denominator: { type: 'integer', format: 'int32', minimum: 1, default: 100 },
      numerator: { type: 'integer', format: 'int32', minimum: 0 },
    },
    ['numerator'],
  ),
  rule('numerator must be less than or equal to denominator', 'self.numerator <= self.denominator'),
)

const requestMirror = withRules(
  object(
    {
      backendRef: withRules(object(backendObjectFields, ['name']), portOfService),
      fraction,
      percent: { type: 'integer', format: 'int32', minimum: 0, maximum: 100 },
    },
    ['backendRef'],
  ),
  rule(
    'Only one of percent or fraction may be specified in HTTPRequestMirrorFilter',
    '!has(self.percent) || !has(self.fraction)',
  ),
)

const extensionRef = object({ group, kind: kindName, name: objectName }, ['group', 'kind', 'name'])

/** The filters of both kinds of routes, by the type that they belong to. */
export const commonFilters: FilterSchemas = {
  RequestHeaderModifier: ['requestHeaderModifier', headerModifier],
  ResponseHeaderModifier: ['responseHeaderModifier', headerModifier],
  RequestMirror: ['requestMirror', requestMirror],
  ExtensionRef: ['extensionRef', extensionRef],
}

export type FilterSchemas = Readonly<Record<string, readonly [field: string, schema: Schema]>>

/** A union: the type determines which field must be set. */
function filterSchema(known: FilterSchemas): Schema {
  const entries = Object.entries(known)
  const rules = entries.flatMap(([type, [field]]): Rule[] => [
    rule(
      `filter.${field} must be nil if the filter.type is not ${type}`,
      `self.type == '${type}' || !has(self.${field})`,
    ),
    rule(`filter.${field} must be specified for ${type} filter.type`, `self.type != '${type}' || has(self.${field})`),
  ])
  const fields = Object.fromEntries(entries.map(([, [field, schema]]) => [field, schema]))
  return withRules(object({ type: choice(...Object.keys(known)), ...fields }, ['type']), ...rules)
}

/** Filters other than mirrors and extensions occur once. */
export function filterList(known: FilterSchemas): Schema {
  const single = Object.keys(known).filter((type) => type !== 'RequestMirror' && type !== 'ExtensionRef')
  const rules = single.map((type) =>
    rule(`${type} filter cannot be repeated`, `self.filter(f, f.type == '${type}').size() <= 1`),
  )
  return withRules(atomicList(filterSchema(known), 16), ...rules)
}

export const routeStatus: Schema = object(
  {
    parents: atomicList(
      object({ conditions: { ...conditions, minItems: 1 }, controllerName, parentRef }, [
        'conditions',
        'controllerName',
        'parentRef',
      ]),
      32,
    ),
  },
  ['parents'],
)

/** The match of a value by its name. */
export const valueMatches = (valueLengthMax: number): Schema =>
  keyedList(
    object(
      {
        name: headerName,
        type: { ...choice('Exact', 'RegularExpression'), default: 'Exact' },
        value: text(valueLengthMax),
      },
      ['name', 'value'],
    ),
    16,
    'name',
  )
