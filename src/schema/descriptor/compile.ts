// compile: turns a message into a function that is specialised for it. A derivation writes the function's body as
// JavaScript, once per message and when it is first called; start-up compiles nothing. Only names and numbers of
// descriptors become text, and names always as string literals: what a client sends is never part of the code.
import type { Message } from './field.ts'

/** The body of one function while it is written. */
export class Code {
  readonly #lines: string[] = []
  readonly #constants: unknown[] = []
  #variables = 0

  line(text: string): this {
    this.#lines.push(text)
    return this
  }

  /** A name in the function for a value that cannot be written as text. */
  constant(value: unknown): string {
    const known = this.#constants.indexOf(value)
    return `k${known >= 0 ? known : this.#constants.push(value) - 1}`
  }

  /** A name that nothing else in the function has. */
  variable(): string {
    return `v${this.#variables++}`
  }

  /** The function with the given parameters. */
  compiled(parameters: readonly string[]): unknown {
    const constants = this.#constants.map((_, index) => `k${index}`).join(', ')
    // In parentheses the function is compiled at once, and not first looked through and then compiled when it is called.
    const text = `'use strict'; const [${constants}] = constants; return ((${parameters.join(', ')}) => {\n${this.#lines.join('\n')}\n})`
    // oxlint-disable-next-line no-implied-eval -- the text is made of descriptors, see above
    const build = new Function('constants', text) as (constants: readonly unknown[]) => unknown
    return build(this.#constants)
  }
}

/** A string literal. */
export const quoted = (text: string): string => JSON.stringify(text)

/** Where the function of one message stands. Code refers to cells, so that messages may contain themselves. */
export interface Cell<F> {
  run: F
}

/** A derivation: for each message a function, compiled when it is first called. */
export function derivation<F extends (...parameters: never[]) => unknown>(
  parameters: readonly string[],
  write: (message: Message, code: Code) => void,
): (message: Message) => Cell<F> {
  const cells = new WeakMap<Message, Cell<F>>()
  return (message) => {
    const known = cells.get(message)
    if (known !== undefined) return known
    const first = (...given: never[]): unknown => {
      const code = new Code()
      write(message, code)
      // The derivation says what the parameters mean; the compiler cannot see into the text.
      cell.run = code.compiled(parameters) as F
      return cell.run(...given)
    }
    const cell: Cell<F> = { run: first as F }
    cells.set(message, cell)
    return cell
  }
}

/** Whether a property holds for a message or for any that it contains; remembered, as messages contain many others. */
export function withinMessage(holds: (message: Message) => boolean): (message: Message) => boolean {
  const known = new WeakMap<Message, boolean>()
  const visit = (message: Message, seen: Set<Message>): boolean => {
    const found = known.get(message)
    if (found !== undefined || seen.has(message)) return found ?? false
    seen.add(message)
    const result =
      holds(message) ||
      Object.values(message.fields).some(({ type }) => {
        const inner = messageIn(type)
        return inner !== undefined && visit(inner, seen)
      })
    // Within a message that contains itself, no is not yet known to be true.
    if (result) known.set(message, true)
    return result
  }
  return (message) => {
    const result = visit(message, new Set())
    known.set(message, result)
    return result
  }
}

/** The message that a type is, or is a list or map of. */
export function messageIn(type: Message['fields'][string]['type']): Message | undefined {
  if (typeof type === 'string') return undefined
  if (type.kind === 'message') return type
  return messageIn(type.kind === 'list' ? type.element : type.value)
}
