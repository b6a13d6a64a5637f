// scalarText: a text as a scalar of YAML in the style of upstream: plain where that is possible, in quotes, or as the lines
// of a block. Long texts are folded.
import { lookup } from '../../base/collections/lookup.ts'
import { isOtherType } from './other-type.ts'

/** Spaces beyond this column become line breaks. */
const widthMax = 80

/** `indent` is that of further lines. A text without a `column` is not folded. */
export function scalarText(text: string, indent: number, column: number | undefined): string {
  const style = styleOf(text)
  return style === 'block' ? blockText(text, indent) : `${lineText(text, style, indent, column)}\n`
}

type LineStyle = 'plain' | 'single' | 'double'

/** Only a text with a line feed is written as a block; the others are quoted. */
const lineBreaks = '\n\u2028\u2029'
const lineBreak = new RegExp(`[${lineBreaks}]`)
export const isOneLine = (text: string): boolean => !lineBreak.test(text)

/** Tabs, control characters, byte order marks and surrogates, which are those of characters beyond the basic plane. */
const escapedOnly = /[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/
const spaceBeforeBreak = new RegExp(` [${lineBreaks}]`)
const spaceAfterBreak = new RegExp(`[${lineBreaks}] `)
const blankAtEnds = /^[ \u2028\u2029]|[ \u2028\u2029]$/
/** What has a meaning in a plain text: at its start, a colon at the end of a word, and a comment. */
const indicator = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?-](?: |$))|:(?: |$)| #/

/** Most texts: none of their characters has a meaning. */
const common = /^[A-Za-z_/][\w./-]*$/

function styleOf(text: string): LineStyle | 'block' {
  if (common.test(text)) return isOtherType(text) ? 'double' : 'plain'
  if (escapedOnly.test(text) || spaceBeforeBreak.test(text)) return 'double'
  if (text.includes('\n')) return text.endsWith(' ') ? 'double' : 'block'
  if (isOtherType(text) || spaceAfterBreak.test(text)) return 'double'
  return blankAtEnds.test(text) || lineBreak.test(text) || indicator.test(text) ? 'single' : 'plain'
}

const firstOfLine = new RegExp(`(^|[${lineBreaks}])(?=[^${lineBreaks}])`, 'g')

/** Its header says how it is indented, where its first line does not, and which line breaks are at its end. */
function blockText(text: string, indent: number): string {
  const isIndented = text.startsWith(' ') || lineBreak.test(text.slice(0, 1))
  const last = text.slice(-1)
  const beforeLast = text.slice(-2, -1)
  const kept = isOneLine(last) ? '-' : beforeLast === '' || lineBreak.test(beforeLast) ? '+' : ''
  const lines = text.replaceAll(firstOfLine, `$1${' '.repeat(indent)}`)
  return `|${isIndented ? '2' : ''}${kept}\n${lines}${last === '\n' ? '' : '\n'}`
}

/** `\\U0001F600` */
const escapeCharsMax = 10
const quotes: Readonly<Record<LineStyle, string>> = { plain: '', single: "'", double: '"' }

function lineText(text: string, style: LineStyle, indent: number, column = -Infinity): string {
  const quote = quotes[style]
  const isShort = column + quote.length + text.length * (style === 'double' ? escapeCharsMax : 2) <= widthMax
  if (isShort && isOneLine(text)) return `${quote}${escapedText(text, style)}${quote}`
  const margin = ' '.repeat(indent)
  const characters = Array.from(text)
  let result = quote
  let at = column + quote.length
  let previous = ''
  for (const [index, character] of characters.entries()) {
    const next = characters[index + 1]
    const isInside = style === 'plain' || (index > 0 && next !== undefined)
    if (character === ' ' && previous !== ' ' && at > widthMax && isInside && (style === 'double' || next !== ' ')) {
      // A space at the start of a line is no part of the text, unless it is escaped.
      const escape = next === ' ' ? '\\' : ''
      result += `\n${margin}${escape}`
      at = indent + escape.length
    } else {
      const isFirstOfLine = lineBreak.test(previous) && style === 'single' && isOneLine(character)
      const piece = `${isFirstOfLine ? margin : ''}${escapedText(character, style)}`
      result += piece
      at += piece.length
    }
    previous = character
  }
  return `${result}${quote}`
}

function escapedText(text: string, style: LineStyle): string {
  if (style === 'plain') return text
  return style === 'single' ? text.replaceAll("'", "''") : text.replaceAll(escaped, escapeOf)
}

const escaped = /[^\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]|["\\]/gu

const shortEscapes: Readonly<Record<string, string>> = {
  '\0': '0',
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\x1b': 'e',
  '"': '"',
  '\\': '\\',
  '\x85': 'N',
  '\u2028': 'L',
  '\u2029': 'P',
}

function escapeOf(character: string): string {
  const short = lookup(shortEscapes, character)
  if (short !== undefined) return `\\${short}`
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase()
  if (code.length <= 2) return `\\x${code.padStart(2, '0')}`
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`
}
