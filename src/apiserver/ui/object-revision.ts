// ObjectRevision: one retained revision of an object, with its author and time as far as the flow record or the object has them.
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
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

type Write = Pick<ObjectRevision, 'revision' | 'atMs' | 'sender' | 'request'>

function writeOf(revision: number, flow: FlowRecorder): Write {
  const write = flow.get(flow.writeOf(revision))
  const call = write === undefined ? undefined : flow.get(write.cause.event)
  return { revision, atMs: write?.atMs, sender: call?.from, request: call?.what }
}

/** The revision at which an object has this state. */
export function revisionOf(object: ApiObject, flow: FlowRecorder): ObjectRevision {
  const write = writeOf(Number(object.metadata.resourceVersion), flow)
  const { managedFields = [], creationTimestamp } = object.metadata
  const [last] = managedFields.toSorted((a, b) => (b.time ?? '').localeCompare(a.time ?? ''))
  const written = Date.parse(last?.time ?? creationTimestamp ?? '')
  const atMs = write.atMs ?? (Number.isNaN(written) ? undefined : written)
  return { ...write, atMs, manager: last?.manager, object }
}

/** The revision at which an object was deleted. */
export const deletionOf = (revision: number, flow: FlowRecorder): ObjectRevision => ({
  ...writeOf(revision, flow),
  manager: undefined,
  object: undefined,
})
