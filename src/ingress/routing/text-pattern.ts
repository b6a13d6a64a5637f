// TextPattern: a regular expression of a route, in RE2 syntax. It matches a text as a whole, in time that is linear in its
// length; a budget bounds the patterns that one request is compared with.
import { regex, type Regex } from '../../cel/regex/regex.ts'

/** What the patterns of routes cost one request at most: instructions times characters. About 10 ms. */
export const patternWorkMax = 500_000
/** A larger pattern is not supported. */
export const patternInstructionsMax = 1_000

/** The request was compared with too many patterns, or with too large ones. */
export class PatternWorkExceeded extends Error {
  override name = 'PatternWorkExceeded'
  override message = 'comparing the request with regular expressions takes too long'
}

/** What one request may still cost. */
export class PatternBudget {
  #left = patternWorkMax

  /** Throws PatternWorkExceeded. */
  spend(work: number): void {
    this.#left -= work
    if (this.#left < 0) throw new PatternWorkExceeded()
  }
}

export class TextPattern {
  readonly source: string
  readonly #regex: Regex

  constructor(source: string, compiled: Regex) {
    this.source = source
    this.#regex = compiled
  }

  matches(text: string, budget: PatternBudget): boolean {
    budget.spend(this.#regex.size * (text.length + 1))
    return this.#regex.library.testExact(text)
  }
}

/** A text says why the pattern is not supported. */
export function textPattern(source: string): TextPattern | string {
  try {
    const compiled = regex(source)
    if (compiled.size <= patternInstructionsMax) return new TextPattern(source, compiled)
    return `a regular expression expands to more than ${patternInstructionsMax} instructions`
  } catch (error) {
    return `a regular expression is not valid: ${(error as Error).message}`
  }
}
