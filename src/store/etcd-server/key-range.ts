// Key ranges in etcd's notation: one key, [key, end), or from a key on.

export interface KeyRange {
  readonly start: string
  /** Exclusive; empty: no end. */
  readonly end: string
}

/** An end of one zero byte means no end, and a missing one the single key. */
export function keyRange(key: string, rangeEnd: string): KeyRange {
  if (rangeEnd === '') return { start: key, end: `${key}\0` }
  return { start: key, end: rangeEnd === '\0' ? '' : rangeEnd }
}

export const contains = ({ start, end }: KeyRange, key: string): boolean => key >= start && (end === '' || key < end)

export const isEmptyRange = ({ start, end }: KeyRange): boolean => end !== '' && end <= start
