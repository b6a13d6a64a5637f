// TokenStream: the tokens of an expression with a position, and the issues that are found in them.
import { tokenize, type Token } from './lexer.ts'
import type { Issue } from './source.ts'

/** Ends the parsing; the issue has already been recorded. */
export class Stop extends Error {}

export class TokenStream {
  readonly #source: string
  readonly #tokens: readonly Token[]
  /** By position and message: the parts that were interrupted are parsed again. */
  readonly #issues: Map<string, Issue>
  #position = 0
  #current: Token

  constructor(source: string) {
    const { tokens, issues } = tokenize(source)
    this.#source = source
    this.#tokens = tokens
    this.#issues = new Map(issues.map((issue) => [keyOf(issue), issue]))
    this.#current = this.peek(0)
  }

  get issues(): readonly Issue[] {
    return [...this.#issues.values()]
  }

  get position(): number {
    return this.#position
  }

  /** The token at the position. */
  get current(): Token {
    return this.#current
  }

  peek(ahead: number): Token {
    const last = this.#tokens.length - 1
    const token = this.#tokens[Math.min(this.#position + ahead, last)]
    if (token === undefined) throw new Error('there is always a last token')
    return token
  }

  next(): Token {
    const token = this.#current
    if (token.kind !== 'end') this.moveTo(this.#position + 1)
    return token
  }

  moveTo(position: number): void {
    this.#position = position
    this.#current = this.peek(0)
  }

  is(text: string): boolean {
    const { kind, text: found } = this.#current
    return found === text && (kind === 'symbol' || kind === 'keyword')
  }

  accept(text: string): Token | undefined {
    return this.is(text) ? this.next() : undefined
  }

  issue(at: number, message: string): void {
    this.#issues.set(keyOf({ at, message }), { at, message })
  }

  wrong(expected: string, isExtraneous = false): void {
    const { text, at } = this.#current
    const what = isExtraneous ? 'extraneous' : 'mismatched'
    this.issue(at, `Syntax error: ${what} input '${text}' expecting ${expected}`)
  }

  /** Reports that a token is not valid after the text from an offset. */
  noViableFrom(start: number, { text, at, kind }: Token): never {
    const input = this.#source.slice(start, kind === 'end' ? at : at + text.length)
    this.issue(at, `Syntax error: no viable alternative at input '${input}'`)
    throw new Stop()
  }

  stop(expected: string): never {
    this.wrong(expected)
    throw new Stop()
  }

  /** Expects a token: skips an extra token before it, and reports a missing one at the end. */
  expect(text: string, expected = `'${text}'`): Token {
    const found = this.accept(text)
    if (found !== undefined) return found
    if (this.peek(1).text === text && this.peek(1).kind === 'symbol') {
      this.wrong(expected, true)
      this.next()
      return this.next()
    }
    if (this.#current.kind === 'end' && expected === `'${text}'` && text === ')') {
      this.issue(this.#current.at, `Syntax error: missing '${text}' at '<EOF>'`)
      throw new Stop()
    }
    return this.stop(expected)
  }
}

const keyOf = ({ at, message }: Issue): string => `${at} ${message}`
