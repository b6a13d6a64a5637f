// Finds the end of a request head in the bytes received so far, and rejects bytes that are not allowed in a head.
import { RejectedRequest } from './rejected-request.ts'

const tab = 9
const lineFeed = 10
const carriageReturn = 13
const space = 32
const deletion = 127

/** The index after the empty line, or -1 when it has not arrived. Previous calls have checked `searched` bytes. */
export function findHeadEnd(bytes: Uint8Array, searched: number): number {
  for (let at = bytes[searched - 1] === carriageReturn ? searched - 1 : searched; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if ((byte >= space && byte !== deletion) || byte === tab) continue
    if (byte === lineFeed) throw new RejectedRequest(400, 'a line that ends without a carriage return')
    if (byte !== carriageReturn) throw new RejectedRequest(400, 'a control character in the head of a request')
    if (at + 1 === bytes.length) return -1
    if (bytes[++at] !== lineFeed) throw new RejectedRequest(400, 'a carriage return within a line')
    if (at >= 3 && bytes[at - 2] === lineFeed) return at + 1
  }
  return -1
}

/** The length of the empty lines before a request: old clients sent one after a body (RFC 9112, 2.2). */
export function leadingEmptyLines(bytes: Uint8Array): number {
  let at = 0
  while (bytes[at] === carriageReturn && bytes[at + 1] === lineFeed) at += 2
  return at
}
