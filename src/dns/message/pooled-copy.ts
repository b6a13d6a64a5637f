// Copies of small messages share one allocation, because each allocation of its own costs more than the message. A block
// is freed when none of its copies is in use.

const blockBytes = 64 << 10
/** Longer messages have their own allocation, so that they do not use up a block. */
const pooledBytesMax = 4 << 10

let block = new Uint8Array(blockBytes)
let used = 0

export function pooledCopy(bytes: Uint8Array): Uint8Array {
  const { length } = bytes
  if (length > pooledBytesMax) return bytes.slice()
  if (used + length > blockBytes) {
    block = new Uint8Array(blockBytes)
    used = 0
  }
  const copy = block.subarray(used, used + length)
  copy.set(bytes)
  used += length
  return copy
}
