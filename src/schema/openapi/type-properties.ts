// The properties that every object has: kind, apiVersion and metadata.
import type { OpenApiDialect, OpenApiSchema } from './openapi.ts'

export const metadataDescription =
  "Standard object's metadata: name, namespace, labels, annotations, owners and versions."

export const typeProperties = {
  apiVersion: {
    description: 'APIVersion defines the group and version in which the object is written, as in apps/v1.',
    type: 'string',
  },
  kind: { description: 'Kind is the name of the type.', type: 'string' },
} as const

/** For an object without a descriptor. */
export const objectProperties = ({ root, besides }: OpenApiDialect): Readonly<Record<string, OpenApiSchema>> => ({
  ...typeProperties,
  metadata: {
    description: metadataDescription,
    ...besides({ $ref: `${root}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta` }),
  },
})
