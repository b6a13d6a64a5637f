// Regular expressions of expressions are RE2's: linear in the text, whatever the pattern. Compiled ones are kept.
import { RE2JS } from 're2js'
import { EvalError } from './eval-error.ts'

const keptMax = 512
const kept = new Map<string, RE2JS>()

/** Throws what is wrong with the pattern. */
export function regex(pattern: string): RE2JS {
  const known = kept.get(pattern)
  if (known !== undefined) return known
  const compiled = compiledRegex(pattern)
  if (kept.size >= keptMax) kept.clear()
  kept.set(pattern, compiled)
  return compiled
}

function compiledRegex(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    throw new EvalError(error instanceof Error ? error.message : String(error))
  }
}
