// For each item of a list, the index of the first item with the same id. Searching backwards from each item would take
// quadratic time.

export function firstIndexes<T>(items: readonly T[], idOf: (item: T) => unknown = (item) => item): readonly number[] {
  const firsts = new Map<unknown, number>()
  return items.map((item, index) => {
    const id = idOf(item)
    const first = firsts.get(id)
    if (first !== undefined) return first
    firsts.set(id, index)
    return index
  })
}

/** For each item, whether an earlier item has the same id. */
export const areRepeated = <T>(items: readonly T[], idOf?: (item: T) => unknown): readonly boolean[] =>
  firstIndexes(items, idOf).map((first, index) => first < index)
