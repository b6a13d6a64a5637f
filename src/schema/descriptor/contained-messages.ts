// Messages inside of messages.
import type { Message, Type } from './field.ts'

/** Whether a property holds for a message or for any that it contains. Results are cached. */
export function anyContained(holds: (message: Message) => boolean): (message: Message) => boolean {
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
    // Inside of a message that contains itself, a negative result is not final yet.
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
export function messageIn(type: Type): Message | undefined {
  if (typeof type === 'string') return undefined
  if (type.kind === 'message') return type
  return messageIn(type.kind === 'list' ? type.element : type.value)
}
