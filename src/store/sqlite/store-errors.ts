// The errors of a store on disk. Worker threads send them as a kind and a text.
import { StoreUnavailable } from '../store.ts'

/** Another process, or another store of this process, has the file open. */
export class StoreInUse extends Error {
  override name = 'StoreInUse'
}

/** The file is damaged. It is left unchanged. */
export class StoreCorrupt extends Error {
  override name = 'StoreCorrupt'
}

/** The file is not a store, or its format is newer. It is left unchanged. */
export class StoreFormatUnknown extends Error {
  override name = 'StoreFormatUnknown'
}

/** The disk, or the store's quota, is full. Nothing was written; the next write may succeed. */
export class StoreFull extends StoreUnavailable {
  override name = 'StoreFull'
}

/** The disk failed during a write. What was written is known only after the store is opened again. */
export class StoreBroken extends StoreUnavailable {
  override name = 'StoreBroken'
}

export class StoreClosed extends StoreUnavailable {
  override name = 'StoreClosed'
}

/** Too many writes are waiting for the disk. */
export class StoreOverloaded extends StoreUnavailable {
  override name = 'StoreOverloaded'
}

const failures = {
  'in use': StoreInUse,
  corrupt: StoreCorrupt,
  format: StoreFormatUnknown,
  full: StoreFull,
  broken: StoreBroken,
} as const

/** An error as a message between threads. */
export interface Failure {
  readonly kind: keyof typeof failures
  readonly text: string
}

export const errorOf = ({ kind, text }: Failure): Error => new failures[kind](text)

export function failureOf(action: string, error: unknown): Failure {
  for (const [kind, type] of Object.entries(failures))
    if (error instanceof type) return { kind: kind as Failure['kind'], text: error.message }
  return { kind: kindOf(error), text: `${action}: ${error instanceof Error ? error.message : String(error)}` }
}

// Primary result codes of SQLite, the low byte of `errcode`.
const sqliteBusy = 5
const sqliteCorrupt = 11
const sqliteFull = 13
const sqliteNotADatabase = 26

function kindOf(error: unknown): Failure['kind'] {
  const { errcode, code } = (error ?? {}) as { errcode?: number; code?: string }
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'full'
  switch ((errcode ?? 0) & 0xff) {
    case sqliteBusy:
      return 'in use'
    case sqliteCorrupt:
    case sqliteNotADatabase:
      return 'corrupt'
    case sqliteFull:
      return 'full'
    default:
      return 'broken'
  }
}
