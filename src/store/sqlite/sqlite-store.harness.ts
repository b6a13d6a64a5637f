// Helpers for the tests of the SQLite driver: a temporary directory, stores in it, and short functions to write and
// read.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { nodeWorkers } from '../../platform/node/process/workers.ts'
import type { LeaseId, Store } from '../store.ts'
import { SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'

export const { signal } = new AbortController()
export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (value: Uint8Array | undefined): string => new TextDecoder().decode(value)

/** The path of a store in its own temporary directory. */
export function freshPath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coxswain-sqlite-'))
  after(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'store.db')
}

/** Opens a store that is closed when the tests end. */
export async function openAt(path: string, options: Partial<SqliteStoreOptions> = {}): Promise<SqliteStore> {
  const store = await SqliteStore.open({ path, clock: realClock, workers: nodeWorkers, ...options }, signal)
  after(() => store.close())
  return store
}

export const put = (store: Store, key: string, value: string, lease?: LeaseId) =>
  store.commit(
    {
      conditions: [],
      operations: [{ kind: 'put', key, value: bytes(value), ...(lease === undefined ? {} : { lease }) }],
    },
    signal,
  )

export const remove = (store: Store, key: string) =>
  store.commit({ conditions: [], operations: [{ kind: 'delete', key }] }, signal)

/** The content as text, at an old revision if one is given. */
export async function contentOf(store: Store, revision = store.revision): Promise<string[]> {
  const { items } = await store.range({ start: '', end: '', revision }, signal)
  return items.map((item) => `${item.key}=${text(item.value)} ${item.createRevision} ${item.modRevision}`)
}

/** The first `count` events from revision `from` on, as text. */
export async function eventsOf(store: Store, from: number, count: number): Promise<string[]> {
  const seen: string[] = []
  if (count === 0) return seen
  for await (const { events } of store.watch({ prefix: '', from }, signal)) {
    for (const event of events)
      seen.push(
        event.kind === 'put'
          ? `${event.revision} ${event.item.key}=${text(event.item.value)} was ${text(event.previous?.value)}`
          : `${event.revision} ${event.key} gone was ${text(event.previous.value)}`,
      )
    if (seen.length >= count) break
  }
  return seen
}
