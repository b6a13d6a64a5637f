// The schemas of custom kinds and their lists in OpenAPI documents.
import { groupVersions as builtInGroupVersions } from '../../api/kinds.ts'
import { scale } from '../../api/autoscaling/v1/scale.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { deleteOptions } from '../../api/meta/v1/delete-options.ts'
import { patch } from '../../api/meta/v1/discovery-types.ts'
import { objectMeta } from '../../api/meta/v1/object-meta.ts'
import { listMeta, status } from '../../api/meta/v1/status.ts'
import { OpenApiSchemas, openApi3, type OpenApiDialect, type OpenApiSchema } from '../../schema/openapi/openapi.ts'
import { objectProperties } from '../../schema/openapi/type-properties.ts'
import { listNameOf } from './openapi-operations.ts'
import { addNamed, gvk } from './openapi-schemas.ts'

export type NamedSchemas = Readonly<Record<string, OpenApiSchema>>

/** The schemas of the kinds themselves, without those that they refer to. */
export const customSchemas = (kinds: readonly Kind[], dialect: OpenApiDialect): NamedSchemas =>
  Object.fromEntries(
    kinds.flatMap((kind) => [
      [kind.message.name, { ...kind.custom?.publishedSchema(dialect), ...extensionsOf(kind, kind.kind) }],
      [listNameOf(kind), listSchema(kind, dialect)],
    ]),
  )

function extensionsOf(kind: Kind, name: string): OpenApiSchema {
  const fields = Object.keys(kind.fieldLabels).map((fieldPath) => ({ fieldPath }))
  return {
    'x-kubernetes-group-version-kind': [gvk({ ...kind, kind: name })],
    ...(fields.length === 0 ? {} : { 'x-kubernetes-selectable-fields': fields }),
  }
}

function listSchema(kind: Kind, dialect: OpenApiDialect): OpenApiSchema {
  const listKind = kind.custom?.listKind ?? ''
  const { apiVersion, kind: type } = objectProperties(dialect)
  return {
    description: `${listKind} is a list of ${kind.kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion,
      items: {
        description: `The ${kind.plural}.`,
        type: 'array',
        items: { $ref: dialect.root + kind.message.name },
      },
      kind: type,
      metadata: {
        description: 'The metadata of the list.',
        ...dialect.besides({ $ref: dialect.root + listMeta.name }),
      },
    },
    ...extensionsOf(kind, listKind),
  }
}

/** Shared by all documents of custom kinds. */
const referred = new Map<boolean, NamedSchemas>()

/** The schemas that custom kinds and their operations refer to, for documents of version 3. */
export function schemasOfCustomOperations(kinds: readonly Kind[]): NamedSchemas {
  const hasScale = kinds.some((kind) => kind.scale !== undefined)
  const known = referred.get(hasScale)
  if (known !== undefined) return known
  const schemas = new OpenApiSchemas(openApi3)
  for (const message of [listMeta, objectMeta, patch]) schemas.add(message)
  addNamed(
    schemas,
    deleteOptions,
    builtInGroupVersions.map((each) => ({ ...each, kind: 'DeleteOptions' })),
  )
  addNamed(schemas, status, [{ group: '', version: 'v1', kind: 'Status' }])
  if (hasScale) addNamed(schemas, scale, [{ group: 'autoscaling', version: 'v1', kind: 'Scale' }])
  const made = schemas.toObject()
  referred.set(hasScale, made)
  return made
}
