// jsonSyntaxError: what is wrong with a text that is not JSON, in the wording of Go's parser.
import { lookup } from '../../base/collections/lookup.ts'
import { goQuoted } from './go-quoted.ts'

type State = 'value' | 'first item' | 'key' | 'first key' | 'after value'

/** The message for a text that JSON.parse rejects. */
export const jsonSyntaxError = (text: string): string => new Scan(text).firstError() ?? 'unexpected end of JSON input'

const literals: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' }
const closes = { '{': '}', '[': ']' } as const
const encoder = new TextEncoder()

class Scan {
  readonly #text: string
  #at = 0
  /** The closing characters of the open objects and lists. */
  readonly #open: ('}' | ']')[] = []

  constructor(text: string) {
    this.#text = text
  }

  /** Undefined where the text ends too early. */
  firstError(): string | undefined {
    let state: State = 'value'
    for (;;) {
      this.#skipSpace()
      if (this.#isAtEnd) return undefined
      const next: State | Invalid | undefined = this.#step(state)
      if (next === undefined || typeof next === 'object') return next?.message
      state = next
    }
  }

  #step(state: State): State | Invalid | undefined {
    switch (state) {
      case 'value':
        return this.#value()
      case 'first item':
        return this.#peek() === ']' ? this.#close() : this.#value()
      case 'key':
        return this.#key()
      case 'first key':
        return this.#peek() === '}' ? this.#close() : this.#key()
      case 'after value':
        return this.#afterValue()
      default:
        return state satisfies never
    }
  }

  get #isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  /** Go's parser reads a space after the end, which is an error in a literal, a number or an escape. */
  #peek(): string {
    return this.#text[this.#at] ?? ' '
  }

  #skipSpace(): void {
    while (!this.#isAtEnd && ' \t\r\n'.includes(this.#peek())) this.#at++
  }

  #close(): State {
    this.#at++
    this.#open.pop()
    return 'after value'
  }

  #value(): State | Invalid | undefined {
    const first = this.#peek()
    if (first === '{' || first === '[') {
      this.#at++
      this.#open.push(closes[first])
      return first === '{' ? 'first key' : 'first item'
    }
    const literal = lookup(literals, first)
    const error =
      first === '"'
        ? this.#string()
        : /[-\d]/.test(first)
          ? this.#number()
          : literal === undefined
            ? invalid(first, 'looking for beginning of value')
            : this.#literal(literal)
    return error ?? 'after value'
  }

  #key(): State | Invalid | undefined {
    if (this.#peek() !== '"') return invalid(this.#peek(), 'looking for beginning of object key string')
    const error = this.#string()
    if (error !== undefined) return error
    this.#skipSpace()
    if (this.#isAtEnd) return undefined
    if (this.#peek() !== ':') return invalid(this.#peek(), 'after object key')
    this.#at++
    return 'value'
  }

  #afterValue(): State | Invalid {
    const close = this.#open.at(-1)
    if (close === undefined) return invalid(this.#peek(), 'after top-level value')
    if (this.#peek() === close) return this.#close()
    if (this.#peek() !== ',')
      return invalid(this.#peek(), close === '}' ? 'after object key:value pair' : 'after array element')
    this.#at++
    return close === '}' ? 'key' : 'value'
  }

  #literal(word: string): Invalid | undefined {
    for (const letter of word)
      if (this.#peek() === letter) this.#at++
      else return invalid(this.#peek(), `in literal ${word} (expecting '${letter}')`)
    return undefined
  }

  #number(): Invalid | undefined {
    if (this.#peek() === '-') this.#at++
    if (this.#peek() === '0') this.#at++
    else if (!this.#digits()) return invalid(this.#peek(), 'in numeric literal')
    if (this.#peek() === '.') {
      this.#at++
      if (!this.#digits()) return invalid(this.#peek(), 'after decimal point in numeric literal')
    }
    if (this.#peek() !== 'e' && this.#peek() !== 'E') return undefined
    this.#at++
    if (this.#peek() === '+' || this.#peek() === '-') this.#at++
    return this.#digits() ? undefined : invalid(this.#peek(), 'in exponent of numeric literal')
  }

  #digits(): boolean {
    const start = this.#at
    while (/\d/.test(this.#peek())) this.#at++
    return this.#at > start
  }

  #string(): Invalid | undefined {
    this.#at++
    while (!this.#isAtEnd) {
      const character = this.#peek()
      if (character < ' ') return invalid(character, 'in string literal')
      this.#at++
      if (character === '"') return undefined
      if (character !== '\\') continue
      const error = this.#escape()
      if (error !== undefined) return error
    }
    return undefined
  }

  #escape(): Invalid | undefined {
    if (this.#peek() !== 'u') {
      if (!String.raw`bfnrt\/"`.includes(this.#peek())) return invalid(this.#peek(), 'in string escape code')
      this.#at++
      return undefined
    }
    for (let digits = 0; digits < 4; digits++) {
      this.#at++
      if (!/[\da-f]/i.test(this.#peek())) return invalid(this.#peek(), String.raw`in \u hexadecimal character escape`)
    }
    this.#at++
    return undefined
  }
}

interface Invalid {
  readonly message: string
}

/** Go's parser reads bytes, so it shows the first byte of a character. */
function invalid(character: string, where: string): Invalid {
  const byte = String.fromCharCode(encoder.encode(character)[0] ?? 0)
  const shown = byte === "'" ? String.raw`\'` : byte === '"' ? '"' : goQuoted(byte).slice(1, -1)
  return { message: `invalid character '${shown}' ${where}` }
}
