// Text in double quotes as Go's %q writes it, which messages of the API use for values.

const named = new Map([
  ['"', String.raw`\"`],
  ['\\', String.raw`\\`],
  ['\u0007', String.raw`\a`],
  ['\b', String.raw`\b`],
  ['\f', String.raw`\f`],
  ['\n', String.raw`\n`],
  ['\r', String.raw`\r`],
  ['\t', String.raw`\t`],
  ['\v', String.raw`\v`],
])

export const goQuoted = (text: string): string =>
  `"${text.replaceAll(/["\\\p{C}\p{Z}]/gu, (character) =>
    character === ' ' ? character : (named.get(character) ?? escaped(character.codePointAt(0) ?? 0)),
  )}"`

function escaped(code: number): string {
  const digits = code.toString(16)
  if (code < 0x20 || code === 0x7f) return `\\x${digits.padStart(2, '0')}`
  return code < 0x1_00_00 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`
}
