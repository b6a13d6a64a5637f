// The resource of a store key, for the labels of the store's metrics.
import { kinds } from '../../api/kinds.ts'
import { customResourceOf, keyPrefix, ofPrefix } from '../../apiserver/storage/store-keys.ts'
import type { StoredResource } from '../../store/measured-store.ts'

const byPrefix: ReadonlyMap<string, StoredResource> = new Map(
  kinds
    .filter(({ storedAs, computed }) => storedAs === undefined && computed === undefined)
    .map((kind) => [keyPrefix(kind), { group: kind.group, resource: kind.plural }]),
)

/** Keys of the server itself, such as the allocations of Services. */
const other: StoredResource = { group: '', resource: 'other' }

export const storedResource = (key: string): StoredResource => ofPrefix(byPrefix, key) ?? customResource(key) ?? other

function customResource(key: string): StoredResource | undefined {
  const found = customResourceOf(key)
  return found && { group: found.group, resource: found.plural }
}
