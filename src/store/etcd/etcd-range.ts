// Ranges of keys as etcd writes them: the store's keys behind a prefix, and etcd's signs for "from here on".
import { prefixEnd } from '../../base/collections/ordered-map.ts'

/** etcd's own ends: an empty key is not allowed, and this end means that there is none. */
const first = '\0'
const noEnd = '\0'

export interface EtcdRange {
  readonly key: string
  readonly rangeEnd: string
}

export const allKeys: EtcdRange = { key: first, rangeEnd: noEnd }

/** From `start` up to `end`, which may be empty for no end, among the keys with the prefix. */
export function etcdRange(prefix: string, start: string, end: string): EtcdRange {
  const rangeEnd = end === '' ? prefixEnd(prefix) : prefix + end
  return { key: prefix + start || first, rangeEnd: rangeEnd || noEnd }
}

export const contains = ({ key, rangeEnd }: EtcdRange, candidate: string): boolean =>
  candidate >= key && (rangeEnd === noEnd || candidate < rangeEnd)

/** The first key that can come after this one. */
export const keyAfter = (key: string): string => `${key}\0`
