// copyStore: moves the content of a store to another one, of any driver. Revisions never go back: those of the other store begin
// above those of the first, and are compacted up to the end of the copy, so that every watch starts again.
import {
  bytesOf,
  Compacted,
  operationsMax,
  transactionBytesMax,
  type LeaseId,
  type Operation,
  type Store,
} from './store.ts'

/** The keys of a store that another one gets. */
export interface CopiedKeys {
  readonly start: string
  readonly end: string
  /** Keys that are not copied. */
  readonly isOmitted: (key: string) => boolean
  /** Keys that end by themselves, such as Events. Not all drivers know the lease of a key. */
  readonly isLeased: (key: string) => boolean
}

export interface CopyOptions extends CopiedKeys {
  readonly onProgress?: (what: string) => void
  /** Called when everything is there. A copy that ends before is repeated. */
  readonly onCopied?: () => Promise<void>
}

/** It exists while a copy is not complete, so that an interrupted one can be repeated. Its writes also raise the revision. */
export const copyingKey = 'coxswain/copying'
const pageKeys = 500
/** Writes in flight while the revision is raised. */
const writesMax = 128
const progressWrites = 50_000
/** History is removed meanwhile. */
const compactWrites = 10_000
/** As the lease of Events. */
export const copiedLeaseMs = 3_600_000
/** Room for keys and the encoding. */
const bytesPerCommit = transactionBytesMax / 2

/** Nothing else may write to either store meanwhile. Returns the number of keys. Repeat it if it was interrupted. */
export async function copyStore(from: Store, to: Store, options: CopyOptions, signal: AbortSignal): Promise<number> {
  const { start, end, onProgress = () => {}, onCopied = async () => {} } = options
  const isRepeated = (await to.get(copyingKey, signal)) !== undefined
  const { items: present } = await to.range({ start, end, limit: 1 }, signal)
  if (present.length > 0 && !isRepeated) throw new Error('the other store has objects already')
  await mark(to, signal)
  await raiseRevision(to, await from.freshRevision(signal), onProgress, signal)
  const keys = await copyKeys(from, to, options, signal)
  onProgress(`${keys} objects are copied`)
  await compact(to, await to.freshRevision(signal), signal)
  await onCopied()
  await to.commit({ conditions: [], operations: [{ kind: 'delete', key: copyingKey }] }, signal)
  return keys
}

const mark = (to: Store, signal: AbortSignal) =>
  to.commit({ conditions: [], operations: [{ kind: 'put', key: copyingKey, value: new Uint8Array() }] }, signal)

async function raiseRevision(
  to: Store,
  wanted: number,
  onProgress: (what: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let revision = await to.freshRevision(signal)
  for (let writes = 0; revision < wanted;) {
    const count = Math.min(writesMax, wanted - revision)
    await Promise.all(Array.from({ length: count }, () => mark(to, signal)))
    const before = writes
    writes += count
    if (crosses(compactWrites, before, writes)) await compact(to, revision, signal)
    if (crosses(progressWrites, before, writes)) onProgress(`revision ${revision} of ${wanted}`)
    revision = await to.freshRevision(signal)
  }
}

const crosses = (step: number, before: number, after: number): boolean =>
  Math.floor(before / step) !== Math.floor(after / step)

async function compact(to: Store, revision: number, signal: AbortSignal): Promise<void> {
  await to.compact(revision, signal).catch((error: unknown) => {
    if (!(error instanceof Compacted)) throw error
  })
}

async function copyKeys(
  from: Store,
  to: Store,
  { start, end, isOmitted, isLeased }: CopyOptions,
  signal: AbortSignal,
): Promise<number> {
  const revision = await from.freshRevision(signal)
  let lease: LeaseId | undefined
  let operations: Operation[] = []
  let bytes = 0
  let keys = 0
  const flush = async () => {
    if (operations.length > 0) await to.commit({ conditions: [], operations }, signal)
    ;[operations, bytes] = [[], 0]
  }
  for (let next = start; ;) {
    const { items, remaining } = await from.range({ start: next, end, limit: pageKeys, revision }, signal)
    for (const item of items) {
      if (isOmitted(item.key)) continue
      const value = bytesOf(item.value)
      if (operations.length === operationsMax || bytes + value.length > bytesPerCommit) await flush()
      if (isLeased(item.key)) lease ??= await to.grantLease(copiedLeaseMs, signal)
      const leased = isLeased(item.key) && lease !== undefined ? { lease } : {}
      operations.push({ kind: 'put', key: item.key, value, ...leased })
      bytes += value.length + item.key.length
      keys++
    }
    const last = items.at(-1)
    if (remaining === 0 || last === undefined) break
    next = `${last.key}\0`
  }
  await flush()
  return keys
}
