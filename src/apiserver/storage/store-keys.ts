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

const prefixes = new WeakMap<Kind, string>()

export const keyPrefix = (kind: Kind): string =>
  getOrInsert(prefixes, kind, () => `${registryPrefix}${resourcePath(kind)}/`)

/** Groups of custom resources have a dot, so their keys differ from those of built-in kinds. */
const resourcePath = ({ group, plural, custom }: Kind): string =>
  custom === undefined ? (lookup(resourcePaths, plural) ?? plural) : `${group}/${plural}`

export const storeKey = (kind: Kind, namespace: string, name: string): string =>
  keyPrefix(kind) + objectKey(namespace, name)

/** The custom resource of a key, such as `/registry/example.com/widgets/default/a`; undefined for other keys. */
export function customResourceOf(key: string): Pick<Kind, 'group' | 'plural'> | undefined {
  const [, prefix] = keyPrefixesOf(key)
  const [group = '', plural = ''] = prefix.slice(registryPrefix.length).split('/')
  return group.includes('.') && plural !== '' ? { group, plural } : undefined
}

/** The possible prefixes of a key: some resources have two levels, as `/registry/services/specs/`. */
export function keyPrefixesOf(key: string): readonly [string, string] {
  const first = key.indexOf('/', registryPrefix.length) + 1
  const second = key.indexOf('/', first) + 1
  return [key.slice(0, first), key.slice(0, second)]
}
