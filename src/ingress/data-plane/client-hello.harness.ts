// A ClientHello for tests.
import { concatBytes } from '../../base/collections/concat-bytes.ts'

const bytesOf = (value: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => Math.trunc(value / 256 ** (length - 1 - index)) % 256)
const vector = (lengthBytes: number, ...content: readonly Uint8Array[]): Uint8Array => {
  const joined = concatBytes(content)
  return concatBytes([bytesOf(joined.length, lengthBytes), joined])
}

/** The content of the extension with a name of the type of hosts. */
export const serverNames = (name: string, type = 0): Uint8Array =>
  vector(2, bytesOf(type, 1), vector(2, new TextEncoder().encode(name)))

/** `names` is the content of the extension `server_name`, after another extension; undefined: there is none. */
export function handshakeOf(names: Uint8Array | undefined, isWithExtensions = true): Uint8Array {
  const other = concatBytes([bytesOf(43, 2), vector(2, Uint8Array.of(2, 3, 4))])
  const own = names === undefined ? [] : [bytesOf(0, 2), vector(2, names)]
  const message = concatBytes([
    bytesOf(0x0303, 2),
    new Uint8Array(32),
    vector(1, new Uint8Array(32)),
    vector(2, bytesOf(0x1301, 2)),
    vector(1, Uint8Array.of(0)),
    ...(isWithExtensions ? [vector(2, other, ...own)] : []),
  ])
  return concatBytes([Uint8Array.of(1), vector(3, message)])
}

/** The bytes in records of at most `size` bytes. */
export function inRecords(handshake: Uint8Array, size = 16_384): Uint8Array {
  const records: Uint8Array[] = []
  for (let at = 0; at < handshake.length; at += size)
    records.push(Uint8Array.of(22, 3, 1), vector(2, handshake.subarray(at, at + size)))
  return concatBytes(records)
}

export const clientHelloOf = (name: string): Uint8Array => inRecords(handshakeOf(serverNames(name)))
