// The namespaces of the keys 1 to 9, as in k9s: the own one first, then those that were chosen. 0 is all namespaces.
import type { State } from './state.ts'

export const favoritesMax = 9

/** Makes it the namespace of new lists. When all keys are taken, the namespace that was chosen first loses its key. */
export function inNamespace(state: State, namespace: string): State {
  const { favorites } = state
  if (namespace === '' || favorites.includes(namespace)) return { ...state, namespace }
  const kept = favorites.length < favoritesMax ? favorites : favorites.toSpliced(1, 1)
  return { ...state, namespace, favorites: [...kept, namespace] }
}

/** The namespace of a digit: empty for all, undefined if the key has none. */
export const favoriteOf = ({ favorites }: State, digit: string): string | undefined =>
  digit === '0' ? '' : favorites[Number(digit) - 1]

/** The keys and their namespaces, for the header. */
export const favoriteHints = ({ favorites }: State): readonly (readonly [key: string, label: string])[] =>
  ['all', ...favorites].map((namespace, index) => [String(index), namespace] as const)
