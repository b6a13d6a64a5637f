// The keys of objects in the store, as upstream names them.
import { lookup } from '../../base/collections/lookup.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { objectKey } from '../../api/meta/object.ts'

export const registryPrefix = '/registry/'

/** Resources whose keys differ from their plural. */
const resourcePaths: Readonly<Record<string, string>> = {
  endpoints: 'services/endpoints',
  ingresses: 'ingress',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  services: 'services/specs',
}

const prefixes = new Map<Kind, string>()

export const keyPrefix = (kind: Kind): string =>
  getOrInsert(prefixes, kind, () => `${registryPrefix}${lookup(resourcePaths, kind.plural) ?? kind.plural}/`)

export const storeKey = (kind: Kind, namespace: string, name: string): string =>
  keyPrefix(kind) + objectKey(namespace, name)

/** The possible prefixes of a key: some resources have two levels, as `/registry/services/specs/`. */
export function keyPrefixesOf(key: string): readonly [string, string] {
  const first = key.indexOf('/', registryPrefix.length) + 1
  const second = key.indexOf('/', first) + 1
  return [key.slice(0, first), key.slice(0, second)]
}
