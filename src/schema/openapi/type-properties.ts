// The properties that every object has: kind, apiVersion and metadata.
import type { OpenApiDialect, OpenApiSchema } from './openapi.ts'

export const metadataDescription =
  'The metadata of the object: name, namespace, labels, annotations, owners and versions.'

export const typeProperties = {
  apiVersion: { description: 'The group and version of the type, as in apps/v1.', type: 'string' },
  kind: { description: 'The name of the type.', type: 'string' },
} as const

/** For an object without a descriptor. */
export const objectProperties = ({ root, besides }: OpenApiDialect): Readonly<Record<string, OpenApiSchema>> => ({
  ...typeProperties,
  metadata: {
    description: metadataDescription,
    ...besides({ $ref: `${root}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta` }),
  },
})
