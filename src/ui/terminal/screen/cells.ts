// Text as terminal cells. Names and logs come from anywhere, so nothing in them may reach the terminal as a control
// sequence: control characters are shown in caret notation, other invisible characters as a replacement character.

export interface Cell {
  /** A visible character with its combining marks. */
  readonly text: string
  /** The columns that it occupies. */
  readonly width: 1 | 2
}

/** Further combining marks of one character are not shown, because stacks of them cover other lines. */
const marksMax = 2
const replacement = '\ufffd'
const asciiOnly = /^[\x20-\x7e]*$/
const mark = /^\p{M}$/u
/** Controls, format characters such as bidirectional overrides, lone surrogates, and separators of lines. */
const invisible = /^[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]$/u
/** Terminals draw the two letters of a flag as one column each. */
const pictograph = /^(?!\p{Regional_Indicator})\p{Emoji_Presentation}$/u

/** First and last code points of scripts whose characters occupy two columns (East Asian Wide and Fullwidth). */
const wideRanges: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x20000, 0x3fffd],
]

export function cellsOf(text: string): Cell[] {
  if (asciiOnly.test(text)) return Array.from(text, (each) => ({ text: each, width: 1 }))
  const cells: Cell[] = []
  let marks = 0
  for (const character of text) {
    const last = cells.at(-1)
    if (mark.test(character) && last !== undefined) {
      if (marks++ < marksMax) cells[cells.length - 1] = { ...last, text: last.text + character }
      continue
    }
    marks = 0
    if (invisible.test(character)) cells.push(...cellsOfInvisible(character))
    else cells.push({ text: mark.test(character) ? replacement : character, width: isWide(character) ? 2 : 1 })
  }
  return cells
}

/** ESC is `^[`; a character without a caret notation is replaced. */
function cellsOfInvisible(character: string): Cell[] {
  const code = character.charCodeAt(0)
  if (code === 0x09) return [{ text: ' ', width: 1 }]
  const text = code < 0x20 ? `^${String.fromCharCode(code + 0x40)}` : code === 0x7f ? '^?' : replacement
  return Array.from(text, (each) => ({ text: each, width: 1 }))
}

function isWide(character: string): boolean {
  const code = character.codePointAt(0) ?? 0
  return wideRanges.some(([first, last]) => code >= first && code <= last) || pictograph.test(character)
}

export const widthOf = (text: string): number =>
  asciiOnly.test(text) ? text.length : cellsOf(text).reduce((sum, { width }) => sum + width, 0)

/** The text as it is shown, cut to a number of columns with an ellipsis. */
export function fitted(text: string, columns: number): string {
  const cells = cellsOf(text)
  if (cells.reduce((sum, { width }) => sum + width, 0) <= columns) return cells.map((cell) => cell.text).join('')
  let shown = ''
  let used = 0
  for (const cell of cells) {
    if (used + cell.width > columns - 1) break
    shown += cell.text
    used += cell.width
  }
  return columns <= 0 ? '' : `${shown}…`
}

/** As `fitted`, filled up with spaces. */
export function padded(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const shown = fitted(text, columns)
  const space = ' '.repeat(Math.max(0, columns - widthOf(shown)))
  return align === 'left' ? shown + space : space + shown
}
