// Arena: the bytes of many small offloaded objects in a few large buffers outside of the heap. A buffer is freed when the
// last object in it is released, so only objects that expire within a limited time should be stored in it.
import { RecentMap } from '../../base/collections/recent-map.ts'
import type { ApiObject } from '../../api/meta/object.ts'

const bufferBytes = 1 << 20
/** Longer values get a buffer of their own. */
const sharedBytesMax = bufferBytes >> 4
/** An offloaded object that is read is usually read several times in a row, for example by its deletion. */
const decodedBytesMax = 4 << 20
/** An object counts as having at least so many bytes. */
const decodedBytesMin = 32 << 10

const encoder = new TextEncoder()

export class Arena {
  #buffer = new Uint8Array(0)
  #used = 0
  readonly #decoded = new RecentMap<object, ApiObject>(decodedBytesMax)

  add(text: string): Uint8Array {
    const bytesMax = text.length * 3
    if (bytesMax > sharedBytesMax) return encoder.encode(text)
    if (this.#used + bytesMax > this.#buffer.length) {
      this.#buffer = new Uint8Array(bufferBytes)
      this.#used = 0
    }
    const { written } = encoder.encodeInto(text, this.#buffer.subarray(this.#used))
    const bytes = this.#buffer.subarray(this.#used, this.#used + written)
    this.#used += written
    return bytes
  }

  /** The object of an offloaded version; `decode` is called where it is not cached. `bytes`: the size of its JSON. */
  decoded(version: object, bytes: number, decode: () => ApiObject): ApiObject {
    const cached = this.#decoded.get(version)
    if (cached !== undefined) return cached
    const object = decode()
    this.#decoded.set(version, object, Math.max(bytes, decodedBytesMin))
    return object
  }
}
