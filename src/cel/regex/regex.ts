// Regular expressions of expressions and schemas have RE2 syntax and take linear time. Compiled ones are cached.
import { RE2JS } from 're2js'
import { EvalError } from '../values/eval-error.ts'
import { programOf } from './instructions.ts'
import { MatchMachine, type Match } from './match-machine.ts'
import { PatternProgram } from './pattern-program.ts'
import { patternSize } from './pattern-size.ts'

/** A larger pattern takes too long to compile. */
export const patternSizeMax = 5_000

/** The library is faster but cannot be interrupted: it searches if instructions times characters are below this. */
const uninterruptedWorkMax = 50_000

export class Regex {
  readonly library: RE2JS
  /** The number of instructions. */
  readonly size: number
  #program: PatternProgram | undefined
  #machine: MatchMachine | undefined

  constructor(pattern: string, size: number) {
    this.library = RE2JS.compile(pattern)
    this.size = size
  }

  /** Decides in steps whether a text matches. */
  get program(): PatternProgram {
    return (this.#program ??= new PatternProgram(programOf(this.library)))
  }

  /** Whether a part of the text matches. Yields regularly. */
  *test(text: string): Generator<undefined, boolean, undefined> {
    return this.isShort(text) ? this.library.test(text) : yield* this.program.search(text)
  }

  /** The matches from left to right. An empty one directly after another match does not count. Yields undefined regularly. */
  *matches(text: string): Generator<Match | undefined, undefined, undefined> {
    let previousEnd = -1
    for (const match of this.isShort(text) ? this.#librarySearch(text) : this.#steppedSearch(text)) {
      if (match === undefined || match.end > match.start || match.start !== previousEnd) yield match
      previousEnd = match?.end ?? previousEnd
    }
  }

  *#librarySearch(text: string): Generator<Match, undefined, undefined> {
    const matcher = this.library.matcher(text)
    while (matcher.find()) yield { start: matcher.start(), end: matcher.end() }
  }

  *#steppedSearch(text: string): Generator<Match | undefined, undefined, undefined> {
    this.#machine ??= new MatchMachine(programOf(this.library))
    for (let at = 0; at <= text.length;) {
      const match: Match | undefined = yield* this.#machine.find(text, at)
      if (match === undefined) return
      yield match
      at = match.end > match.start ? match.end : match.end + widthAt(text, match.end)
    }
  }

  /** Whether the library searches the text quickly, whatever the pattern. */
  isShort(text: string): boolean {
    return this.size * (text.length + 1) <= uninterruptedWorkMax
  }
}

const widthAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1)

const keptMax = 512
const kept = new Map<string, Regex>()

/** Throws the error of the pattern. */
export function regex(pattern: string): Regex {
  const known = kept.get(pattern)
  if (known !== undefined) return known
  const compiled = compiledRegex(pattern)
  if (kept.size >= keptMax) kept.clear()
  kept.set(pattern, compiled)
  return compiled
}

function compiledRegex(pattern: string): Regex {
  const size = patternSize(pattern)
  if (size > patternSizeMax) throw new EvalError(`expands to more than ${patternSizeMax} instructions`)
  try {
    return new Regex(pattern, size)
  } catch (error) {
    throw new EvalError(error instanceof Error ? error.message : String(error))
  }
}
