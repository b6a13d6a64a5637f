// The parts of which the schemas of the Gateway API consist: names, references, conditions and columns.
import type { CustomResourceDefinitionInput } from '../../api/apiextensions/v1/custom-resource-definition.ts'

export const gatewayGroup = 'gateway.networking.k8s.io'
/** The release whose standard channel these definitions implement. */
export const bundleVersion = 'v1.4.0'

type Version = NonNullable<CustomResourceDefinitionInput['spec']['versions']>[number]
export type Schema = NonNullable<NonNullable<Version['schema']>['openAPIV3Schema']>
export type Rule = NonNullable<Schema['x-kubernetes-validations']>[number]
type Column = NonNullable<Version['additionalPrinterColumns']>[number]

export const rule = (message: string, expression: string): Rule => ({ message, rule: expression })

export const withRules = (schema: Schema, ...rules: readonly Rule[]): Schema => ({
  ...schema,
  'x-kubernetes-validations': [...(schema['x-kubernetes-validations'] ?? []), ...rules],
})

export const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 ? { required } : {}),
})

export const atomicList = (items: Schema, maxItems: number): Schema => ({
  type: 'array',
  items,
  maxItems,
  'x-kubernetes-list-type': 'atomic',
})

/** A list whose elements are merged by a key. */
export const keyedList = (items: Schema, maxItems: number, key: string): Schema => ({
  type: 'array',
  items,
  maxItems,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [key],
})

export const text = (maxLength: number, minLength = 1, pattern?: string): Schema => ({
  type: 'string',
  maxLength,
  ...(minLength > 0 ? { minLength } : {}),
  ...(pattern === undefined ? {} : { pattern }),
})

export const choice = (...values: readonly string[]): Schema => ({ type: 'string', enum: values })

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
export const subdomain = `${label}(\\.${label})*`

export const group: Schema = text(253, 0, `^$|^${subdomain}$`)
export const kindName: Schema = text(63, 1, '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$')
export const namespaceName: Schema = text(63, 1, `^${label}$`)
export const objectName: Schema = text(253)
export const sectionName: Schema = text(253, 1, `^${subdomain}$`)
export const hostnamePattern = `^(\\*\\.)?${subdomain}$`
export const hostname: Schema = text(253, 1, hostnamePattern)
export const preciseHostname: Schema = text(253, 1, `^${subdomain}$`)
export const portNumber: Schema = { type: 'integer', format: 'int32', minimum: 1, maximum: 65_535 }
export const headerName: Schema = text(256, 1, "^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$")
export const controllerName: Schema = text(
  253,
  1,
  `^${subdomain}\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$`, // A domain and a path.
)
/** A duration of Go with up to four parts, as GEP-2257 restricts it. */
export const duration: Schema = { type: 'string', pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$' }

export const annotations = (maxProperties: number): Schema => ({
  type: 'object',
  maxProperties,
  additionalProperties: text(4_096, 0),
})

const condition: Schema = object(
  {
    lastTransitionTime: { type: 'string', format: 'date-time' },
    message: text(32_768, 0),
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
    reason: text(1_024, 1, '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'),
    status: choice('True', 'False', 'Unknown'),
    type: text(316, 1, `^(${subdomain}/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`),
  },
  ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
)
export const conditions: Schema = keyedList(condition, 8, 'type')

/** What a new object has until its controller reports on it. */
export const pendingConditions = (...types: readonly string[]) =>
  types.map((type) => ({
    type,
    status: 'Unknown',
    reason: 'Pending',
    message: 'Waiting for controller',
    lastTransitionTime: '1970-01-01T00:00:00Z',
  }))

export const column = (name: string, jsonPath: string, type = 'string', priority = 0): Column => ({
  name,
  jsonPath,
  type,
  ...(priority === 0 ? {} : { priority }),
})
export const conditionColumn = (type: string): Column => column(type, `.status.conditions[?(@.type=="${type}")].status`)
export const ageColumn: Column = column('Age', '.metadata.creationTimestamp', 'date')

export interface Definition {
  readonly kind: string
  readonly plural: string
  readonly shortNames?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly scope: 'Cluster' | 'Namespaced'
  /** The served versions, which have the same schema. The first is stored. */
  readonly versions: readonly string[]
  readonly spec: Schema
  readonly status?: Schema
  readonly columns: readonly Column[]
}

export function definition(of: Definition): CustomResourceDefinitionInput {
  const { kind, plural, shortNames = [], labels, scope, versions, spec, status, columns } = of
  const base = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } } as const
  const properties = { ...base, spec, ...(status === undefined ? {} : { status }) }
  return {
    metadata: {
      name: `${plural}.${gatewayGroup}`,
      ...(labels === undefined ? {} : { labels }),
      annotations: {
        'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/3328',
        'gateway.networking.k8s.io/bundle-version': bundleVersion,
        'gateway.networking.k8s.io/channel': 'standard',
      },
    },
    spec: {
      group: gatewayGroup,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames.length > 0 ? { shortNames } : {}),
        categories: ['gateway-api'],
      },
      scope,
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: object(properties, ['spec']) },
        additionalPrinterColumns: columns,
        ...(status === undefined ? {} : { subresources: { status: {} } }),
      })),
    },
  }
}
