// retainedRevisions: which revisions of the cluster can still be listed, and when they were written, as far as the flow
// record knows. The time slider of the web UI lists objects at one of them.
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'

export interface RevisionTime {
  readonly revision: number
  /** Undefined for a revision that the flow record does not have. */
  readonly atMs: number | undefined
}

export interface RetainedRevisions {
  readonly oldest: RevisionTime
  readonly newest: RevisionTime
  /** The newest revision that was written at or before the requested time. */
  readonly at: RevisionTime | undefined
  /** Revisions in between with their times, evenly spaced. */
  readonly marks: readonly RevisionTime[]
}

const marksMax = 200

export function retainedRevisions(
  { oldest, newest }: { readonly oldest: number; readonly newest: number },
  flow: FlowRecorder,
  requestedMs: number | undefined,
): RetainedRevisions {
  const timeOf = (revision: number): RevisionTime => ({ revision, atMs: flow.get(flow.writeOf(revision))?.atMs })
  const written: RevisionTime[] = []
  for (const { revision, atMs } of flow.writes())
    if (revision >= oldest && revision <= newest && revision !== written.at(-1)?.revision)
      written.push({ revision, atMs })
  const step = Math.max(1, Math.ceil(written.length / marksMax))
  const at = requestedMs === undefined ? undefined : written.findLast(({ atMs = Infinity }) => atMs <= requestedMs)
  return {
    oldest: timeOf(oldest),
    newest: timeOf(newest),
    at: requestedMs === undefined ? undefined : (at ?? timeOf(oldest)),
    marks: written.filter((_, index) => index % step === 0),
  }
}
