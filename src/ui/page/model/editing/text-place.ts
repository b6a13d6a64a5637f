// What is typed at a position of a YAML text. A marker replaces it, and the parser says where the marker is, because the text is
// incomplete while it is typed. In comments and block scalars, and in mappings in braces, nothing is completed.
import { isScalar, isSeq, isMap } from 'yaml'
import { keyText, pairsOf, yamlDocuments, type PathStep, type TextRange, type YamlDocument } from './yaml-documents.ts'

/** The name of a field, or its value, is typed. */
export interface TextPlace extends TextRange {
  readonly kind: 'field' | 'value'
  /** Of a value its own path, of a field that of the object to which it belongs. */
  readonly path: readonly PathStep[]
  /** The fields that the object has, without the one that is typed. */
  readonly present: readonly string[]
  /** Whether the name is followed by a colon already. */
  readonly hasColon: boolean
  /** The column at which the typed word begins. */
  readonly column: number
  /** The document, in which the marker is. */
  readonly document: YamlDocument
}

const marker = 'coxswain-typed-here'

/** Characters that end the word that is typed. */
const separators = /[\s"'#,:[\]{}]/
/** What precedes a name: spaces, and the dashes of items. */
const fieldStart = /^ *(?:- +)*$/ // linear: each part ends with the spaces of one dash
/** What precedes a value: a name and a colon. */
const valueStart = /^ *(?:- +)*(?:"[^"]*"|'[^']*'|[^\s"'#:][^\s:]*): +$/ // linear: the parts begin with different characters

export function placeAt(text: string, position: number): TextPlace | undefined {
  const lineFrom = text.lastIndexOf('\n', position - 1) + 1
  const lineBreak = text.indexOf('\n', position)
  const line = text.slice(lineFrom, lineBreak < 0 ? text.length : lineBreak)
  const at = position - lineFrom
  const isTyped = (column: number): boolean =>
    column >= 0 && column < line.length && !separators.test(line.charAt(column))
  let column = at
  while (isTyped(column - 1)) column--
  let end = at
  while (isTyped(end)) end++
  const word = line.slice(column, end)
  const before = line.slice(0, column)
  const rest = line.slice(column + word.length)
  const range = { from: lineFrom + column, to: lineFrom + column + word.length, column }
  const marked = (insert: string): string => text.slice(0, range.from) + insert + text.slice(range.to)
  const hasColon = /^:(?:\s|$)/.test(rest)
  const isLast = /^\s*(?:#|$)/.test(rest)
  if (fieldStart.test(before) && (hasColon || isLast)) {
    const found = find(marked(hasColon ? marker : `${marker}:`))
    return found?.kind === 'field' ? { ...range, ...found, hasColon } : undefined
  }
  if (!valueStart.test(before) || !isLast) return undefined
  const found = find(marked(marker))
  return found?.kind === 'value' ? { ...range, ...found, hasColon } : undefined
}

type Found = Pick<TextPlace, 'kind' | 'path' | 'present' | 'document'>

function find(text: string): Found | undefined {
  for (const document of yamlDocuments(text)) {
    const found = findIn(document.root, [])
    if (found !== undefined) return { ...found, document }
  }
  return undefined
}

function findIn(node: unknown, path: readonly PathStep[]): Omit<Found, 'document'> | undefined {
  if (isSeq(node)) return firstOf(node.items, (item, at) => findIn(item, [...path, at]))
  if (isScalar(node)) return node.value === marker ? { kind: 'value', path, present: [] } : undefined
  if (!isMap(node) || node.flow === true) return undefined
  const pairs = pairsOf(node)
  if (pairs.some(({ key }) => keyText(key) === marker)) {
    const present = pairs.flatMap(({ key }) => keyText(key) ?? []).filter((name) => name !== marker)
    return { kind: 'field', path, present }
  }
  return firstOf(pairs, ({ key, value }) => findIn(value, [...path, keyText(key) ?? '']))
}

function firstOf<T, R>(items: readonly T[], read: (item: T, at: number) => R | undefined): R | undefined {
  for (const [at, item] of items.entries()) {
    const value = read(item, at)
    if (value !== undefined) return value
  }
  return undefined
}
