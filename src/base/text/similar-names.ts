// Similar names for "did you mean …?" messages.

/** Maximum number of suggestions. */
const suggestionsMax = 3

/** The known names that are similar to the wanted one, closest first. */
export function similarNames(wanted: string, known: Iterable<string>): string[] {
  const target = wanted.toLowerCase()
  const distanceMax = Math.max(1, Math.floor(target.length / 3))
  const ranked: { readonly name: string; readonly distance: number }[] = []
  for (const name of new Set(known)) {
    const distance = distanceTo(target, name.toLowerCase(), distanceMax)
    if (distance !== undefined) ranked.push({ name, distance })
  }
  return ranked
    .toSorted((a, b) => a.distance - b.distance || a.name.localeCompare(b.name, 'en'))
    .slice(0, suggestionsMax)
    .map(({ name }) => name)
}

/** `did you mean a, b or c?`, or an empty string without names. */
export function didYouMean(names: readonly string[]): string {
  if (names.length === 0) return ''
  const last = names.at(-1) ?? ''
  const words = names.length === 1 ? last : `${names.slice(0, -1).join(', ')} or ${last}`
  return `did you mean ${words}?`
}

/** A common prefix counts as close, regardless of the remaining length. */
function distanceTo(target: string, name: string, distanceMax: number): number | undefined {
  if (target.length > 1 && (name.startsWith(target) || target.startsWith(`${name}-`))) return 0.5
  if (Math.abs(target.length - name.length) > distanceMax) return undefined
  const distance = editDistance(target, name)
  return distance <= distanceMax ? distance : undefined
}

/** Number of insertions, deletions, replacements and swaps of adjacent characters. */
function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      let best = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
      )
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (isSwapped) best = Math.min(best, (beforePrevious[column - 2] ?? 0) + 1)
      current.push(best)
    }
    ;[beforePrevious, previous] = [previous, current]
  }
  return previous[to.length] ?? 0
}
