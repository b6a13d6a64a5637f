// Responses whose lists upstream writes in the random order of Go's maps: errors, causes, warnings.

/** The exchange with sorted lists, and texts with sorted words. */
export function unordered(value: unknown): unknown {
  if (typeof value === 'string')
    return value
      .split(/[\s,[\]]+/)
      .toSorted()
      .join(' ')
  if (Array.isArray(value))
    return value.map(unordered).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, unordered(each)]))
}
