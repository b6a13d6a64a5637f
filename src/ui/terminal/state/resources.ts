// The resources that can be listed, and the names under which users know them: plural, singular, kind and short names,
// with or without the group.
import type { KindNames } from '../../../api/kind/kind.ts'
import { similarNames, didYouMean } from '../../../base/text/similar-names.ts'

export interface Resource extends Omit<KindNames, 'categories'> {
  readonly verbs: readonly string[]
}

/** An object of a list. */
export interface ObjectRef {
  readonly resource: Resource
  /** Empty for objects without a namespace. */
  readonly namespace: string
  readonly name: string
}

export const objectText = ({ resource, namespace, name }: ObjectRef): string =>
  `${resource.singular} ${namespace === '' ? '' : `${namespace}/`}${name}`

export const isPod = ({ plural, group }: Resource): boolean => plural === 'pods' && group === ''

const namesOf = ({ group, kind, plural, singular, shortNames }: Resource): readonly string[] => [
  plural,
  singular,
  ...shortNames,
  kind.toLowerCase(),
  `${plural}.${group}`,
  `${singular}.${group}`,
]

/** Names that k9s has in addition. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['cr', 'clusterroles'],
  ['crb', 'clusterrolebindings'],
  ['dp', 'deployments'],
  ['jo', 'jobs'],
  ['np', 'networkpolicies'],
  ['rb', 'rolebindings'],
  ['ro', 'roles'],
  ['sec', 'secrets'],
])

/** The core group comes first in discovery, so it decides between equal names. */
export function resourceNamed(typed: string, resources: readonly Resource[]): Resource | undefined {
  const name = typed.toLowerCase()
  const named = (wanted: string) => resources.find((resource) => namesOf(resource).includes(wanted))
  return named(name) ?? named(aliases.get(name) ?? name)
}

/** A name that begins with the typed text: a short name that is typed in full, or the first plural. */
export function completionOf(typed: string, resources: readonly Resource[], others: readonly string[]): string {
  if (typed === '' || resourceNamed(typed, resources) !== undefined) return typed
  const names = [...resources.map(({ plural }) => plural), ...others].toSorted((a, b) => a.length - b.length)
  return names.find((name) => name.startsWith(typed.toLowerCase())) ?? typed
}

export function unknownResourceText(typed: string, resources: readonly Resource[]): string {
  const question = didYouMean(
    similarNames(
      typed,
      resources.map(({ plural }) => plural),
    ),
  )
  return `unknown kind ${JSON.stringify(typed)}; ${question || 'ctrl-a lists all'}`
}
