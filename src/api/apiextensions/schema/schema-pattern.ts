// Patterns of schemas have RE2 syntax, like those of expressions. Their size and the work of matching are bounded.
import type { StepBudget } from '../../../cel/regex/pattern-program.ts'
import { regex } from '../../../cel/regex/regex.ts'

/** What matching may cost: by the library, as instructions times characters, and by bounded programs. */
export interface MatchBudget extends StepBudget {
  direct: number
}

export type CompiledPattern =
  | { readonly kind: 'pattern'; find(text: string, budget: MatchBudget): boolean | undefined }
  | { readonly kind: 'wrong'; readonly why: string }

/** The library matches short texts, of which even the most expensive costs little; the bounded program all others. */
export function compilePattern(pattern: string): CompiledPattern {
  try {
    const compiled = regex(pattern)
    return {
      kind: 'pattern',
      find(text, budget) {
        const cost = compiled.size * (text.length + 1)
        if (cost > budget.direct) return compiled.program.find(text, budget)
        budget.direct -= cost
        return compiled.library.test(text)
      },
    }
  } catch (error) {
    return { kind: 'wrong', why: error instanceof Error ? error.message : String(error) }
  }
}

/** The error of a pattern; undefined when it is valid. */
export function patternError(pattern: string): string | undefined {
  const compiled = compilePattern(pattern)
  return compiled.kind === 'wrong' ? compiled.why : undefined
}
