// The Warning headers of a response. As upstream, their total length is limited: beyond the limit each text is
// truncated, and texts that do not fit are dropped.

const totalCharactersMax = 4 << 10
const cutCharactersMax = 256

export function warningHeaders(warnings: readonly string[]): string[] {
  return shownWarnings(warnings).map(warningHeader)
}

function shownWarnings(warnings: readonly string[]): readonly string[] {
  const whole = withinTotal(warnings)
  return whole.isAll ? whole.texts : withinTotal(warnings, cutCharactersMax).texts
}

/** Each text once, truncated to its own limit, as many as fit into the total; later ones are not looked at. */
function withinTotal(warnings: readonly string[], eachMax = Infinity): { texts: string[]; isAll: boolean } {
  const seen = new Set<string>()
  const texts: string[] = []
  let total = 0
  for (const warning of warnings) {
    if (seen.has(warning)) continue
    seen.add(warning)
    const text = warning.slice(0, eachMax)
    total += text.length
    if (total > totalCharactersMax) return { texts, isAll: false }
    texts.push(text)
  }
  return { texts, isAll: true }
}

/** Headers are written as Latin-1, one byte per character, so UTF-8 text is passed as its bytes. */
const warningHeader = (text: string): string =>
  String.fromCharCode(...new TextEncoder().encode(`299 - ${JSON.stringify(text)}`))
