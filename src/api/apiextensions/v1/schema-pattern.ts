// Patterns of schemas. Upstream reads them as RE2; here the engine of the runtime does, which knows all of RE2's syntax
// that schemas use in practice and some more.

const compiled = new Map<string, RegExp>()
/** Patterns kept compiled; the oldest goes first. */
const compiledMax = 1_000

export function schemaPattern(pattern: string): RegExp {
  const known = compiled.get(pattern)
  if (known !== undefined) return known
  const regex = new RegExp(pattern, 'u')
  if (compiled.size >= compiledMax) for (const [oldest] of compiled.entries().take(1)) compiled.delete(oldest)
  compiled.set(pattern, regex)
  return regex
}

/** What is wrong with a pattern; undefined when it can be used. */
export function patternError(pattern: string): string | undefined {
  try {
    schemaPattern(pattern)
    return undefined
  } catch (error) {
    return `error parsing regexp: ${error instanceof Error ? error.message : String(error)}`
  }
}
