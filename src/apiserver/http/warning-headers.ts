// The Warning headers of a response. As upstream, their texts are limited: beyond the limit each text is cut, and what has
// no room is left out.

const totalCharactersMax = 4 << 10
const cutCharactersMax = 256

export function warningHeaders(warnings: readonly string[]): string[] {
  return shownWarnings(warnings).map(warningHeader)
}

function shownWarnings(warnings: readonly string[]): readonly string[] {
  const whole = withinTotal(new Set(warnings))
  if (whole.isAll) return whole.texts
  return withinTotal(new Set(warnings), cutCharactersMax).texts
}

/** The texts that have room together, each cut to its own limit. */
function withinTotal(warnings: Iterable<string>, eachMax = Infinity): { texts: string[]; isAll: boolean } {
  const texts: string[] = []
  let total = 0
  for (const warning of warnings) {
    const text = warning.slice(0, eachMax)
    total += text.length
    if (total > totalCharactersMax) return { texts, isAll: false }
    texts.push(text)
  }
  return { texts, isAll: true }
}

/** Headers are written one byte for each character: text in UTF-8 is handed over so. */
const warningHeader = (text: string): string =>
  String.fromCharCode(...new TextEncoder().encode(`299 - ${JSON.stringify(text)}`))
