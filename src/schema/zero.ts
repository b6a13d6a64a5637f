// zero: the zero values of Go, which are there when nothing was sent.
import type { Message, Type } from './field.ts'

export function zeroOf(type: Type): unknown {
  if (typeof type === 'object') return type.kind === 'list' ? [] : {}
  if (type === 'bool') return false
  if (type === 'quantity') return '0'
  return type === 'int32' || type === 'int64' || type === 'double' || type === 'intOrString' ? 0 : ''
}

/** Values that Go always writes: without a pointer and without omitempty there is no absence, only zero. */
export function zerosOf(message: Message): readonly (readonly [name: string, zero: unknown])[] {
  const known = zeros.get(message)
  if (known !== undefined) return known
  const found = Object.entries(message.fields)
    .filter(
      ([, { type, pointer, required, keepEmpty }]) =>
        !pointer && (structs.has(type) || ((required || keepEmpty) && plain.has(type))),
    )
    .map(([name, { type }]) => [name, zeroOf(type)] as const)
  zeros.set(message, found)
  return found
}

const zeros = new WeakMap<Message, readonly (readonly [string, unknown])[]>()
/** Structs in Go, to which omitempty does not apply. */
const structs = new Set<Type>(['quantity', 'intOrString'])
const plain = new Set<Type>(['string', 'bool', 'int32', 'int64', 'double'])
