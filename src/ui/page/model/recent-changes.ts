// Who has changed what: the requests of the flow record that led to a write, the newest first, similar ones together. Statuses, leases
// and Event objects change all the time and are left out.
import { isBackground } from '../../../base/observability/background-events.ts'
import type { FlowEvent, FlowObject } from '../../../base/observability/flow-recorder.ts'

export interface RecentChange {
  /** The newest of them. */
  readonly event: FlowEvent
  readonly sender: string
  /** In the past tense: `created`. */
  readonly verb: string
  readonly object: FlowObject
  readonly count: number
  /** That of the write. */
  readonly revision: number
}

/** Events that are examined. */
const examinedMax = 5_000

const verbs: ReadonlyMap<string, string> = new Map([
  ['create', 'created'],
  ['update', 'updated'],
  ['patch', 'patched'],
  ['delete', 'deleted'],
  ['deletecollection', 'deleted all'],
])

/** Subresources that are written for a purpose of their own. Others, such as statuses, are left out. */
const subresourceVerbs: ReadonlyMap<string, string> = new Map([
  ['ephemeralcontainers', 'added a container to'],
  ['eviction', 'evicted'],
  ['resize', 'resized'],
  ['scale', 'scaled'],
])

export function recentChanges(events: readonly FlowEvent[], namespace: string, max: number): readonly RecentChange[] {
  const changes: RecentChange[] = []
  const byKind = new Map<string, number>()
  // A dry run, and a request that changes nothing, lead to no write.
  const written = new Map<number, number>()
  const oldest = Math.max(0, events.length - examinedMax)
  for (let at = events.length - 1; at >= oldest; at--) {
    const event = events[at] as FlowEvent
    if (event.arrow === 'persist') written.set(event.cause.event, event.revision)
    const revision = written.get(event.id)
    const change = revision === undefined ? undefined : changeOf(event, revision)
    if (change === undefined || (namespace !== '' && change.object.namespace !== namespace)) continue
    const { sender, verb, object } = change
    // Changes of several objects of a kind by the same sender, such as the pods of a workload, are one.
    const key = `${sender} ${verb} ${object.resource} ${object.namespace}`
    const known = byKind.get(key)
    if (known !== undefined)
      changes[known] = { ...(changes[known] as RecentChange), count: (changes[known]?.count ?? 0) + 1 }
    else if (changes.length < max) byKind.set(key, changes.push(change) - 1)
  }
  return changes
}

function changeOf(event: FlowEvent, revision: number): RecentChange | undefined {
  const { arrow, what, object, outcome = '', from } = event
  if (arrow !== 'call' || object === undefined || !outcome.startsWith('2') || isBackground(what, object))
    return undefined
  const [name = '', resource = ''] = what.split(' ', 2)
  const [, subresource] = resource.split('/', 2)
  const verb = verbs.has(name) && subresource !== undefined ? subresourceVerbs.get(subresource) : verbs.get(name)
  // What is created without a name is not stored, such as a review.
  const isStored = object.name !== '' || name === 'deletecollection'
  return verb === undefined || !isStored ? undefined : { event, sender: from, verb, object, count: 1, revision }
}
