// checkHistory: what a history violates of the guarantees of the Kubernetes API. Nothing: it may be that of a correct
// cluster.
import { getOrInsert } from '../../src/base/collections/get-or-insert.ts'
import type { History, ListCall, ObjectCall, WatchRecord, Version } from './history.ts'
import { isLinearizable } from './linearizable.ts'
import { objectModel, operationsOf } from './object-model.ts'
import { RevisionLog, shown } from './revision-log.ts'

export function checkHistory(history: History): readonly string[] {
  const log = new RevisionLog(history)
  return [
    ...log.contradictions,
    ...realTimeViolations(history),
    ...history.watches.flatMap((watch) => watchViolations(watch, log)),
    ...history.lists.flatMap((list) => listViolations(list, log)),
    ...objectViolations(history, log),
  ]
}

/** Every object on its own is linearizable. */
function objectViolations({ calls, watches }: History, log: RevisionLog): string[] {
  const byKey = new Map<string, ObjectCall[]>()
  for (const call of calls) getOrInsert(byKey, call.key, () => []).push(call)
  // A watch of the whole history delivers every write that happened.
  const happened = (version: Version) => log.revisionOf.has(version) || (watches.length === 0 ? undefined : false)
  const model = objectModel(log.revisionOf)
  return Array.from(byKey)
    .filter(([, own]) => !isLinearizable(operationsOf(own, happened), model))
    .map(([key]) => `the calls about ${key} are not linearizable`)
}

/** What starts after the end of a call has a higher revision, or for a list no lower one. */
function realTimeViolations({ calls, lists }: History): string[] {
  interface Stated {
    readonly what: string
    readonly call: number
    readonly return: number
    readonly revision: number
    /** The lowest difference to a revision that was known before. */
    readonly above: 0 | 1 | undefined
  }
  const stated: Stated[] = []
  for (const { key, input, output, call, return: returned } of calls) {
    if (output.kind === 'found')
      stated.push({ what: `the read of ${key}`, call, return: returned, revision: output.revision, above: undefined })
    if (output.kind === 'written' && output.revision !== undefined)
      stated.push({ what: `${input.kind} ${key}`, call, return: returned, revision: output.revision, above: 1 })
  }
  for (const { call, return: returned, revisions } of lists)
    stated.push({ what: 'a list', call, return: returned, revision: revisions[0] ?? 0, above: 0 })
  const ends = stated.toSorted((a, b) => a.return - b.return)
  const violations: string[] = []
  let [ended, highest] = [0, 0]
  for (const { what, call, revision, above } of stated.toSorted((a, b) => a.call - b.call)) {
    for (let end = ends[ended]; end !== undefined && end.return < call; end = ends[++ended])
      highest = Math.max(highest, end.revision)
    if (above !== undefined && revision < highest + above)
      violations.push(`${what} at position ${call} has the revision ${revision}, but ${highest} was known before`)
  }
  return violations
}

/** A list is the collection at one revision. */
function listViolations({ call, revisions, items }: ListCall, log: RevisionLog): string[] {
  const [revision = 0] = revisions
  const what = `the list at position ${call}, revision ${revision},`
  if (revisions.some((one) => one !== revision)) return [`${what} has pages of the revisions ${revisions.join()}`]
  const listed = new Map(items.map((item) => [item.key, item]))
  const repeated = listed.size === items.length ? [] : [`${what} contains an object twice`]
  return [
    ...repeated,
    ...[...new Set([...log.keys, ...listed.keys()])].flatMap((key) => {
      const [expected, item] = [log.at(key, revision), listed.get(key)]
      if (expected?.version === item?.version) return []
      return [`${what} has ${item?.version ?? 'no version'} of ${key} instead of ${expected?.version ?? 'none'}`]
    }),
  ]
}

/** A watch delivers every write once, in the order of revisions, with the type that fits the write before. */
function watchViolations({ name, from, to, events }: WatchRecord, log: RevisionLog): string[] {
  const violations: string[] = []
  let last = from
  const delivered = new Set<number>()
  for (const { type, key, version, revision } of events) {
    const what = `the watch ${name} delivered ${type} ${key}=${version} at revision ${revision}`
    if (delivered.has(revision)) violations.push(`${what} twice`)
    else if (revision <= last) violations.push(`${what} after revision ${last}`)
    else if (revision > to) violations.push(`${what}, beyond ${to}`)
    last = Math.max(last, revision)
    delivered.add(revision)
    const before = log.at(key, revision - 1)
    if ((type === 'ADDED') !== (before === undefined))
      violations.push(`${what}, but there was ${before?.version ?? 'no object'} before`)
    if (type === 'DELETED' && before !== undefined && before.version !== version)
      violations.push(`${what}, but ${before.version} was deleted`)
  }
  for (const write of log.writes)
    if (write.revision > from && write.revision <= to && !delivered.has(write.revision))
      violations.push(`the watch ${name} did not deliver ${shown(write)} at revision ${write.revision}`)
  return violations
}
