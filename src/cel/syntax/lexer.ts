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
const number =
  /(?:(?<double>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|(?<uint>(?:0x[0-9a-fA-F]+|\d+)[uU])|(?<int>0x[0-9a-fA-F]+|\d+))/y
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
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(source)
  }
  while (at < source.length) {
    const skipped = match(blank)
    if (skipped !== null) {
      at += skipped[0].length
      continue
    }
    const found = nextToken(match)
    if (found === undefined) {
      const wrong = unrecognized(source, at)
      issues.push({ at, message: `Syntax error: token recognition error at: '${wrong}'` })
      at += wrong.length
      // Further issues are not searched, since upstream does not show them.
      if (issues.length > issuesShownMax) break
      continue
    }
    tokens.push({ ...found, at })
    at += found.text.length
  }
  tokens.push({ kind: 'end', text: '<EOF>', at: source.length })
  return { tokens, issues }
}

function nextToken(match: (pattern: RegExp) => RegExpExecArray | null): Omit<Token, 'at'> | undefined {
  const quoted = match(rawText) ?? match(text)
  if (quoted !== null) return { kind: /^[bB]/.test(quoted[0]) ? 'bytes' : 'string', text: quoted[0] }
  const digits = match(number)
  if (digits !== null) {
    const { double, uint } = digits.groups ?? {}
    return { kind: double !== undefined ? 'double' : uint !== undefined ? 'uint' : 'int', text: digits[0] }
  }
  const name = match(word)
  if (name !== null) return { kind: keywords.has(name[0]) ? 'keyword' : 'identifier', text: name[0] }
  const escaped = match(quotedWord)
  if (escaped !== null) return { kind: 'quotedIdentifier', text: escaped[0] }
  const sign = match(symbol)
  return sign === null ? undefined : { kind: 'symbol', text: sign[0] }
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
