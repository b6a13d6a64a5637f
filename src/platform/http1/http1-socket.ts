// Http1Socket: what a driver offers to the connection that it serves.
import type { ByteStream } from '../http/byte-stream.ts'
import type { SendProgress } from '../limits/held-bytes.ts'

export interface Http1Socket extends SendProgress {
  /** Strings have a byte per character. Returns false when the client is behind, until `drained` is called. */
  write(parts: readonly (string | Uint8Array)[]): boolean
  pause(): void
  resume(): void
  /** Ends the writing side; the socket is still read. */
  end(): void
  destroy(): void
  /** Releases the socket to another protocol. `rest`: bytes that were received and belong to that protocol. */
  detach(rest: Uint8Array): ByteStream
}
