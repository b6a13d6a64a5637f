// Texts that would change a command, a rule, a path or a request if they were made part of its syntax. Each contains a mark
// before and after its special characters, so that the place where it occurs can be found.

export interface HostileText {
  readonly name: string
  readonly textOf: (mark: string) => string
}

/** Longer than the API allows a name to be, and than 16 bits can count. */
const longCharacters = 70_000

export const hostileTexts: readonly HostileText[] = [
  { name: 'line feeds', textOf: (mark) => `${mark}\n${mark}\nflush ruleset\n${mark}` },
  { name: 'the end of a request', textOf: (mark) => `${mark}\r\n${mark}: x\r\n\r\nGET /${mark}` },
  { name: 'quotes', textOf: (mark) => `${mark}"; ${mark} ' ${mark}` },
  { name: 'braces', textOf: (mark) => `${mark} } ; { ${mark}` },
  { name: 'NUL', textOf: (mark) => `${mark}\0${mark}` },
  { name: 'parent directories', textOf: (mark) => `../../${mark}/../${mark}` },
  { name: 'the parent directory', textOf: () => '..' },
  { name: 'an option', textOf: (mark) => `--${mark} ${mark}` },
  { name: 'a shell', textOf: (mark) => `$(${mark}); \`${mark}\` | ${mark}` },
  { name: 'a selector', textOf: (mark) => `${mark},metadata.name!=${mark}` },
  { name: 'many characters', textOf: (mark) => `${mark}${'x'.repeat(longCharacters)}${mark}` },
  { name: 'other alphabets', textOf: (mark) => `${mark}é√\u{1f600}\u2028${mark}` },
  { name: 'half of a character', textOf: (mark) => `${mark}\ud800${mark}` },
]

export const markOf = (index: number): string => `zq${index}zq`

/** Objects have the number of their mark in their uid, which identifies texts without a mark. */
const pattern = /zq(\d+)zq/
const uidPattern = /\buid-(\d+)\b/

/** The number of a mark in a text, if it has one. */
export function markIn(text: string): number | undefined {
  const found = pattern.exec(text)
  return found === null ? undefined : Number(found[1])
}

/** The number of the object that a text is about. */
export function numberIn(text: string): number | undefined {
  const found = pattern.exec(text) ?? uidPattern.exec(text)
  return found === null ? undefined : Number(found[1])
}
