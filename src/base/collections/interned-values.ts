// Interned values: parts of objects that occur many times and are stored once. Results that depend on such a value
// alone are computed once.

const shared = new WeakSet<object>()

/** Marks a value as interned. Like all values it must not be mutated. */
export function markInterned<V extends object>(value: V): V {
  shared.add(value)
  return value
}

export const isInterned = (value: object): boolean => shared.has(value)

/** Memoizes a function for interned values. The function must depend on nothing else and must not return undefined. */
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
