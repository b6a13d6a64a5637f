// Lexer: splits the text of an expression into tokens. Invalid characters are reported and skipped, as in upstream's lexer.
import { codePoints } from '../values/code-points.ts'
import { issuesShownMax, type Issue } from './source.ts'

export type TokenKind =
  | 'symbol'
  | 'keyword'
  | 'identifier'
  | 'quotedIdentifier'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'end'

export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly at: number
}

const blank = /(?:[\t\r\n\f ]+|\/\/[^\n]*)+/y
const doubleNumber = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y
const wholeNumber = /(?:0x[0-9a-fA-F]+|\d+)[uU]?/y
const escape = String.raw`\\(?:[abfnrtv"'\x60\\?]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})`
const partialEscape = String.raw`(?:\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?)?`
const between = (quote: string, plain: string): string => `${quote}(?:${plain}|${escape})*?${quote}`
const text = new RegExp(
  `[bB]?(?:${[
    between('"""', String.raw`[^\\]`),
    between("'''", String.raw`[^\\]`),
    between('"', String.raw`[^\\"\n\r]`),
    between("'", String.raw`[^\\'\n\r]`),
  ].join('|')})`,
  'y',
)
const rawText = /[bB]?[rR](?:"""[^]*?"""|'''[^]*?'''|"[^"\n\r]*"|'[^'\n\r]*')/y
const unclosed = new RegExp(
  String.raw`^[bB]?[rR]?(?:"(?:[^\\"\n\r]|${escape})*|'(?:[^\\'\n\r]|${escape})*)${partialEscape}[^]?`,
)
const word = /[_a-zA-Z][_a-zA-Z0-9]*/y
const quotedWord = /`[a-zA-Z0-9_.\-/ ]+`/y
const symbol = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y

const keywords = new Set(['in', 'true', 'false', 'null'])

export function tokenize(source: string): { readonly tokens: readonly Token[]; readonly issues: readonly Issue[] } {
  const tokens: Token[] = []
  const issues: Issue[] = []
  let at = 0
  while (at < source.length) {
    const start = startOf(source.charCodeAt(at))
    const skipped = start === 'blank' ? matchAt(blank, source, at) : undefined
    if (skipped !== undefined) {
      at += skipped.length
      continue
    }
    const token = tokenAt(source, at, start)
    if (token === undefined) {
      const wrong = unrecognized(source, at)
      issues.push({ at, message: `Syntax error: token recognition error at: '${wrong}'` })
      at += wrong.length
      // Further issues are not searched, since upstream does not show them.
      if (issues.length > issuesShownMax) break
      continue
    }
    tokens.push(token)
    at += token.text.length
  }
  tokens.push({ kind: 'end', text: '<EOF>', at: source.length })
  return { tokens, issues }
}

/** What a token can be by its first character. A comment starts like a division, a prefix of a text like a word. */
type Start = 'blank' | 'letter' | 'prefix' | 'digit' | 'dot' | 'quote' | 'backtick' | 'other'

const startOf = (code: number): Start => starts[code] ?? 'other'

const starts: readonly Start[] = Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[\t\r\n\f /]/.test(character)) return 'blank'
  if (/[bBrR]/.test(character)) return 'prefix'
  if (/[_a-zA-Z]/.test(character)) return 'letter'
  if (/\d/.test(character)) return 'digit'
  if (/["']/.test(character)) return 'quote'
  return character === '.' ? 'dot' : character === '`' ? 'backtick' : 'other'
})

function matchAt(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.test(source) ? source.slice(at, pattern.lastIndex) : undefined
}

function tokenAt(source: string, at: number, start: Start): Token | undefined {
  switch (start) {
    case 'quote':
      return textAt(source, at)
    case 'prefix':
      return textAt(source, at) ?? wordAt(source, at)
    case 'letter':
      return wordAt(source, at)
    case 'digit':
      return numberAt(source, at)
    case 'dot':
      return numberAt(source, at) ?? symbolAt(source, at)
    case 'backtick': {
      const quoted = matchAt(quotedWord, source, at)
      return quoted === undefined ? undefined : { kind: 'quotedIdentifier', text: quoted, at }
    }
    default:
      return symbolAt(source, at)
  }
}

function textAt(source: string, at: number): Token | undefined {
  const found = matchAt(rawText, source, at) ?? matchAt(text, source, at)
  return found === undefined ? undefined : { kind: /^[bB]/.test(found) ? 'bytes' : 'string', text: found, at }
}

function wordAt(source: string, at: number): Token | undefined {
  const found = matchAt(word, source, at)
  return found === undefined ? undefined : { kind: keywords.has(found) ? 'keyword' : 'identifier', text: found, at }
}

function numberAt(source: string, at: number): Token | undefined {
  const double = matchAt(doubleNumber, source, at)
  if (double !== undefined) return { kind: 'double', text: double, at }
  const whole = matchAt(wholeNumber, source, at)
  return whole === undefined ? undefined : { kind: /[uU]$/.test(whole) ? 'uint' : 'int', text: whole, at }
}

function symbolAt(source: string, at: number): Token | undefined {
  const found = matchAt(symbol, source, at)
  return found === undefined ? undefined : { kind: 'symbol', text: found, at }
}

/**
 * The length that upstream's lexer skips: a quoted text up to the first invalid character, otherwise the invalid
 * prefix.
 */
function unrecognized(source: string, at: number): string {
  const rest = source.slice(at)
  const quoted = unclosed.exec(rest)
  if (quoted !== null) return quoted[0]
  const half = /^[&|=`][^&|=`]?/.exec(rest)
  if (half !== null) return half[0]
  return codePoints(rest.slice(0, 2))[0] ?? ''
}
