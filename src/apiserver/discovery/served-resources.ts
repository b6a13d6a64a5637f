// The verbs and subresources of each kind, for discovery and OpenAPI.
import { scale } from '../../api/autoscaling/v1/scale.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { readWriteVerbs, type Subresource } from '../../api/kind/subresource.ts'
import { strategies } from '../strategies/strategies.ts'

const objectVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const

export function verbsOf(kind: Kind): readonly string[] {
  if (kind.computed !== undefined) return kind.computed
  const isOneByOne = strategies.some((strategy) => strategy.kind === kind && strategy.hasNoDeleteCollection)
  return isOneByOne ? objectVerbs.filter((verb) => verb !== 'deletecollection') : objectVerbs
}

const scaleSubresource: Subresource = {
  name: 'scale',
  verbs: readWriteVerbs,
  response: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  body: scale,
}

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
