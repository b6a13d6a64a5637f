// Patterns of schemas have RE2 syntax, like those of expressions. Their size and the work of matching are bounded.
import type { RE2JS } from 're2js'
import { regex } from '../../../cel/values/regex.ts'
import { patternSize } from './pattern-size.ts'
import { PatternProgram, type Program, type StepBudget } from './pattern-program.ts'

/** What matching may cost: by the library, as instructions times characters, and by bounded programs. */
export interface MatchBudget extends StepBudget {
  direct: number
}

/** Larger patterns take too long to compile. */
const patternSizeMax = 5_000

export type CompiledPattern =
  | { readonly kind: 'pattern'; find(text: string, budget: MatchBudget): boolean | undefined }
  | { readonly kind: 'wrong'; readonly why: string }

export function compilePattern(pattern: string): CompiledPattern {
  if (patternSize(pattern) > patternSizeMax)
    return { kind: 'wrong', why: `expands to more than ${patternSizeMax} instructions` }
  try {
    const compiled = regex(pattern)
    // The library's types do not include the program.
    const { prog } = (compiled as unknown as { readonly re2Input: { readonly prog: Program } }).re2Input
    return boundedPattern(compiled, prog, patternSize(pattern))
  } catch (error) {
    return { kind: 'wrong', why: error instanceof Error ? error.message : String(error) }
  }
}

/** The library matches short texts, of which even the most expensive costs little; the bounded program all others. */
function boundedPattern(compiled: RE2JS, prog: Program, size: number): CompiledPattern {
  let program: PatternProgram | undefined
  return {
    kind: 'pattern',
    find(text, budget) {
      const cost = size * (text.length + 1)
      if (cost > budget.direct) return (program ??= new PatternProgram(prog)).find(text, budget)
      budget.direct -= cost
      return compiled.test(text)
    },
  }
}

/** The error of a pattern; undefined when it is valid. */
export function patternError(pattern: string): string | undefined {
  const compiled = compilePattern(pattern)
  return compiled.kind === 'wrong' ? compiled.why : undefined
}
