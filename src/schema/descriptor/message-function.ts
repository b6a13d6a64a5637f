// messageFunction: functions that are specialised for a message, made when they are first called. There are two
// implementations with the same contract: generated source text, which is two to four times as fast, and closures for
// engines that do not generate code from strings, such as a page whose content security policy has no unsafe-eval.
import { Code, type Fragment } from './code.ts'
import type { Message } from './field.ts'

export type FunctionMode = 'generated' | 'closures'

/** The mode of this engine. */
export const engineMode: FunctionMode = ((): FunctionMode => {
  try {
    return new Code().compiled([]) === undefined ? 'closures' : 'generated'
  } catch {
    return 'closures'
  }
})()

/** Holds the function of one message. Functions refer to each other's holders, so that a message may contain itself. */
export interface MessageFunction<F> {
  run: F
}

export type MessageFunctions<F> = (message: Message) => MessageFunction<F>

export interface Implementations<F> {
  /** The function, composed of closures. `functions` are those of all messages. */
  compose(message: Message, functions: MessageFunctions<F>): F
  /** Writes the body of the same function. */
  generate(message: Message, code: Code, functions: MessageFunctions<F>): void
  /** The parameters of the generated function. */
  readonly parameters: readonly Fragment[]
}

export function messageFunctions<F extends (...parameters: never[]) => unknown>(
  { compose, generate, parameters }: Implementations<F>,
  mode: FunctionMode,
): MessageFunctions<F> {
  const made = new WeakMap<Message, MessageFunction<F>>()
  const make = (message: Message): F => {
    if (mode === 'closures') return compose(message, functions)
    const code = new Code()
    generate(message, code, functions)
    // The two implementations are declared with one type; the type checker cannot see into the generated text.
    return code.compiled(parameters) as F
  }
  const functions: MessageFunctions<F> = (message) => {
    const known = made.get(message)
    if (known !== undefined) return known
    const first = (...given: never[]): unknown => {
      holder.run = make(message)
      return holder.run(...given)
    }
    const holder: MessageFunction<F> = { run: first as F }
    made.set(message, holder)
    return holder
  }
  return functions
}
