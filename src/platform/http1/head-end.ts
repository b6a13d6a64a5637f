// Finds where the head of a request ends in the bytes that have come so far.
import { Refused } from './refused.ts'

const [lineFeed, carriageReturn] = [10, 13]

/** The index behind the empty line, or -1 when it has not come yet. `from`: what lies before it was looked at. */
export function headEnd(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(lineFeed, from); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
    if (bytes[at - 1] !== carriageReturn) throw new Refused(400, 'a line that ends without a carriage return')
    if (at >= 3 && bytes[at - 2] === lineFeed && bytes[at - 3] === carriageReturn) return at + 1
  }
  return -1
}

/** How many bytes of empty lines stand before a request: clients of old wrote one behind a body. */
export function emptyLines(bytes: Uint8Array): number {
  let at = 0
  while (bytes[at] === carriageReturn && bytes[at + 1] === lineFeed) at += 2
  return at
}
