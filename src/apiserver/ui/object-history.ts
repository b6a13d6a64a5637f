// objectHistory: the retained revisions of an object, the newest first. It walks backwards through the states of the
// watch cache. Deletions, and the authors of writes, are known as long as the flow record has them.
import type { FlowEvent, FlowObject, FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { ApiObject } from '../../api/meta/object.ts'

export interface ObjectRevision {
  readonly revision: number
  /** Undefined where neither the flow record nor the object has the time. */
  readonly atMs: number | undefined
  /** The component or program that wrote it, and its request; undefined beyond the flow record. */
  readonly sender: string | undefined
  readonly request: string | undefined
  /** The field manager that wrote last. */
  readonly manager: string | undefined
  /** Undefined: the object was deleted with this revision. */
  readonly object: ApiObject | undefined
}

export interface ObjectHistory {
  readonly revisions: readonly ObjectRevision[]
  /** There are older revisions, which are not listed because there are too many or they are too large. */
  readonly isTruncated: boolean
}

export interface HistoryDeps {
  readonly flow: FlowRecorder
  /** The newest revision. */
  readonly newest: number
  /** The object as it was at a revision: undefined if it did not exist, `lost` if the revision is not retained. */
  readonly objectAt: (revision: number) => Promise<ApiObject | undefined | 'lost'>
}

const revisionsMax = 200
const charsMax = 8 << 20

export async function objectHistory(subject: FlowObject, deps: HistoryDeps): Promise<ObjectHistory> {
  const { flow, objectAt, newest } = deps
  const removals = removalsOf(subject, flow)
  const revisions: ObjectRevision[] = []
  let chars = 0
  for (let at = newest; at > 0;) {
    const object = await objectAt(at)
    if (object === 'lost') break
    if (object === undefined) {
      const removal = removals.findLast(({ revision }) => revision <= at)
      if (removal === undefined) break
      revisions.push({ ...writeOf(removal.revision, flow), manager: undefined, object: undefined })
      at = removal.revision - 1
      continue
    }
    chars += JSON.stringify(object).length
    if (revisions.length >= revisionsMax || chars > charsMax) return { revisions, isTruncated: true }
    const shown = withoutSecrets(subject, object)
    const revision = Number(object.metadata.resourceVersion)
    revisions.push(withManager(writeOf(revision, flow), shown))
    at = revision - 1
  }
  return { revisions, isTruncated: false }
}

/** The recorded writes that deleted the object. */
const removalsOf = (subject: FlowObject, flow: FlowRecorder): readonly FlowEvent[] =>
  [...flow.events()].filter(
    ({ arrow, what, object }) =>
      arrow === 'persist' &&
      what.startsWith('delete') &&
      object?.resource === subject.resource &&
      object.namespace === subject.namespace &&
      object.name === subject.name,
  )

type Write = Pick<ObjectRevision, 'revision' | 'atMs' | 'sender' | 'request'>

function writeOf(revision: number, flow: FlowRecorder): Write {
  const write = flow.get(flow.writeOf(revision))
  const call = write === undefined ? undefined : flow.get(write.cause.event)
  return { revision, atMs: write?.atMs, sender: call?.from, request: call?.what }
}

function withManager(write: Write, object: ApiObject): ObjectRevision {
  const { managedFields = [], creationTimestamp } = object.metadata
  const [last] = managedFields.toSorted((a, b) => (b.time ?? '').localeCompare(a.time ?? ''))
  const written = Date.parse(last?.time ?? creationTimestamp ?? '')
  const atMs = write.atMs ?? (Number.isNaN(written) ? undefined : written)
  return { ...write, atMs, manager: last?.manager, object }
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** The values of a Secret are never included, nor the annotation in which kubectl stores them. */
function withoutSecrets({ resource }: FlowObject, object: ApiObject): ApiObject {
  if (resource !== 'secrets') return object
  const { data: _, stringData: __, ...rest } = object as ApiObject & { data?: unknown; stringData?: unknown }
  const { annotations, ...metadata } = rest.metadata
  const kept = Object.entries(annotations ?? {}).filter(([key]) => key !== lastApplied)
  return { ...rest, metadata: kept.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(kept) } }
}
