// Shelf: bytes of many small objects that are put away, in few large buffers outside of the heap. A buffer goes when the
// last object in it does; so only what goes within a time should be put there.

const bufferBytes = 1 << 20
/** What is longer has a buffer of its own. */
const sharedBytesMax = bufferBytes >> 4

const encoder = new TextEncoder()
let buffer = new Uint8Array(0)
let used = 0

export function storeInArena(text: string): Uint8Array {
  const bytesMax = text.length * 3
  if (bytesMax > sharedBytesMax) return encoder.encode(text)
  if (used + bytesMax > buffer.length) {
    buffer = new Uint8Array(bufferBytes)
    used = 0
  }
  const { written } = encoder.encodeInto(text, buffer.subarray(used))
  const bytes = buffer.subarray(used, used + written)
  used += written
  return bytes
}
