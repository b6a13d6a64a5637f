// Regular expressions of expressions have RE2 syntax and take linear time. Compiled ones are cached.
import { RE2JS } from 're2js'
import { EvalError } from './eval-error.ts'

const keptMax = 512
const kept = new Map<string, RE2JS>()

/** Throws the error of the pattern. */
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
