// Patterns of schemas are RE2's, as those of expressions are.
import { regex } from '../../../cel/values/regex.ts'

export const matchesPattern = (pattern: string, text: string): boolean => regex(pattern).matcher(text).find()

/** What is wrong with a pattern; undefined when it can be used. */
export function patternError(pattern: string): string | undefined {
  try {
    regex(pattern)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
