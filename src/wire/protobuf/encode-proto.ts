// encode: a message as proto3 bytes. Each message is compiled once to a list of writers, in the order of its fields.
// safe names: fields have the names of their message, and maps have no prototype.
import type { ElementType, Field, Message, ProtoInput, Scalar } from './proto-message.ts'

export function encodeProto<M extends Message>(message: M, value: ProtoInput<M>): Uint8Array<ArrayBuffer> {
  const writer = new Writer()
  writeMessage(writer, message, value)
  return writer.finish()
}

type WriteField = (writer: Writer, value: unknown) => void

const compiled = new WeakMap<Message, readonly (readonly [name: string, write: WriteField])[]>()

function writeMessage(writer: Writer, message: Message, value: object): void {
  let fields = compiled.get(message)
  if (fields === undefined) {
    fields = Object.entries(message.fields).map(([name, field]) => [name, compileField(field)])
    compiled.set(message, fields)
  }
  for (const [name, write] of fields) {
    const part = (value as Readonly<Record<string, unknown>>)[name]
    if (part !== undefined) write(writer, part)
  }
}

function compileField({ tag, type, label }: Field): WriteField {
  const write = compileValue(tag, type)
  switch (label) {
    case 'plain':
      return (writer, value) => {
        if (!isZero(type, value)) write(writer, value)
      }
    case 'optional':
      return write
    case 'repeated':
      // Numbers one by one: every reader takes them, and none of the services has long lists of them.
      return (writer, values) => {
        for (const value of values as readonly unknown[]) write(writer, value)
      }
    case 'map': {
      const writeEntryValue = compileValue(2, type)
      return (writer, entries) => {
        for (const [key, value] of Object.entries(entries as object))
          writer.nested(tag, () => {
            writer.text(1, key)
            writeEntryValue(writer, value)
          })
      }
    }
    default:
      return label satisfies never
  }
}

function isZero(type: ElementType, value: unknown): boolean {
  if (typeof type === 'object') return type.kind === 'enumeration' && value === type.names[0]
  return type === 'bytes' ? (value as Uint8Array).length === 0 : !value
}

function compileValue(tag: number, type: ElementType): WriteField {
  if (typeof type === 'string') return compileScalar(tag, type)
  if (type.kind === 'message')
    return (writer, value) => writer.nested(tag, () => writeMessage(writer, type, value as object))
  const numbers = new Map(type.names.map((name, number) => [name, number]))
  return (writer, value) => writer.integer(tag, numbers.get(value as string) ?? 0)
}

function compileScalar(tag: number, type: Scalar): WriteField {
  switch (type) {
    case 'string':
      return (writer, value) => writer.text(tag, value as string)
    case 'bytes':
      return (writer, value) => writer.bytes(tag, value as Uint8Array)
    case 'bool':
      return (writer, value) => writer.integer(tag, value === true ? 1 : 0)
    case 'double':
      return (writer, value) => writer.double(tag, value as number)
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
      return (writer, value) => writer.integer(tag, value as number)
    case 'int64Big':
    case 'uint64Big':
      return (writer, value) => writer.big(tag, value as bigint)
    default:
      return type satisfies never
  }
}

const utf8 = new TextEncoder()
const bytesInitial = 256
const varintBytesMax = 10

class Writer {
  #bytes = new Uint8Array(bytesInitial)
  #at = 0

  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#at)
  }

  integer(tag: number, value: number): void {
    this.#head(tag, 0)
    if (value >= 0) this.#varint(value)
    else this.#big(BigInt.asUintN(64, BigInt(value)))
  }

  big(tag: number, value: bigint): void {
    this.#head(tag, 0)
    this.#big(BigInt.asUintN(64, value))
  }

  double(tag: number, value: number): void {
    this.#head(tag, 1)
    this.#reserve(8)
    new DataView(this.#bytes.buffer).setFloat64(this.#at, value, true)
    this.#at += 8
  }

  text(tag: number, value: string): void {
    this.nested(tag, () => {
      this.#reserve(value.length * 3)
      this.#at += utf8.encodeInto(value, this.#bytes.subarray(this.#at)).written
    })
  }

  bytes(tag: number, value: Uint8Array): void {
    this.#head(tag, 2)
    this.#varint(value.length)
    this.#reserve(value.length)
    this.#bytes.set(value, this.#at)
    this.#at += value.length
  }

  /** Something with a length before it, which is known only afterwards: one byte is kept free, more are made if needed. */
  nested(tag: number, write: () => void): void {
    this.#head(tag, 2)
    this.#reserve(1)
    const start = ++this.#at
    write()
    const length = this.#at - start
    const extra = varintLength(length) - 1
    if (extra > 0) {
      this.#reserve(extra)
      this.#bytes.copyWithin(start + extra, start, this.#at)
    }
    this.#at = start - 1
    this.#varint(length)
    this.#at += length
  }

  #head(tag: number, wireType: number): void {
    this.#varint(tag * 8 + wireType)
  }

  #varint(value: number): void {
    this.#reserve(varintBytesMax)
    let left = value
    while (left >= 0x80) {
      this.#bytes[this.#at++] = (left % 0x80) | 0x80
      left = Math.floor(left / 0x80)
    }
    this.#bytes[this.#at++] = left
  }

  #big(value: bigint): void {
    this.#reserve(varintBytesMax)
    let left = value
    while (left >= 0x80n) {
      this.#bytes[this.#at++] = Number(left & 0x7fn) | 0x80
      left >>= 7n
    }
    this.#bytes[this.#at++] = Number(left)
  }

  #reserve(count: number): void {
    const needed = this.#at + count
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    grown.set(this.#bytes.subarray(0, this.#at))
    this.#bytes = grown
  }
}

function varintLength(value: number): number {
  let length = 1
  for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) length++
  return length
}
