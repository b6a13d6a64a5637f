// InflateRaw: decompression of DEFLATE data (RFC 1951) without a header, as protocols embed it.

export interface InflateOptions {
  /** Output that precedes this data: matches may refer to its last 32 KiB. */
  readonly dictionary: Uint8Array
  readonly outputBytesMax: number
}

/** Throws InflateError when the data is invalid or its output is larger than allowed. Data may end between two blocks. */
export type InflateRaw = (data: Uint8Array, options: InflateOptions) => Uint8Array

export class InflateError extends Error {
  override name = 'InflateError'
}
