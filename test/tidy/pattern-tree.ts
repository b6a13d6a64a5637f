// The structure of a regular expression as a tree: sequences, alternatives and repetitions. A single character or class
// remains text; its meaning is evaluated by the engine.

export type PatternTree =
  | { readonly kind: 'character'; readonly text: string }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternTree[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternTree[] }
  | { readonly kind: 'repeat'; readonly part: PatternTree; readonly min: number; readonly max: number }
  | { readonly kind: 'lookaround'; readonly part: PatternTree }
  | { readonly kind: 'start' | 'end' | 'boundary' | 'backreference' }

/** The pattern is valid: the JavaScript parser accepted it before. */
export function parsePattern(pattern: string): PatternTree {
  let at = 0
  const take = (expected: RegExp): RegExpExecArray | undefined => {
    const sticky = new RegExp(expected, 'y')
    sticky.lastIndex = at
    const found = sticky.exec(pattern) ?? undefined
    at += found?.[0].length ?? 0
    return found
  }

  const choice = (): PatternTree => {
    const parts = [sequence()]
    while (take(/\|/)) parts.push(sequence())
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'choice', parts }
  }
  const sequence = (): PatternTree => {
    const parts: PatternTree[] = []
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') parts.push(repeated(atom()))
    return { kind: 'sequence', parts }
  }
  const repeated = (part: PatternTree): PatternTree => {
    const found = take(/([*+?]|\{(\d+)(,(\d*))?\})\??/)
    if (found === undefined) return part
    const [, sign, least = '', comma, most = ''] = found
    if (sign === '*') return { kind: 'repeat', part, min: 0, max: Number.POSITIVE_INFINITY }
    if (sign === '+') return { kind: 'repeat', part, min: 1, max: Number.POSITIVE_INFINITY }
    if (sign === '?') return { kind: 'repeat', part, min: 0, max: 1 }
    const min = Number(least)
    const max = comma === undefined ? min : most === '' ? Number.POSITIVE_INFINITY : Number(most)
    return { kind: 'repeat', part, min, max }
  }
  const atom = (): PatternTree => {
    const group = take(/\((\?(:|<?[=!]|<[^>]+>))?/)
    if (group !== undefined) {
      const part = choice()
      take(/\)/)
      return /[=!]$/.test(group[2] ?? '') ? { kind: 'lookaround', part } : part
    }
    if (take(/\^/)) return { kind: 'start' }
    if (take(/\$/)) return { kind: 'end' }
    if (take(/\\[bB]/)) return { kind: 'boundary' }
    if (take(/\\([1-9]|k<)/)) return { kind: 'backreference' }
    const text = take(
      /\[(?:\\[^]|[^\]\\])*\]|\\(?:x[\da-fA-F]{2}|u\{[^}]+\}|u[\da-fA-F]{4}|[pP]\{[^}]+\}|c[a-zA-Z]|[^])|[^]/,
    )
    return { kind: 'character', text: text?.[0] ?? '' }
  }
  return choice()
}
