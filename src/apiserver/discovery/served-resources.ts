// The verbs and subresources of each kind, for discovery and OpenAPI.
import { scale } from '../../api/autoscaling/v1/scale.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { readWriteVerbs, type Subresource } from '../../api/kind/subresource.ts'
import type { KindCatalogue } from '../kinds/kind-catalogue.ts'
import { fixedStrategies } from '../strategies/strategies.ts'

const objectVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const

export function verbsOf(kind: Kind): readonly string[] {
  if (kind.computed !== undefined) return kind.computed
  const isOneByOne = fixedStrategies.some((strategy) => strategy.kind === kind && strategy.hasNoDeleteCollection)
  return isOneByOne ? objectVerbs.filter((verb) => verb !== 'deletecollection') : objectVerbs
}

/** As upstream's list of a custom kind; while its definition is being deleted, its objects can only be read and deleted. */
const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'] as const
const terminatingVerbs = ['delete', 'deletecollection', 'get', 'list', 'watch'] as const

/** The verbs in discovery. */
export const discoveredVerbsOf = (catalogue: Pick<KindCatalogue, 'isTerminating'>, kind: Kind): readonly string[] =>
  kind.custom === undefined ? verbsOf(kind) : catalogue.isTerminating(kind) ? terminatingVerbs : customVerbs

const scaleSubresource: Subresource = {
  name: 'scale',
  verbs: readWriteVerbs,
  response: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  body: scale,
}

/** In the order of discovery: upstream does not sort those of custom kinds. */
export const discoveredSubresourcesOf = (kind: Kind): readonly Subresource[] =>
  kind.custom === undefined ? subresourcesOf(kind) : subresourcesOf(kind).toReversed()

/** Sorted by name. */
export const subresourcesOf = (kind: Kind): readonly Subresource[] =>
  [
    ...(kind.subresources ?? []),
    ...(kind.scale === undefined ? [] : [scaleSubresource]),
    ...(kind.hasStatus ? [{ name: 'status', verbs: readWriteVerbs }] : []),
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** The path of a group and version: `/api/v1`, `/apis/apps/v1`. */
export const rootPath = ({ group, version }: { readonly group: string; readonly version: string }): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`
