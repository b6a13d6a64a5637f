// objectHistory: the retained revisions of an object, the newest first. It walks backwards through the states of the
// watch cache. Deletions, and the authors of writes, are known as long as the flow record has them.
import type { FlowEvent, FlowObject, FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { eventsAbout } from './events-about.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { deletionOf, revisionOf, type ObjectRevision } from './object-revision.ts'
import { withoutSecrets } from './without-secrets.ts'

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
      revisions.push(deletionOf(removal.revision, flow))
      at = removal.revision - 1
      continue
    }
    chars += JSON.stringify(object).length
    if (revisions.length >= revisionsMax || chars > charsMax) return { revisions, isTruncated: true }
    const shown = revisionOf(withoutSecrets(subject.resource, object), flow)
    revisions.push(shown)
    at = shown.revision - 1
  }
  return { revisions, isTruncated: false }
}

/** The recorded writes that deleted the object. */
const removalsOf = (subject: FlowObject, flow: FlowRecorder): readonly FlowEvent[] =>
  eventsAbout(subject, flow).filter(({ arrow, what }) => arrow === 'persist' && what.startsWith('delete'))
