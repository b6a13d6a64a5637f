// secretbox: XSalsa20 and Poly1305 as NaCl joins them. The runtime's library has neither; values that upstream sealed so
// must be readable. Both work on 32-bit words and on one big number, so nothing depends on the value in time but its length.
// Reference: D. J. Bernstein, "Cryptography in NaCl" and "Extending the Salsa20 nonce".

const blockBytes = 64
export const secretboxKeyBytes = 32
export const secretboxNonceBytes = 24
const tagBytes = 16
/** The first half of the first block of the stream is the key of the tag. */
const authenticatorBytes = 32

export function sealSecretbox(key: Uint8Array, nonce: Uint8Array, data: Uint8Array): Uint8Array {
  const padded = new Uint8Array(authenticatorBytes + data.length)
  padded.set(data, authenticatorBytes)
  const mixed = mixStream(key, nonce, padded)
  const sealed = new Uint8Array(tagBytes + data.length)
  sealed.set(mixed.subarray(authenticatorBytes), tagBytes)
  sealed.set(tagOf(mixed.subarray(0, authenticatorBytes), sealed.subarray(tagBytes)))
  return sealed
}

export function openSecretbox(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Uint8Array {
  if (sealed.length < tagBytes) throw new Error('the data is too short to have been sealed')
  const data = sealed.subarray(tagBytes)
  const padded = new Uint8Array(authenticatorBytes + data.length)
  padded.set(data, authenticatorBytes)
  const mixed = mixStream(key, nonce, padded)
  // Where the cipher's text stands the stream gives the plain one; where zeros stand it gives itself.
  const tag = tagOf(mixed.subarray(0, authenticatorBytes), data)
  let difference = 0
  for (const [index, byte] of tag.entries()) difference |= byte ^ (sealed[index] ?? 0)
  if (difference !== 0) throw new Error('the data was not sealed under this key')
  return mixed.slice(authenticatorBytes)
}

/** The data, each byte mixed with that of the stream of XSalsa20. */
function mixStream(key: Uint8Array, nonce: Uint8Array, data: Uint8Array): Uint8Array {
  const words = wordsOf(nonce)
  const inner = subkey(wordsOf(key), words.subarray(0, 4))
  const result = data.slice()
  const block = new DataView(new ArrayBuffer(blockBytes))
  for (let at = 0, counter = 0; at < data.length; at += blockBytes, counter++) {
    const input = Uint32Array.of(words[4] ?? 0, words[5] ?? 0, counter, Math.floor(counter / 2 ** 32))
    const start = stateOf(inner, input)
    const mixed = rounds(start)
    for (let index = 0; index < 16; index++)
      block.setUint32(index * 4, ((mixed[index] ?? 0) + (start[index] ?? 0)) >>> 0, true)
    const length = Math.min(blockBytes, data.length - at)
    for (let index = 0; index < length; index++) result[at + index] = (data[at + index] ?? 0) ^ block.getUint8(index)
  }
  return result
}

/** HSalsa20: the key for one nonce, from the first 16 bytes of it. */
function subkey(key: Uint32Array, input: Uint32Array): Uint32Array {
  const mixed = rounds(stateOf(key, input))
  return Uint32Array.from([0, 5, 10, 15, 6, 7, 8, 9], (index) => mixed[index] ?? 0)
}

const wordsOf = (bytes: Uint8Array): Uint32Array => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Uint32Array.from({ length: bytes.length / 4 }, (_, index) => view.getUint32(index * 4, true))
}

/** `expand 32-byte k`, on the diagonal. */
const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const

function stateOf(key: Uint32Array, input: Uint32Array): Uint32Array {
  const state = new Uint32Array(16)
  state.set([
    constants[0],
    ...key.subarray(0, 4),
    constants[1],
    ...input,
    constants[2],
    ...key.subarray(4),
    constants[3],
  ])
  return state
}

/** The words of each quarter round: four down the columns, then four along the rows. */
const quarters = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
] as const

function rounds(start: Uint32Array): Uint32Array {
  const x = start.slice()
  const word = (index: number): number => x[index] ?? 0
  const turn = (into: number, left: number, right: number, bits: number): void => {
    const sum = (word(left) + word(right)) >>> 0
    x[into] = word(into) ^ ((sum << bits) | (sum >>> (32 - bits)))
  }
  for (let round = 0; round < 10; round++)
    for (const [a, b, c, d] of quarters) {
      turn(b, a, d, 7)
      turn(c, b, a, 9)
      turn(d, c, b, 13)
      turn(a, d, c, 18)
    }
  return x
}

const prime = (1n << 130n) - 5n
const clamp = 0x0ffffffc0ffffffc0ffffffc0fffffffn

/** Poly1305. */
function tagOf(key: Uint8Array, data: Uint8Array): Uint8Array {
  const factor = numberOf(key.subarray(0, 16)) & clamp
  let sum = 0n
  for (let at = 0; at < data.length; at += 16) {
    const part = data.subarray(at, at + 16)
    sum = ((sum + numberOf(part) + (1n << BigInt(part.length * 8))) * factor) % prime
  }
  const tag = sum + numberOf(key.subarray(16))
  return Uint8Array.from({ length: tagBytes }, (_, index) => Number((tag >> BigInt(index * 8)) & 0xffn))
}

const numberOf = (bytes: Uint8Array): bigint => {
  let number = 0n
  for (let index = bytes.length - 1; index >= 0; index--) number = (number << 8n) | BigInt(bytes[index] ?? 0)
  return number
}
