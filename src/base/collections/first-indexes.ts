// For each item of a list the index of the first one with the same id, its own where it is the first. Looking back from
// each item instead would cost the square of the length.

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

/** Whether an earlier item has the same id, for each item. */
export const areRepeated = <T>(items: readonly T[], idOf?: (item: T) => unknown): readonly boolean[] =>
  firstIndexes(items, idOf).map((first, index) => first < index)
