// The CustomResourceDefinition of HTTPRoute.
import {
  backendRefs,
  commonFilters,
  commonSpec,
  filterList,
  routeStatus,
  uniqueRuleNames,
  valueMatches,
  type FilterSchemas,
} from './route-parts.ts'
import {
  ageColumn,
  atomicList,
  choice,
  column,
  definition,
  duration,
  headerName,
  object,
  portNumber,
  preciseHostname,
  rule,
  sectionName,
  text,
  withRules,
  type Rule,
  type Schema,
} from './schema-parts.ts'

const pathRule = (message: string, condition: string): Rule =>
  rule(`${message} when type one of ['Exact', 'PathPrefix']`, `self.type == 'RegularExpression' || ${condition}`)

const forbidden = ['//', '/./', '/../', '%2f', '%2F', '#'].map((part) =>
  pathRule(`must not contain '${part}'`, `!self.value.contains('${part}')`),
)
const forbiddenEnds = ['/..', '/.'].map((end) =>
  pathRule(`must not end with '${end}'`, `!self.value.endsWith('${end}')`),
)
const pathCharacters = "^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$"

const path: Schema = {
  ...withRules(
    object({
      type: { ...choice('Exact', 'PathPrefix', 'RegularExpression'), default: 'PathPrefix' },
      value: { ...text(1_024, 0), default: '/' },
    }),
    pathRule("value must be an absolute path and start with '/'", "self.value.startsWith('/')"),
    ...forbidden,
    ...forbiddenEnds,
    rule(
      `must only contain valid characters (matching ${pathCharacters}) for types ['Exact', 'PathPrefix']`,
      `self.type == 'RegularExpression' || self.value.matches(r"""${pathCharacters}""")`,
    ),
  ),
  default: { type: 'PathPrefix', value: '/' },
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'] as const

const match = object({
  headers: valueMatches(4_096),
  method: choice(...methods),
  path,
  queryParams: valueMatches(1_024),
})

/** The type determines which field must be set. */
const isPaired = (type: string, field: string): readonly Rule[] => [
  rule(`${field} must be specified when type is set to '${type}'`, `self.type != '${type}' || has(self.${field})`),
  rule(`type must be '${type}' when ${field} is set`, `!has(self.${field}) || self.type == '${type}'`),
]

const pathModifier = withRules(
  object(
    {
      replaceFullPath: text(1_024, 0),
      replacePrefixMatch: text(1_024, 0),
      type: choice('ReplaceFullPath', 'ReplacePrefixMatch'),
    },
    ['type'],
  ),
  ...isPaired('ReplaceFullPath', 'replaceFullPath'),
  ...isPaired('ReplacePrefixMatch', 'replacePrefixMatch'),
)

const requestRedirect = object({
  hostname: preciseHostname,
  path: pathModifier,
  port: portNumber,
  scheme: choice('http', 'https'),
  statusCode: { type: 'integer', enum: [301, 302, 303, 307, 308], default: 302 },
})

/** A set of texts. */
const textSet = (items: Schema, maxItems: number): Schema => ({
  type: 'array',
  items,
  maxItems,
  'x-kubernetes-list-type': 'set',
})
/** A wildcard stands alone. */
const textSetOrAll = (field: string, others: string, items: Schema, maxItems: number): Schema =>
  withRules(
    textSet(items, maxItems),
    rule(`${field} cannot contain '*' alongside other ${others}`, "!('*' in self && self.size() > 1)"),
  )

const originPattern = '(^\\*$)|(^(http(s)?):\\/\\/(((\\*\\.)?([a-zA-Z0-9\\-]+\\.)*[a-zA-Z0-9-]+|\\*)(:([0-9]{1,5}))?)$)'

const cors = object({
  allowCredentials: { type: 'boolean' },
  allowHeaders: textSetOrAll('AllowHeaders', 'methods', headerName, 64),
  allowMethods: textSetOrAll('AllowMethods', 'methods', choice(...methods, '*'), 9),
  allowOrigins: textSetOrAll('AllowOrigins', 'origins', text(253, 1, originPattern), 64),
  exposeHeaders: textSet(headerName, 64),
  maxAge: { type: 'integer', format: 'int32', minimum: 1, default: 5 },
})

const filters: FilterSchemas = {
  ...commonFilters,
  CORS: ['cors', cors],
  RequestRedirect: ['requestRedirect', requestRedirect],
  URLRewrite: ['urlRewrite', object({ hostname: preciseHostname, path: pathModifier })],
}

const filterSchema = withRules(
  filterList(filters),
  rule(
    'May specify either httpRouteFilterRequestRedirect or httpRouteFilterRequestRewrite, but not both',
    "!self.exists(f, f.type == 'RequestRedirect') || !self.exists(f, f.type == 'URLRewrite')",
  ),
)

const hasOnePrefix =
  "(size(self.matches) == 1 && has(self.matches[0].path) && self.matches[0].path.type == 'PathPrefix')"
const replacesPrefix = (filter: string, field: string): string =>
  `has(${filter}.${field}) && has(${filter}.${field}.path) && ${filter}.${field}.path.type == 'ReplacePrefixMatch'`

const prefixRules = (
  [
    ['RequestRedirect', 'requestRedirect', 'when'],
    ['URLRewrite', 'urlRewrite', 'When'],
  ] as const
).flatMap(([type, field, when]): readonly Rule[] => [
  rule(
    `When using ${type} filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified`,
    `!has(self.filters) || !self.filters.exists(f, ${replacesPrefix('f', field)}) || ${hasOnePrefix}`,
  ),
  rule(
    `Within backendRefs, ${when} using ${type} filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified`,
    `!has(self.backendRefs) || !self.backendRefs.exists(b, has(b.filters) && b.filters.exists(f, ${replacesPrefix('f', field)})) || ${hasOnePrefix}`,
  ),
])

const timeouts = withRules(
  object({ backendRequest: duration, request: duration }),
  rule(
    'backendRequest timeout cannot be longer than request timeout',
    "!has(self.request) || !has(self.backendRequest) || duration(self.request) == duration('0s') || duration(self.backendRequest) <= duration(self.request)",
  ),
)

const defaultMatches = [{ path: { type: 'PathPrefix', value: '/' } }]

const routeRule = withRules(
  object({
    backendRefs: backendRefs(filterSchema),
    filters: filterSchema,
    matches: { ...atomicList(match, 64), default: defaultMatches },
    name: sectionName,
    timeouts,
  }),
  rule(
    'RequestRedirect filter must not be used together with backendRefs',
    '!has(self.backendRefs) || size(self.backendRefs) == 0 || !has(self.filters) || !self.filters.exists(f, has(f.requestRedirect))',
  ),
  ...prefixRules,
)

const rules: Schema = {
  ...withRules(
    { ...atomicList(routeRule, 16), minItems: 1 },
    uniqueRuleNames,
    rule(
      'While 16 rules and 64 matches per rule are allowed, the total number of matches across all rules in a route must be less than 128',
      'self.map(r, size(r.matches)).sum() <= 128',
    ),
  ),
  default: [{ matches: defaultMatches }],
}

export const httpRouteDefinition = definition({
  kind: 'HTTPRoute',
  plural: 'httproutes',
  scope: 'Namespaced',
  versions: ['v1', 'v1beta1'],
  spec: object({ ...commonSpec, rules }),
  status: routeStatus,
  columns: [column('Hostnames', '.spec.hostnames'), ageColumn],
})
