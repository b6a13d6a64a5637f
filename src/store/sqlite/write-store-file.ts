// writeStoreFile: the state of a store of any driver at one revision, as the file of an SQLite store. Only a page of it is in
// memory at a time. The file has no history: every watch of a client starts again.
import { rm } from 'node:fs/promises'
import type { Clock } from '../../base/time/clock.ts'
import type { Workers } from '../../platform/process/workers.ts'
import { copiedLeaseMs, type CopiedKeys } from '../copy-store.ts'
import type { KeyValue, LeaseId, Store } from '../store.ts'
import { DiskClient } from './disk-client.ts'
import { pack, type Change } from './packed-changes.ts'
import { fileBytesMaxDefault } from './sqlite-store.ts'

export interface StoreFileDeps {
  readonly workers: Workers
  readonly clock: Clock
}

/** Values can have a megabyte each. The number of keys in a page follows the size of the previous page. */
const pageBytes = 4 << 20
const pageKeysFirst = 16
const pageKeysMax = 1_000
/** The lease of all keys that end by themselves. */
const copiedLease: LeaseId = 1

/** Writes to a path that has no store. Returns the revision of the state; that of the file is the next one. */
export async function writeStoreFile(
  from: Store,
  to: string,
  keys: CopiedKeys,
  { workers, clock }: StoreFileDeps,
  signal: AbortSignal,
): Promise<number> {
  signal.throwIfAborted()
  const disk = new DiskClient({ path: to, fileBytesMax: fileBytesMaxDefault, syncs: true }, workers, () => {})
  try {
    await disk.opened()
    const revision = await from.freshRevision(signal)
    const nowMs = clock.nowMs()
    const lease = { id: copiedLease, ttlMs: copiedLeaseMs, expiresMs: nowMs + copiedLeaseMs }
    await disk.request({ kind: 'write', changes: pack([]), leases: [{ kind: 'granted', lease }] })
    for await (const items of pagesOf(from, keys, revision, signal)) {
      const changes = items
        .filter(({ key }) => !keys.isOmitted(key))
        .map((item) => changeOf(item, keys.isLeased(item.key) ? copiedLease : undefined, nowMs))
      await disk.request({ kind: 'import', changes: pack(changes) })
    }
    await disk.request({ kind: 'compact', revision: revision + 1, revisions: new Float64Array(), keys: [] })
    await disk.request({ kind: 'close' })
    return revision
  } finally {
    await disk.stop()
    await rm(`${to}-lock`, { force: true })
  }
}

async function* pagesOf(
  from: Store,
  { start, end }: CopiedKeys,
  revision: number,
  signal: AbortSignal,
): AsyncGenerator<readonly KeyValue[]> {
  let limit = pageKeysFirst
  for (let next = start; ;) {
    const { items, remaining } = await from.range({ start: next, end, limit, revision }, signal)
    yield items
    const last = items.at(-1)
    if (remaining === 0 || last === undefined) return
    next = `${last.key}\0`
    const bytes = items.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
    limit = Math.min(pageKeysMax, Math.max(1, Math.floor((items.length * pageBytes) / Math.max(1, bytes))))
  }
}

const changeOf = (
  { key, value, createRevision, modRevision, version }: KeyValue,
  lease: LeaseId | undefined,
  atMs: number,
): Change => ({ revision: modRevision, ordinal: 0, key, value, createRevision, version, lease, atMs })
