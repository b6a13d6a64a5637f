// The history in a report: every retained revision of the objects, with its author and what the list shows of it.
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { namespaceOf, type ApiObject } from '../../api/meta/object.ts'
import type { ObjectChange } from '../../apiserver/registry/registry.ts'
import { deletionOf, revisionOf, type ObjectRevision } from '../../apiserver/ui/object-revision.ts'
import { retainedRevisions } from '../../apiserver/ui/retained-revisions.ts'
import { withoutSecrets } from '../../apiserver/ui/without-secrets.ts'
import { objectKeyOf, type RecordedRevision, type RecordedRun } from '../../ui/page/source/recorded.ts'
import { historyEntry, resourceId, type RevisionRange } from '../../ui/page/source/source.ts'

/** Older revisions are omitted, so that a browser can open the file. */
export const historyCharsMax = 16 << 20

export interface HistorySource {
  /** The listed kinds with their present objects. */
  readonly lists: readonly { readonly kind: Kind; readonly objects: readonly ApiObject[] }[]
  /** The retained changes of a kind, in the order of revisions. */
  readonly changes: (kind: Kind) => Iterable<ObjectChange>
  readonly flow: FlowRecorder
  /** The revisions of which the cluster has the state of every kind. */
  readonly retained: { readonly oldest: number; readonly newest: number }
  /** Ages in lists are those at the end of the run, as for a list at a past revision of a running cluster. */
  readonly nowMs: number
}

interface KindChange extends ObjectChange {
  readonly kind: Kind
}

export function recordHistory(
  source: HistorySource,
  charsMax = historyCharsMax,
): { readonly history: RecordedRun['history']; readonly revisions: RevisionRange } {
  const { lists, flow, retained } = source
  const all = lists.flatMap(({ kind }) => [...source.changes(kind)].map((change): KindChange => ({ ...change, kind })))
  const oldest = Math.max(retained.oldest, oldestWithin(all, charsMax))
  const kept = Map.groupBy(
    all.filter(({ revision }) => revision > oldest),
    ({ kind }) => kind,
  )
  const history = lists.map(({ kind, objects }) => {
    const byObject = Map.groupBy(kept.get(kind) ?? [], ({ key }) => key)
    const revisions = new Map<string, RecordedRevision[]>()
    for (const changes of byObject.values()) {
      const subject = changes[0]?.now ?? changes[0]?.before
      if (subject !== undefined) revisions.set(keyOf(kind, subject), revisionsOf(kind, changes, source))
    }
    for (const object of objects) getOrInsert(revisions, keyOf(kind, object), () => [present(object, flow)])
    return [resourceId(kind), [...revisions]] as const
  })
  const { newest, marks } = retainedRevisions({ oldest, newest: retained.newest }, flow, undefined)
  return {
    history: history.filter(([, objects]) => objects.length > 0),
    revisions: { oldest, newest: newest.revision, marks },
  }
}

/** The newest revision before which the states of the objects do not fit. */
function oldestWithin(changes: readonly KindChange[], charsMax: number): number {
  let chars = 0
  for (const { revision, now } of changes.toSorted((a, b) => b.revision - a.revision)) {
    chars += now === undefined ? 0 : JSON.stringify(now).length
    if (chars > charsMax) return revision
  }
  return 0
}

const keyOf = ({ plural }: Kind, object: ApiObject): string =>
  objectKeyOf({ resource: plural, namespace: namespaceOf(object), name: object.metadata.name })

/** The state before the first change, and the one after each change. */
function revisionsOf(kind: Kind, changes: readonly ObjectChange[], { flow, nowMs }: HistorySource): RecordedRevision[] {
  const past = (object: ApiObject): RecordedRevision => ({
    ...described(revisionOf(object, flow)),
    state: 'past',
    object: withoutManagedFields(withoutSecrets(kind.plural, object)),
    cells: kind.columns.map((column) => column.cell(object, nowMs)),
  })
  const before = changes[0]?.before
  const last = changes.at(-1)
  return [
    ...(before === undefined ? [] : [past(before)]),
    ...changes.map((change): RecordedRevision => {
      if (change.now === undefined) return { ...described(deletionOf(change.revision, flow)), state: 'deleted' }
      return change === last ? present(change.now, flow) : past(change.now)
    }),
  ]
}

function described(revision: ObjectRevision): Pick<RecordedRevision, 'revision' | 'at' | 'author'> {
  const { object: _, ...entry } = historyEntry({ ...revision, object: undefined })
  return entry
}

const present = (object: ApiObject, flow: FlowRecorder): RecordedRevision => ({
  ...described(revisionOf(object, flow)),
  state: 'present',
})

/** They are half of an object, and differences do not show them. */
function withoutManagedFields(object: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
