// compareKeys: the order of keys in YAML. Numbers within them are compared by value, and letters follow other characters.

export function compareKeys(a: string, b: string): number {
  let at = 0
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === a.length || at === b.length) return a.length - b.length
  // The second unit of a character beyond the basic plane.
  if (isLowSurrogate(a.charCodeAt(at)) && at > 0) at--
  const one = a.codePointAt(at) as number
  const other = b.codePointAt(at) as number
  const isLetter = letter.test(String.fromCodePoint(one))
  const isOtherLetter = letter.test(String.fromCodePoint(other))
  if (isLetter !== isOtherLetter) return isLetter ? 1 : -1
  return (isLetter ? 0 : compareNumbers(a, b, at)) || one - other
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code < 0xe000
const letter = /\p{L}/u
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** The numbers around the first character that differs. Of equal ones, that with fewer zeros in front is first. */
function compareNumbers(a: string, b: string, at: number): number {
  let start = at
  while (isDigit(a.charCodeAt(start - 1))) start--
  const one = digitsFrom(a, start)
  const other = digitsFrom(b, start)
  const value = one.replace(/^0+/, '')
  const otherValue = other.replace(/^0+/, '')
  const order = Number(value > otherValue) - Number(value < otherValue)
  return value.length - otherValue.length || order || one.length - other.length
}

function digitsFrom(text: string, start: number): string {
  let end = start
  while (isDigit(text.charCodeAt(end))) end++
  return text.slice(start, end)
}
