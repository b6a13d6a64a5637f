/** The value at a key of a map, made and kept when there is none. */
export function getOrInsert<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined || map.has(key)) return known as V
  const fresh = make()
  map.set(key, fresh)
  return fresh
}
