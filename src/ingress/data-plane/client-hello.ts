// ClientHello: the server name (SNI) in the first message of a TLS client (RFC 8446, 4.1.2; RFC 6066, 3). The bytes are not
// trusted: every length is checked. Pure.
import { concatBytes } from '../../base/collections/concat-bytes.ts'

export type ClientHello =
  /** More bytes are needed. */
  | { readonly kind: 'incomplete' }
  /** Not the beginning of a TLS connection. */
  | { readonly kind: 'invalid' }
  /** The name in lower case; empty if the client sends none. */
  | { readonly kind: 'complete'; readonly serverName: string }

/** Usual clients send less than 2 KiB. */
export const clientHelloBytesMax = 32 << 10
/** A client may divide its message into records. */
export const clientHelloRecordsMax = 16

const handshakeRecord = 22
const recordHeaderBytes = 5
const recordBytesMax = 1 << 14
const clientHelloMessage = 1
const messageHeaderBytes = 4
const versionAndRandomBytes = 34
const serverNameExtension = 0
const hostNameType = 0
const hostCharactersMax = 253

const incomplete: ClientHello = { kind: 'incomplete' }
const invalid: ClientHello = { kind: 'invalid' }

/** `bytes` are all that the client has sent. */
export function parseClientHello(bytes: Uint8Array): ClientHello {
  const handshake = handshakeBytes(bytes)
  if (handshake === undefined || (handshake.length > 0 && handshake[0] !== clientHelloMessage)) return invalid
  if (handshake.length < messageHeaderBytes) return incomplete
  const length = messageHeaderBytes + numberAt(handshake, 1, 3)
  if (length > clientHelloBytesMax) return invalid
  if (handshake.length < length) return incomplete
  const serverName = serverNameOf(handshake.subarray(messageHeaderBytes, length))
  return serverName === undefined ? invalid : { kind: 'complete', serverName }
}

/** The contents of the records; undefined if they cannot become a complete message. */
function handshakeBytes(bytes: Uint8Array): Uint8Array | undefined {
  const parts: Uint8Array[] = []
  let at = 0
  let isRefused = bytes.length > 2 * clientHelloBytesMax
  while (at < bytes.length && !isRefused) {
    isRefused = !isHandshakeRecord(bytes.subarray(at)) || parts.length === clientHelloRecordsMax
    if (isRefused || bytes.length - at < recordHeaderBytes) break
    const end = at + recordHeaderBytes + numberAt(bytes, at + 3, 2)
    parts.push(bytes.subarray(at + recordHeaderBytes, end))
    at = end
  }
  const joined = concatBytes(parts)
  // Early data may follow the message.
  const isComplete = joined.length >= messageHeaderBytes && joined.length >= messageHeaderBytes + numberAt(joined, 1, 3)
  return isRefused && !isComplete ? undefined : joined
}

/** Whether the bytes begin with a record of a handshake, as far as they go. */
function isHandshakeRecord(bytes: Uint8Array): boolean {
  if (bytes[0] !== handshakeRecord || (bytes[1] ?? 3) !== 3) return false
  if (bytes.length < recordHeaderBytes) return true
  const size = numberAt(bytes, 3, 2)
  return size > 0 && size <= recordBytesMax
}

/** The name of the host in the extensions; undefined if the message is not valid. */
function serverNameOf(message: Uint8Array): string | undefined {
  const fields = new Fields(message)
  fields.skip(versionAndRandomBytes)
  for (const lengthBytes of [1, 2, 1]) fields.vector(lengthBytes)
  if (!fields.isValid) return undefined
  if (fields.isAtEnd) return ''
  const extensions = new Fields(fields.vector(2))
  while (fields.isValid && extensions.isValid && !extensions.isAtEnd) {
    const type = extensions.number(2)
    const content = extensions.vector(2)
    if (type === serverNameExtension && extensions.isValid) return hostNameOf(content)
  }
  return fields.isValid && extensions.isValid ? '' : undefined
}

function hostNameOf(extension: Uint8Array): string | undefined {
  const outer = new Fields(extension)
  const names = new Fields(outer.vector(2))
  const type = names.number(1)
  const name = names.vector(2)
  if (!outer.isValid || !names.isValid || type !== hostNameType) return undefined
  const text = String.fromCharCode(...name.subarray(0, hostCharactersMax + 1)).toLowerCase()
  return text.length <= hostCharactersMax && /^[-\w.]+$/.test(text) ? text : undefined
}

/** Reads fields one after the other. After a field that is not complete, `isValid` is false and all further ones are empty. */
class Fields {
  readonly #bytes: Uint8Array
  #at = 0
  #isValid = true

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isValid(): boolean {
    return this.#isValid
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  skip(length: number): void {
    this.#take(length)
  }

  number(length: number): number {
    const field = this.#take(length)
    return field.length === length ? numberAt(field, 0, length) : 0
  }

  /** Bytes after their length. */
  vector(lengthBytes: number): Uint8Array {
    return this.#take(this.number(lengthBytes))
  }

  #take(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) this.#isValid = false
    const field = this.#isValid ? this.#bytes.subarray(this.#at, this.#at + length) : new Uint8Array()
    this.#at += field.length
    return field
  }
}

function numberAt(bytes: Uint8Array, at: number, length: number): number {
  let value = 0
  for (let index = at; index < at + length; index++) value = value * 256 + (bytes[index] ?? 0)
  return value
}
