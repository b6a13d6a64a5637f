// ByteStream: bytes in both directions: an upgraded connection, or one of several streams multiplexed on one.

export interface ByteStream {
  /** The bytes that the peer writes, until it ends. May be iterated once. */
  readonly pieces: AsyncIterable<Uint8Array>
  /** Resolves when more may be written; rejects once the stream has ended. */
  write(piece: Uint8Array): Promise<void>
  /** Ends the writing side; bytes that were written still arrive. Idempotent. */
  end(): void
  /** Closes both directions at once. */
  destroy(): void
}
