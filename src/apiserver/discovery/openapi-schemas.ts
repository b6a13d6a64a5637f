// The schemas of an OpenAPI document: those of its kinds and their lists, and of bodies and responses.
import { lookup } from '../../base/collections/lookup.ts'
import { gatedKinds, kinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { deleteOptions } from '../../api/meta/v1/delete-options.ts'
import { apiResourceList, patch, watchEvent } from '../../api/meta/v1/discovery-types.ts'
import { listMeta, status } from '../../api/meta/v1/status.ts'
import type { Message } from '../../schema/descriptor/field.ts'
import { OpenApiSchemas, type OpenApiDialect, type OpenApiSchema } from '../../schema/openapi/openapi.ts'
import { metadataDescription, typeProperties } from '../../schema/openapi/type-properties.ts'
import { listNameOf } from './openapi-operations.ts'
import { subresourcesOf } from './served-resources.ts'

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export const gvk = ({ group, version, kind }: GroupVersionKind) => ({ group, kind, version })
const core = (kind: string): GroupVersionKind => ({ group: '', version: 'v1', kind })

/** Adds a top-level message, which has a kind and an apiVersion. */
export function addNamed(schemas: OpenApiSchemas, message: Message, kindsOf: readonly GroupVersionKind[]): void {
  schemas.add(message)
  const { type, description, ...schema } = schemas.get(message.name) ?? {}
  schemas.set(message.name, {
    ...(description === undefined ? {} : { description }),
    type,
    ...schema,
    properties: { ...typeProperties, ...described((schema['properties'] ?? {}) as Properties) },
    'x-kubernetes-group-version-kind': kindsOf.map(gvk),
  })
}

type Properties = Readonly<Record<string, OpenApiSchema>>

/** Descriptions of the fields that every object has. */
const usual: Readonly<Record<string, string>> = {
  metadata: metadataDescription,
  spec: 'The desired state.',
  status: 'The observed state, which is written by the system.',
}

const described = (properties: Properties): Properties =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      lookup(usual, name) === undefined || 'description' in schema
        ? schema
        : { description: lookup(usual, name), ...schema },
    ]),
  )

const ownKinds = [...kinds, ...gatedKinds]

/** The schemas of built-in kinds, and of everything that they refer to. */
export function schemasFor(served: readonly Kind[], dialect: OpenApiDialect): OpenApiSchemas {
  const schemas = new OpenApiSchemas(dialect)
  for (const kind of served) {
    schemas.add(kind.message)
    if (kind.computed === undefined || kind.computed.includes('list')) addList(schemas, kind)
    for (const { body, response } of subresourcesOf(kind))
      if (body !== undefined && !ownKinds.some(({ message }) => message === body))
        addNamed(schemas, body, [response ?? kind])
  }
  const everywhere = (name: string) => [
    core(name),
    ...new Map(served.map(({ group, version }) => [`${group}/${version}`, { group, version, kind: name }])).values(),
  ]
  addNamed(schemas, deleteOptions, uniqueKinds(everywhere('DeleteOptions')))
  addNamed(schemas, status, [core('Status')])
  addNamed(schemas, apiResourceList, [core('APIResourceList')])
  schemas.add(patch)
  schemas.add(watchEvent)
  schemas.set(watchEvent.name, {
    ...schemas.get(watchEvent.name),
    'x-kubernetes-group-version-kind': uniqueKinds(everywhere('WatchEvent')).map(gvk),
  })
  // Kinds of other groups are included too: a StatefulSet contains PersistentVolumeClaims.
  for (const kind of ownKinds) if (schemas.has(kind.message.name)) addNamed(schemas, kind.message, [kind])
  return schemas
}

const uniqueKinds = (list: readonly GroupVersionKind[]): GroupVersionKind[] => [
  ...new Map(list.map((entry) => [JSON.stringify(gvk(entry)), entry])).values(),
]

/** `<Kind>List`: metadata and items. */
function addList(schemas: OpenApiSchemas, kind: Kind): void {
  schemas.add(listMeta)
  const { dialect } = schemas
  schemas.set(listNameOf(kind), {
    description: `A list of objects of the kind ${kind.kind}.`,
    type: 'object',
    required: ['items'],
    properties: {
      ...typeProperties,
      items: { type: 'array', items: dialect.withDefault(schemas.reference(kind.message.name), {}) },
      metadata: dialect.withDefault(schemas.reference(listMeta.name), {}),
    },
    'x-kubernetes-group-version-kind': [gvk({ ...kind, kind: `${kind.kind}List` })],
  })
}
