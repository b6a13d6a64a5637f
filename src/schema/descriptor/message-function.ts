// messageFunction: functions that are specialised for a message: source text that is generated when they are first called. The
// interpreters in test/reference define what they do.
import { Code, type Fragment } from './code.ts'
import type { Message } from './field.ts'

/** Holds the function of one message. Functions refer to each other's holders, so that a message may contain itself. */
export interface MessageFunction<F> {
  run: F
}

export type MessageFunctions<F> = (message: Message) => MessageFunction<F>

/** `generate` writes the body of the function of a message; `functions` are those of all messages. */
export function messageFunctions<F extends (...given: never[]) => unknown>(
  generate: (message: Message, code: Code, functions: MessageFunctions<F>) => void,
  parameters: readonly Fragment[],
): MessageFunctions<F> {
  const made = new WeakMap<Message, MessageFunction<F>>()
  const make = (message: Message): F => {
    const code = new Code()
    generate(message, code, functions)
    // The type checker cannot see into the generated text.
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
