// Text and bytes literals: prefixes, quotes and escapes.
import { lookup } from '../../base/collections/lookup.ts'
import { append } from '../../base/collections/append.ts'

const simple: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
}

const encoder = new TextEncoder()

/** The text of a literal; throws the error of an invalid escape. */
export const textOf = (literal: string): string => decodeText(contentOf(literal))

/** In bytes `\377` and `\xff` are one byte each; everything else is UTF-8. */
export function bytesOf(literal: string): Uint8Array {
  const { content, isRaw } = contentOf(literal)
  if (isRaw) return encoder.encode(content)
  const bytes: number[] = []
  for (const part of parts(content)) {
    if (part[0] !== '\\') append(bytes, encoder.encode(part))
    else if (/^\\[uU]/.test(part)) throw new Error('unable to unescape string')
    else if (/^\\[xX0-3]/.test(part)) bytes.push(codeOf(part))
    else append(bytes, encoder.encode(simpleEscape(part)))
  }
  return Uint8Array.from(bytes)
}

function contentOf(literal: string): { readonly content: string; readonly isRaw: boolean } {
  const quoteAt = literal.search(/["']/)
  const isRaw = /[rR]/.test(literal.slice(0, quoteAt))
  const body = literal.slice(quoteAt)
  const width = /^("""|''')/.test(body) && body.length >= 6 ? 3 : 1
  return { content: body.slice(width, -width).replaceAll(/\r\n?/g, '\n'), isRaw }
}

function decodeText({ content, isRaw }: { readonly content: string; readonly isRaw: boolean }): string {
  if (isRaw || !content.includes('\\')) return content
  let text = ''
  for (const part of parts(content)) {
    if (part[0] !== '\\') text += part
    else if (/^\\[xXuU0-3]/.test(part)) text += codePoint(codeOf(part))
    else text += simpleEscape(part)
  }
  return text
}

const parts = (content: string): readonly string[] =>
  content.match(/\\(?:[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|[^])|[^\\]+|\\$/g) ?? []

function codeOf(escape: string): number {
  const isOctal = /^\\[0-3]/.test(escape)
  const digits = isOctal ? escape.slice(1) : escape.slice(2)
  const length = isOctal ? 3 : (lookup({ x: 2, X: 2, u: 4, U: 8 }, escape[1] ?? '') ?? 0)
  if (digits.length !== length) throw new Error('unable to unescape string')
  return Number.parseInt(digits, isOctal ? 8 : 16)
}

function codePoint(code: number): string {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new Error('invalid unicode code point')
  return String.fromCodePoint(code)
}

function simpleEscape(part: string): string {
  const found = lookup(simple, part[1] ?? '')
  if (found === undefined) throw new Error('unable to unescape string')
  return found
}
