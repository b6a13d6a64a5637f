// Which resource a key of the store belongs to, for the labels of the store's metrics.
import { kinds } from '../../api/kinds.ts'
import { keyPrefix, keyPrefixesOf } from '../../apiserver/storage/store-keys.ts'
import type { StoredResource } from '../../store/measured-store.ts'

const byPrefix: ReadonlyMap<string, StoredResource> = new Map(
  kinds
    .filter(({ storedAs, computed }) => storedAs === undefined && computed === undefined)
    .map((kind) => [keyPrefix(kind), { group: kind.group, resource: kind.plural }]),
)

/** Keys of the server's own, such as the ranges of addresses that Services hold. */
const other: StoredResource = { group: '', resource: 'other' }

export function storedResource(key: string): StoredResource {
  const [short, long] = keyPrefixesOf(key)
  return byPrefix.get(short) ?? byPrefix.get(long) ?? other
}
