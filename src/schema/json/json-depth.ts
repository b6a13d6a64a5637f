// The maximum nesting of JSON. Functions that visit values are recursive, so the depth is limited on input.

/** Upstream allows 10,000; no API object comes near either. */
export const jsonDepthMax = 1_000

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** Whether the JSON in these bytes nests deeper than allowed. Small bodies cannot, and are not scanned. */
export function nestsTooDeep(json: Uint8Array): boolean {
  if (json.length < 2 * jsonDepthMax) return false
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === quote) {
      for (at++; at < json.length && json[at] !== quote; at++) if (json[at] === backslash) at++
    } else if (byte === openBrace || byte === openBracket) {
      if (++depth > jsonDepthMax) return true
    } else if (byte === closeBrace || byte === closeBracket) depth--
  }
  return false
}
