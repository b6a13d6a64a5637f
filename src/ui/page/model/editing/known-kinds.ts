// What the editor knows about kinds: their names, and the schemas that were read. A kind without a schema is edited without help.
import { SchemaNode } from './schema-node.ts'

export interface KnownKind {
  readonly apiVersion: string
  readonly kind: string
}

export interface KnownKinds {
  readonly all: readonly KnownKind[]
  schemaOf(kind: KnownKind): SchemaNode | undefined
}

/** What every kind has; offered while the kind is not known yet. */
export const anyKind = new SchemaNode(
  {},
  {
    type: 'object',
    properties: {
      apiVersion: { type: 'string', description: 'The group and the version of the kind, as in apps/v1.' },
      kind: { type: 'string', description: 'The name of the kind.' },
      metadata: { type: 'object', description: 'The name, the namespace, labels and annotations.' },
    },
  },
)
