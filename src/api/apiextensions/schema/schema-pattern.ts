// Patterns of schemas have RE2 syntax, like those of expressions.
import { regex, type Regex } from '../../../cel/regex/regex.ts'

/** The compiled pattern, or why it is wrong. */
export function compilePattern(pattern: string): Regex | string {
  try {
    return regex(pattern)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The error of a pattern; undefined when it is valid. */
export function patternError(pattern: string): string | undefined {
  const compiled = compilePattern(pattern)
  return typeof compiled === 'string' ? compiled : undefined
}
