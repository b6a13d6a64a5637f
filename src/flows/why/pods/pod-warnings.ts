// warningsOf: the warning events of a pod, the newest first.
import { event, type Event } from '../../../api/core/v1/event.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'

/** When an event was last seen. */
export const lastSeen = ({ lastTimestamp, eventTime, series }: Event): string =>
  (series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? '').replace(/\.\d+Z$/, 'Z')

/** How often an event was seen. */
export const timesSeen = ({ series, count }: Event): number => series?.count ?? count ?? 1

export const newestFirst = (events: readonly Event[]): Event[] =>
  events.toSorted((a, b) => lastSeen(b).localeCompare(lastSeen(a)))

export async function warningsOf(object: Pod, cluster: ClusterReader): Promise<readonly Event[]> {
  const events = await cluster.list(event, namespaceOf(object))
  return newestFirst(
    events.filter(({ involvedObject, type }) => type === 'Warning' && involvedObject.uid === object.metadata.uid),
  )
}
