// Faults of incorrect clusters: each changes one place of a history that is otherwise correct.
import type { History, ListCall, ListedItem, ObjectCall, Output, WatchedEvent } from './history.ts'
import { RevisionLog } from './revision-log.ts'

export interface PlantedFault {
  readonly name: string
  readonly plant: (history: History) => History
  /** What the checker reports. */
  readonly report: RegExp
}

const notLinearizable = /^the calls about [abc] are not linearizable$/

export const plantedFaults: readonly PlantedFault[] = [
  { name: 'a read returns a version that was replaced before it', plant: withStaleRead, report: notLinearizable },
  { name: 'an update of a version that was replaced succeeds', plant: withLostUpdate, report: notLinearizable },
  {
    name: 'a write has a revision of the past',
    plant: (history) =>
      withOutput(history, ({ call, output }) =>
        call > 100 && output.kind === 'written' && output.revision !== undefined
          ? { kind: 'written', revision: 50 }
          : undefined,
      ),
    report: / has the revision 50, but \d+ was known before$/,
  },
  {
    name: 'a watch delivers two events in the wrong order',
    plant: (history) =>
      withEvents(history, (events) => events.toSpliced(20, 2, eventAt(events, 21), eventAt(events, 20))),
    report: /^the watch first delivered .* after revision \d+$/,
  },
  {
    name: 'a watch does not deliver an event',
    plant: (history) => withEvents(history, (events) => events.toSpliced(20, 1)),
    report: /^the watch first did not deliver .* at revision \d+$/,
  },
  {
    name: 'a watch delivers an event twice',
    plant: (history) => withEvents(history, (events) => events.toSpliced(20, 0, eventAt(events, 20))),
    report: /^the watch first delivered .* twice$/,
  },
  {
    name: 'a watch delivers another version',
    plant: (history) =>
      withEvents(history, (events) => events.with(20, { ...eventAt(events, 20), version: 'foreign' })),
    report: /foreign/,
  },
  {
    name: 'a watch delivers ADDED for an object that exists',
    plant: (history) =>
      withEvents(history, (events) => {
        const at = events.findIndex(({ type }) => type === 'MODIFIED')
        return events.with(at, { ...eventAt(events, at), type: 'ADDED' })
      }),
    report: /^the watch first delivered ADDED .*, but there was v\d+ before$/,
  },
  {
    name: 'a list has an object as it was at an older revision',
    plant: (history) => {
      const log = new RevisionLog(history)
      const before = ({ key, revision }: ListedItem) => log.at(key, revision - 1) as ListedItem | undefined
      return withList(history, (list) => {
        const at = list.items.findIndex((item) => before(item) !== undefined)
        const old = list.items.slice(at).map(before)[0]
        return old && { ...list, items: list.items.with(at, old) }
      })
    },
    report: /^the list at position \d+, revision \d+, has v\d+ of [abc] instead of v\d+$/,
  },
  {
    name: 'a list lacks an object',
    plant: (history) =>
      withList(history, (list) => (list.items.length === 0 ? undefined : { ...list, items: list.items.slice(1) })),
    report: /^the list at position \d+, revision \d+, has no version of [abc] instead of v\d+$/,
  },
  {
    name: 'the pages of a list have different revisions',
    plant: (history) => withList(history, (list) => ({ ...list, revisions: [...list.revisions, 99] })),
    report: /has pages of the revisions \d+,99$/,
  },
  {
    name: 'a list does not have a write before it',
    plant: (history) =>
      withList(history, (list) => (list.call > 600 ? { ...list, revisions: [100], items: [] } : undefined)),
    report: /^a list at position \d+ has the revision 100, but \d+ was known before$/,
  },
]

function withStaleRead(history: History): History {
  const log = new RevisionLog(history)
  return withOutput(history, ({ call, key, input, output }) => {
    if (input.kind !== 'get' || output.kind !== 'found') return undefined
    const replacing = history.calls.find(
      (one) => one.key === key && one.return < call && one.output.kind === 'written' && one.input.kind === 'update',
    )
    const old = replacing?.input.kind === 'update' ? replacing.input.from : undefined
    const revision = old === undefined ? undefined : log.revisionOf.get(old)
    return old === undefined || revision === undefined ? undefined : { kind: 'found', version: old, revision }
  })
}

/** Without the watches and lists, which would show that it was not written. */
function withLostUpdate(history: History): History {
  const log = new RevisionLog(history)
  const revision = (log.writes.at(-1)?.revision ?? 0) + 1
  const changed = withOutput(history, ({ input, output }) =>
    input.kind === 'update' && log.revisionOf.has(input.from) && output.kind === 'conflict'
      ? { kind: 'written', revision }
      : undefined,
  )
  return { ...changed, lists: [], watches: [] }
}

/** Changes the first response for which `change` returns another one. */
function withOutput(history: History, change: (call: ObjectCall) => Output | undefined): History {
  for (const [index, call] of history.calls.entries()) {
    const output = change(call)
    if (output !== undefined) return { ...history, calls: history.calls.with(index, { ...call, output }) }
  }
  throw new Error('no call can be changed')
}

function withList(history: History, change: (list: ListCall) => ListCall | undefined): History {
  for (const [index, list] of history.lists.entries()) {
    const changed = change(list)
    if (changed !== undefined) return { ...history, lists: history.lists.with(index, changed) }
  }
  throw new Error('no list can be changed')
}

function withEvents(history: History, change: (events: readonly WatchedEvent[]) => readonly WatchedEvent[]): History {
  const [first, ...others] = history.watches
  if (first === undefined) throw new Error('there is no watch')
  return { ...history, watches: [{ ...first, events: change(first.events) }, ...others] }
}

function eventAt(events: readonly WatchedEvent[], index: number): WatchedEvent {
  const event = events[index]
  if (event === undefined) throw new Error(`there is no event ${index}`)
  return event
}
