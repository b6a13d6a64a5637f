// Shared values: parts of objects that come again and again and are kept once. What follows from such a value alone is
// worked out once for all who hold it.

const shared = new WeakSet<object>()

/** From now on others may hold the value too. As all values it must not be changed. */
export function markInterned<V extends object>(value: V): V {
  shared.add(value)
  return value
}

export const isInterned = (value: object): boolean => shared.has(value)

/** The same function, asked once about a shared value. It must depend on nothing else and return something. */
export function memoizeInterned<V extends object, R extends {}>(work: (value: V) => R): (value: V) => R {
  const known = new WeakMap<V, R>()
  return (value) => {
    const found = known.get(value)
    if (found !== undefined) return found
    const result = work(value)
    if (isInterned(value)) known.set(value, result)
    return result
  }
}
