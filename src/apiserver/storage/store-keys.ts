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

/** Groups whose servers are separate ones upstream, and have keys with the group. */
const groupsInKeys: readonly string[] = ['apiextensions.k8s.io', 'apiregistration.k8s.io']

const prefixes = new WeakMap<Kind, string>()

export const keyPrefix = (kind: Kind): string =>
  getOrInsert(prefixes, kind, () => `${registryPrefix}${resourcePath(kind)}/`)

/** Groups of custom resources have a dot, so their keys differ from those of built-in kinds. */
const resourcePath = ({ group, plural, custom }: Kind): string =>
  custom === undefined && !groupsInKeys.includes(group)
    ? (lookup(resourcePaths, plural) ?? plural)
    : `${group}/${plural}`

/** The prefix that version 0.1 used instead, where it differs: without the group. */
export const earlierKeyPrefix = ({ group, plural }: Kind): string | undefined =>
  groupsInKeys.includes(group) ? `${registryPrefix}${plural}/` : undefined

/** Both of a kind whose keys differ, or the one. */
export const keyPrefixes = (kind: Kind): readonly string[] => {
  const earlier = earlierKeyPrefix(kind)
  return earlier === undefined ? [keyPrefix(kind)] : [keyPrefix(kind), earlier]
}

export const storeKey = (kind: Kind, namespace: string, name: string): string =>
  keyPrefix(kind) + objectKey(namespace, name)

/** The custom resource of a key, such as `/registry/example.com/widgets/default/a`; undefined for other keys. */
export function customResourceOf(key: string): Pick<Kind, 'group' | 'plural'> | undefined {
  const [group = '', plural = ''] = longPrefixOf(key).slice(registryPrefix.length).split('/')
  return group.includes('.') && plural !== '' ? { group, plural } : undefined
}

/** The value of a key's prefix. Some resources have two levels, as `/registry/services/specs/`; most have one, which is tried first. */
export const ofPrefix = <V>(byPrefix: ReadonlyMap<string, V>, key: string): V | undefined =>
  byPrefix.get(key.slice(0, shortPrefixLength(key))) ?? byPrefix.get(longPrefixOf(key))

/** With both levels. */
export const longPrefixOf = (key: string): string => key.slice(0, key.indexOf('/', shortPrefixLength(key)) + 1)

const shortPrefixLength = (key: string): number => key.indexOf('/', registryPrefix.length) + 1
