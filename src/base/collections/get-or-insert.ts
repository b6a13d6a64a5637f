/** What is used of a Map or a WeakMap. */
interface MutableMap<K, V> {
  get(key: K): V | undefined
  has(key: K): boolean
  set(key: K, value: V): unknown
}

/** Returns the value of a key, inserting the result of `make` when the key is missing. */
export function getOrInsert<K, V>(map: MutableMap<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined || map.has(key)) return known as V
  const fresh = make()
  map.set(key, fresh)
  return fresh
}
