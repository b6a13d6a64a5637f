// The record of what concurrent clients did to the objects of one collection, and the file format of it: one JSON object
// per line, described in docs/histories.md.

/** The content of an object between two writes; unique in a history. */
export type Version = string

export type Input =
  | { readonly kind: 'create'; readonly version: Version }
  | { readonly kind: 'get' }
  /** On the condition that the object still has the resourceVersion of `from`. */
  | { readonly kind: 'update'; readonly from: Version; readonly version: Version }
  | { readonly kind: 'patch'; readonly version: Version }
  /** With `from`, on the same condition as an update. */
  | { readonly kind: 'delete'; readonly from?: Version }

export type Output =
  /** The response to a deletion has no revision. */
  | { readonly kind: 'written'; readonly revision?: number }
  | { readonly kind: 'found'; readonly version: Version; readonly revision: number }
  /** 404 */
  | { readonly kind: 'absent' }
  /** 409: the object exists already, or has another resourceVersion. */
  | { readonly kind: 'conflict' }
  /** There was no response, or one that does not say whether anything was written. */
  | { readonly kind: 'unknown' }

interface Timed {
  readonly client: number
  /** The API server that was asked. */
  readonly server: number
  /** Positions in the one order of all calls and responses of the record. */
  readonly call: number
  readonly return: number
}

export interface ObjectCall extends Timed {
  readonly record: 'call'
  readonly key: string
  readonly input: Input
  readonly output: Output
}

export interface ListedItem {
  readonly key: string
  readonly version: Version
  readonly revision: number
}

/** A consistent list of the whole collection. Each page states its revision. */
export interface ListCall extends Timed {
  readonly record: 'list'
  readonly revisions: readonly number[]
  readonly items: readonly ListedItem[]
}

export interface WatchedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly key: string
  /** Of a deletion, the version that was deleted. */
  readonly version: Version
  readonly revision: number
}

/** A watch that was resumed, maybe at another server, whenever it ended. */
export interface WatchRecord {
  readonly record: 'watch'
  readonly name: string
  /** The events after this revision, up to and including `to`, in the order in which they were delivered. */
  readonly from: number
  readonly to: number
  readonly events: readonly WatchedEvent[]
}

export interface History {
  readonly calls: readonly ObjectCall[]
  readonly lists: readonly ListCall[]
  readonly watches: readonly WatchRecord[]
}

export const historyText = ({ calls, lists, watches }: History): string =>
  [...calls, ...lists, ...watches].map((record) => `${JSON.stringify(record)}\n`).join('')

export function parseHistory(text: string): History {
  const records = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ObjectCall | ListCall | WatchRecord)
  return {
    calls: records.filter(({ record }) => record === 'call') as ObjectCall[],
    lists: records.filter(({ record }) => record === 'list') as ListCall[],
    watches: records.filter(({ record }) => record === 'watch') as WatchRecord[],
  }
}
