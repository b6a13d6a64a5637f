// Field selectors as text: `metadata.name=a,status.phase!=Failed`. One pass over the text, with upstream's messages.
import type { Requirement, Selector } from './selectors.ts'
import { badRequest } from '../errors/status-error.ts'

export function parseFieldSelector(text: string): Selector {
  return termsOf(text)
    .filter((term) => term !== '')
    .map((term): Requirement => {
      const equals = term.indexOf('=')
      if (equals < 0) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
      const isNegated = term[equals - 1] === '!'
      const valueStart = !isNegated && term[equals + 1] === '=' ? equals + 2 : equals + 1
      return {
        key: term.slice(0, isNegated ? equals - 1 : equals),
        operator: isNegated ? 'NotIn' : 'In',
        values: [unescaped(term.slice(valueStart))],
      }
    })
}

/** A value as it is written in a field selector. */
export const escapedFieldValue = (value: string): string => value.replaceAll(/[\\,=]/g, '\\$&')

/** The terms between commas. A backslash escapes the next character. */
function termsOf(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === ',') {
      terms.push(text.slice(start, at))
      start = at + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

const escapable = new Set(['\\', ',', '='])

function unescaped(value: string): string {
  const parts: string[] = []
  let start = 0
  for (let at = 0; at < value.length; at++) {
    const character = value[at] ?? ''
    if (!escapable.has(character)) continue
    if (character !== '\\')
      throw badRequest(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`)
    const code = value.codePointAt(at + 1)
    const next = code === undefined ? '' : String.fromCodePoint(code)
    if (!escapable.has(next)) throw badRequest(`invalid field selector: invalid escape sequence: \\${next}`)
    parts.push(value.slice(start, at))
    start = at + 1
    at++
  }
  parts.push(value.slice(start))
  return parts.join('')
}
