// Widths of texts without a browser: an estimate for common sans-serif fonts, so that a layout is the same everywhere.

const narrow = new Set(" !'|.,:;ijlftrI()[]{}/-")
const wide = new Set('mwMW@%→—…')

/** Fractions of the font size. */
const narrowEm = 0.36
const usualEm = 0.57
const upperEm = 0.68
const wideEm = 0.92

function characterEm(character: string): number {
  if (narrow.has(character)) return narrowEm
  if (wide.has(character) || character > '\u2000') return wideEm
  return character >= 'A' && character <= 'Z' ? upperEm : usualEm
}

export function textWidthPx(text: string, fontPx: number): number {
  let em = 0
  for (const character of text) em += characterEm(character)
  return Math.ceil(em * fontPx)
}

/** The text in lines of at most this width. A word that is longer is divided. The last line ends with an ellipsis if text is left. */
export function wrapText(text: string, widthPx: number, fontPx: number, linesMax: number): string[] {
  const fits = (line: string): boolean => textWidthPx(line, fontPx) <= widthPx
  const lines: string[] = []
  let line = ''
  for (const piece of text.split(' ').flatMap((word) => pieces(word, fits))) {
    const longer = line === '' ? piece : `${line} ${piece}`
    if (fits(longer) || line === '') line = longer
    else {
      lines.push(line)
      line = piece
    }
  }
  lines.push(line)
  if (lines.length <= linesMax) return lines
  let last = lines[linesMax - 1] as string
  while (last !== '' && !fits(`${last}…`)) last = last.slice(0, -1)
  return [...lines.slice(0, linesMax - 1), `${last}…`]
}

function pieces(word: string, fits: (text: string) => boolean): string[] {
  if (fits(word)) return [word]
  let length = word.length - 1
  while (length > 1 && !fits(word.slice(0, length))) length--
  const rest = word.slice(Math.max(1, length))
  return [word.slice(0, Math.max(1, length)), ...(rest === '' ? [] : pieces(rest, fits))]
}
