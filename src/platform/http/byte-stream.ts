// ByteStream: bytes both ways: a connection that has left HTTP, or one of several streams inside of one.

export interface ByteStream {
  /** What the other side writes, until it ends. To be read once. */
  readonly pieces: AsyncIterable<Uint8Array>
  /** Resolves when more may be written; rejects once the stream is known to be over. */
  write(piece: Uint8Array): Promise<void>
  /** Nothing more will be written; what was written still arrives. Fine to call again. */
  end(): void
  /** Gives up both directions at once. */
  destroy(): void
}
