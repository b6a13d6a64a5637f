/**
 * Frees the memory of bytes that are no longer needed, which are empty then. Otherwise it is held until a garbage collection,
 * and large amounts of it cause one. Bytes that share their memory with others are left alone.
 */
export function releaseBytes({ buffer, length }: Uint8Array): void {
  if (length >= releasedBytesMin && buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}

/** Smaller amounts are not worth it. */
const releasedBytesMin = 4 << 10
