// Finds where the head of a request ends in the bytes that have come so far, and refuses bytes that have no place in it.
import { RejectedRequest } from './rejected-request.ts'

const [lineFeed, carriageReturn] = [10, 13]

/** Bytes that may stand in a line: a tab, and all but control characters. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) => Number(byte === 9 || (byte >= 32 && byte !== 127)))

/** The index behind the empty line, or -1 when it has not come yet. `searched`: so many bytes were looked at before. */
export function findHeadEnd(bytes: Uint8Array, searched: number): number {
  for (let at = bytes[searched - 1] === carriageReturn ? searched - 1 : searched; at < bytes.length; at++) {
    if (isPlain[bytes[at] ?? 0] === 1) continue
    if (bytes[at] === lineFeed) throw new RejectedRequest(400, 'a line that ends without a carriage return')
    if (bytes[at] !== carriageReturn) throw new RejectedRequest(400, 'a control character in the head of a request')
    if (at + 1 === bytes.length) return -1
    if (bytes[++at] !== lineFeed) throw new RejectedRequest(400, 'a carriage return within a line')
    if (at >= 3 && bytes[at - 2] === lineFeed) return at + 1
  }
  return -1
}

/** How many bytes of empty lines stand before a request: clients of old wrote one behind a body. */
export function leadingEmptyLines(bytes: Uint8Array): number {
  let at = 0
  while (bytes[at] === carriageReturn && bytes[at + 1] === lineFeed) at += 2
  return at
}
