// The choices of the palette: which ones match what was typed, the best first.

export interface Choice {
  readonly id: string
  readonly label: string
  /** What kind of choice it is, or where it is. */
  readonly detail: string
  /** The key that does the same. */
  readonly key?: string
}

/** Choices that contain every typed word. Those whose label begins with the text come first. */
export function matching<T extends Choice>(choices: readonly T[], text: string): readonly T[] {
  const typed = text.trim().toLowerCase()
  const words = typed.split(/\s+/).filter((word) => word !== '')
  const matches = choices.filter(({ label, detail }) => {
    const all = `${label} ${detail}`.toLowerCase()
    return words.every((word) => all.includes(word))
  })
  return matches.toSorted((a, b) => rank(a, typed, words) - rank(b, typed, words))
}

function rank({ label }: Choice, typed: string, words: readonly string[]): number {
  const text = label.toLowerCase()
  if (text === typed) return 0
  if (text.startsWith(typed)) return 1
  return words.every((word) => text.includes(word)) ? 2 : 3
}
