// Limits of the number of values in a text or message.

/** A text or message contains more scalars, lists and objects than its reader accepts. */
export class TooManyValuesError extends Error {
  override name = 'TooManyValuesError'

  constructor(valuesMax: number) {
    super(`limit is ${valuesMax} values`)
  }
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

/**
 * Whether the JSON in these bytes has more separators than so many values can have. It is much cheaper than to parse them, and
 * takes no memory; a text that passes may still have too many values.
 */
export function hasTooManySeparators(json: Uint8Array, valuesMax: number): boolean {
  if (json.length < valuesMax) return false
  let separators = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === quote) {
      for (at++; at < json.length && json[at] !== quote; at++) if (json[at] === backslash) at++
    } else if (byte === comma && ++separators >= valuesMax) return true
  }
  return false
}
