// Lexer of jq expressions.
import { JqError } from './jq-query.ts'

export interface JqToken {
  readonly kind: 'name' | 'field' | 'number' | 'string' | 'symbol' | 'end'
  /** The name without its dot, the value of a string, or the text itself. */
  readonly text: string
  readonly at: number
}

const charactersMax = 10_000
const blank = /[ \t\r\n]+/y
const field = /\.[A-Za-z_][A-Za-z0-9_]*/y
const name = /[A-Za-z_][A-Za-z0-9_]*/y
const number = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const string = /"(?:[^"\\]|\\[^(])*"/y
const symbol = /\/\/|==|!=|<=|>=|[.,|()[\]?<>+\-*/%;]/y

export function jqTokens(text: string): readonly JqToken[] {
  if (text.length > charactersMax) throw new JqError(`the expression has more than ${charactersMax} characters`)
  const tokens: JqToken[] = []
  let at = 0
  while (at < text.length) {
    at += matchAt(blank, text, at)?.length ?? 0
    if (at === text.length) break
    const token = tokenAt(text, at)
    tokens.push(token.token)
    at += token.length
  }
  return [...tokens, { kind: 'end', text: '', at }]
}

function tokenAt(text: string, at: number): { readonly token: JqToken; readonly length: number } {
  const of = (kind: JqToken['kind'], found: string, value = found) => ({
    token: { kind, text: value, at },
    length: found.length,
  })
  const ofField = matchAt(field, text, at)
  if (ofField !== undefined) return of('field', ofField, ofField.slice(1))
  const ofName = matchAt(name, text, at)
  if (ofName !== undefined) return of('name', ofName)
  const ofNumber = matchAt(number, text, at)
  if (ofNumber !== undefined) return of('number', ofNumber)
  const ofString = matchAt(string, text, at)
  if (ofString !== undefined) return of('string', ofString, stringValue(ofString, at))
  const ofSymbol = matchAt(symbol, text, at)
  if (ofSymbol !== undefined) return of('symbol', ofSymbol)
  throw new JqError(`unexpected ${JSON.stringify(text[at])} at ${at}`)
}

function stringValue(literal: string, at: number): string {
  try {
    return JSON.parse(literal) as string
  } catch (error) {
    throw new JqError(`invalid string at ${at}`, { cause: error })
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}
