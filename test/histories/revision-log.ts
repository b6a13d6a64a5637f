// The writes of a history in the order of their revisions, from everything that clients were sent about them.
import { getOrInsert } from '../../src/base/collections/get-or-insert.ts'
import type { History, Version } from './history.ts'

export interface LoggedWrite {
  readonly revision: number
  readonly key: string
  /** Undefined: the object was deleted. */
  readonly version: Version | undefined
}

export class RevisionLog {
  readonly writes: readonly LoggedWrite[]
  readonly revisionOf: ReadonlyMap<Version, number>
  /** Revisions or versions about which clients were sent different things. */
  readonly contradictions: readonly string[]
  readonly #byKey = new Map<string, LoggedWrite[]>()

  constructor(history: History) {
    const writes = new Map<number, LoggedWrite>()
    const revisionOf = new Map<Version, number>()
    const contradictions = new Set<string>()
    for (const write of reported(history)) {
      const known = getOrInsert(writes, write.revision, () => write)
      if (known.key !== write.key || known.version !== write.version)
        contradictions.add(`revision ${write.revision} is both ${shown(known)} and ${shown(write)}`)
      if (write.version === undefined) continue
      const revision = getOrInsert(revisionOf, write.version, () => write.revision)
      if (revision !== write.revision)
        contradictions.add(`${shown(write)} has both the revisions ${revision} and ${write.revision}`)
    }
    this.writes = [...writes.values()].toSorted((a, b) => a.revision - b.revision)
    this.revisionOf = revisionOf
    this.contradictions = [...contradictions]
    for (const write of this.writes) getOrInsert(this.#byKey, write.key, () => []).push(write)
  }

  get keys(): readonly string[] {
    return [...this.#byKey.keys()]
  }

  /** The last write of an object at this revision; undefined when there was none or it was deleted. */
  at(key: string, revision: number): LoggedWrite | undefined {
    const last = this.#byKey.get(key)?.findLast((write) => write.revision <= revision)
    return last?.version === undefined ? undefined : last
  }
}

export const shown = ({ key, version }: Pick<LoggedWrite, 'key' | 'version'>): string =>
  version === undefined ? `the deletion of ${key}` : `${key}=${version}`

function* reported({ calls, lists, watches }: History): Generator<LoggedWrite> {
  for (const { key, input, output } of calls) {
    if (output.kind === 'found') yield { key, version: output.version, revision: output.revision }
    if (output.kind === 'written' && output.revision !== undefined && 'version' in input)
      yield { key, version: input.version, revision: output.revision }
  }
  for (const { items } of lists) yield* items
  for (const { events } of watches)
    for (const { type, key, version, revision } of events)
      yield { key, version: type === 'DELETED' ? undefined : version, revision }
}
