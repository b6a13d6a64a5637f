// Patterns of schemas have RE2 syntax, like those of expressions.
import { regex } from '../../../cel/values/regex.ts'

/** Whether the pattern matches a part of the text. */
export const matchesPattern = (pattern: string, text: string): boolean => regex(pattern).test(text)

/** The error of a pattern; undefined when it is valid. */
export function patternError(pattern: string): string | undefined {
  try {
    regex(pattern)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
