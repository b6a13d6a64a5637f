// An update of the status subresource: it may change labels and annotations besides the status, for most kinds. What it may
// not change is preserved, and its writer does not become the owner.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'

/** What of the metadata an update of the status preserves: all of it, or single fields. */
export type StatusRule = 'all metadata' | readonly (keyof ApiObject['metadata'])[]

/** The old object with the status that was sent, and with the metadata of `sent` that the rule does not preserve. */
export function withStatusUpdate(rule: StatusRule, preserved: ApiObject, sent: ApiObject, old: ApiObject): ApiObject {
  const metadata: Record<string, unknown> = { ...(rule === 'all metadata' ? old : preserved).metadata }
  for (const name of rule === 'all metadata' ? [] : rule) {
    if (old.metadata[name] === undefined) delete metadata[name]
    else metadata[name] = old.metadata[name]
  }
  const { managedFields } = preserved.metadata
  if (managedFields === undefined) delete metadata['managedFields']
  else metadata['managedFields'] = managedFields
  return { ...old, metadata, status: (sent as { status?: unknown }).status } as unknown as ApiObject
}

const ignored = new WeakMap<Kind, readonly (readonly string[])[]>()

/** The subtrees that an update of the status does not write, as paths of elements. */
export const fieldsIgnoredByStatus = (kind: Kind, rule: StatusRule): readonly (readonly string[])[] =>
  getOrInsert(ignored, kind, () => ignoredPaths(kind, rule))

/** As upstream: the writer of a custom object's status owns other fields than `spec` that it sends, without changing them. */
const ignoredPaths = ({ schema, custom }: Kind, rule: StatusRule): readonly (readonly string[])[] => [
  ...schema.structure.ordered
    .filter(({ name }) => (custom === undefined ? name !== 'metadata' && name !== 'status' : name === 'spec'))
    .map(({ element }) => [element]),
  ...(rule === 'all metadata' ? [['f:metadata']] : rule.map((name) => ['f:metadata', `f:${name}`])),
]
