// JsonPathScanner: takes the tokens of a JSONPath from its text, each in linear time.

/** What ends a name, unless a backslash precedes it. */
const nameEnds = ' .,[]$@{}\t\r\n'

export class JsonPathScanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** A closing brace ends the path, because upstream evaluates it inside of braces. */
  get isAtEnd(): boolean {
    return this.#at >= this.#text.length || this.#text[this.#at] === '}'
  }

  take(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false
    this.#at += token.length
    return true
  }

  /** A name after a dot, which may be empty. Undefined if it ends with a backslash. */
  takeName(): string | undefined {
    const start = this.#at
    for (; this.#at < this.#text.length && !nameEnds.includes(this.#text[this.#at] ?? ''); this.#at++)
      if (this.#text[this.#at] === '\\' && ++this.#at >= this.#text.length) return undefined
    return this.#text.slice(start, this.#at).replaceAll('\\', '')
  }

  /** Letters, digits and underscores. */
  takeWord(): string {
    return this.#takeMatch(/[\p{L}\p{N}_]+/uy) ?? ''
  }

  takeNumber(): string | undefined {
    return this.#takeMatch(/[+-]?\d[\d.]*/y)
  }

  #takeMatch(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)?.[0]
    this.#at += match?.length ?? 0
    return match
  }

  takeUntil(end: string): string | undefined {
    const found = this.#text.indexOf(end, this.#at)
    if (found < 0) return undefined
    const text = this.#text.slice(this.#at, found)
    this.#at = found + end.length
    return text
  }

  /** The text in quotes, without the backslashes that escape characters. Undefined where no quote begins or ends. */
  takeQuoted(): string | undefined {
    const quote = this.#text[this.#at]
    if (quote !== '"' && quote !== "'") return undefined
    const end = this.#endOfQuoted(this.#at)
    if (end === undefined) return undefined
    const text = this.#text.slice(this.#at + 1, end)
    this.#at = end + 1
    return text.replaceAll(/\\(.)/gs, '$1')
  }

  #endOfQuoted(start: number): number | undefined {
    for (let at = start + 1; at < this.#text.length; at++)
      if (this.#text[at] === '\\') at++
      else if (this.#text[at] === this.#text[start]) return at
    return undefined
  }

  /** The text up to `)]`; brackets in quotes are part of it. */
  takeFilter(): string | undefined {
    const start = this.#at
    for (let at: number | undefined = start; at !== undefined && at < this.#text.length; at++) {
      const character = this.#text[at]
      if (character === ')') {
        if (this.#text[at + 1] !== ']') return undefined
        this.#at = at + 2
        return this.#text.slice(start, at)
      }
      if (character === '"' || character === "'") at = this.#endOfQuoted(at)
      if (at === undefined) return undefined
    }
    return undefined
  }
}
