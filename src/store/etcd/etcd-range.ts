// Key ranges in etcd's notation: the keys of the store with a prefix, and etcd's notation for an open end.
import { prefixEnd } from '../../base/collections/ordered-map.ts'

/** etcd does not allow an empty key, and uses this end for an open range. */
const first = '\0'
const noEnd = '\0'

export interface EtcdRange {
  readonly key: string
  readonly rangeEnd: string
}

export const allKeys: EtcdRange = { key: first, rangeEnd: noEnd }

/** The keys with the prefix from `start` up to `end`; an empty end means no end. */
export function etcdRange(prefix: string, start: string, end: string): EtcdRange {
  const rangeEnd = end === '' ? prefixEnd(prefix) : prefix + end
  return { key: prefix + start || first, rangeEnd: rangeEnd || noEnd }
}

export const contains = ({ key, rangeEnd }: EtcdRange, candidate: string): boolean =>
  candidate >= key && (rangeEnd === noEnd || candidate < rangeEnd)

/** The smallest key that is greater than this one. */
export const keyAfter = (key: string): string => `${key}\0`
