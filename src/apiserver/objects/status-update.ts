// The status door: what an update through /status may change beside the status. Labels and annotations pass it for most
// kinds; what does not pass is kept as it was and never owned by who writes there.
import { lookup } from '../../base/collections/lookup.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'

/** Kinds whose whole metadata is kept. */
const metadataKept: ReadonlySet<string> = new Set([
  'CustomResourceDefinition',
  'FlowSchema',
  'PriorityLevelConfiguration',
  'ResourceClaim',
  'ValidatingAdmissionPolicy',
  'VolumeAttachment',
])

/** Of other kinds, single fields of the metadata. */
const fieldsKept: Readonly<Record<string, readonly (keyof ApiObject['metadata'])[]>> = {
  Deployment: ['labels'],
  Pod: ['deletionTimestamp', 'ownerReferences'],
}

/** The old object with the status that was sent, and with what may pass of `kept`: the sent metadata with its identity. */
export function withStatusUpdate({ kind }: Kind, kept: ApiObject, sent: ApiObject, old: ApiObject): ApiObject {
  const metadata: Record<string, unknown> = { ...(metadataKept.has(kind) ? old : kept).metadata }
  for (const name of lookup(fieldsKept, kind) ?? []) {
    if (old.metadata[name] === undefined) delete metadata[name]
    else metadata[name] = old.metadata[name]
  }
  if (kept.metadata.managedFields !== undefined) metadata['managedFields'] = kept.metadata.managedFields
  return { ...old, metadata, status: (sent as { status?: unknown }).status } as unknown as ApiObject
}

const ignored = new Map<Kind, readonly (readonly string[])[]>()

/** The subtrees that are not written there, as paths of elements. */
export const fieldsIgnoredByStatus = (kind: Kind): readonly (readonly string[])[] =>
  getOrInsert(ignored, kind, () => ignoredPaths(kind))

const ignoredPaths = ({ kind, message }: Kind): readonly (readonly string[])[] => [
  ...Object.keys(message.fields)
    .filter((name) => name !== 'metadata' && name !== 'status')
    .map((name) => [`f:${name}`]),
  ...(metadataKept.has(kind)
    ? [['f:metadata']]
    : (lookup(fieldsKept, kind) ?? []).map((name) => ['f:metadata', `f:${name}`])),
]
