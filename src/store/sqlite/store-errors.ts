// What can go wrong with a store on disk, each with its own name. Worker threads send them as a kind and a text.
import { StoreUnavailable } from '../store.ts'

/** Another process, or another store of this one, has the file. */
export class StoreInUse extends Error {
  override name = 'StoreInUse'
}

/** The file is damaged. It is left as it was found. */
export class StoreCorrupt extends Error {
  override name = 'StoreCorrupt'
}

/** The file is not a store, or one of a newer format. It is left as it was found. */
export class StoreFormatUnknown extends Error {
  override name = 'StoreFormatUnknown'
}

/** The disk, or the store's share of it, is full: nothing was written; the next write may find space again. */
export class StoreFull extends StoreUnavailable {
  override name = 'StoreFull'
}

/** The disk failed in the middle: what it holds is known only after the store is opened again. */
export class StoreBroken extends StoreUnavailable {
  override name = 'StoreBroken'
}

export class StoreClosed extends StoreUnavailable {
  override name = 'StoreClosed'
}

/** More writes wait for the disk than a store holds. */
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

// Primary result codes of SQLite; the upper bits of `errcode` say more than is needed here.
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
