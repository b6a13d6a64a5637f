// The field at a position of a YAML text, with its description.
import { isMap, isSeq } from 'yaml'
import type { KnownKinds } from './known-kinds.ts'
import { keyText, pairsOf, rangeOf, schemaAt, yamlDocuments, type PathStep, type TextRange } from './yaml-documents.ts'

export interface DescribedField extends TextRange {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
  readonly values: readonly string[]
}

export function fieldAt(text: string, position: number, kinds: KnownKinds): DescribedField | undefined {
  for (const document of yamlDocuments(text)) {
    const found = findIn(document.root, [], position)
    if (found === undefined) continue
    const { path, range } = found
    const name = String(path.at(-1) ?? '')
    const schema = schemaAt(kinds, document, path)
    const parent = schemaAt(kinds, document, path.slice(0, -1))
    if (schema === undefined) return undefined
    const isRequired = parent?.required.includes(name) === true
    const { typeText: type, description } = schema
    return { ...range, name, type, isRequired, description, values: schema.values.map(String) }
  }
  return undefined
}

interface FoundField {
  readonly path: readonly PathStep[]
  readonly range: TextRange
}

/** The field whose name is at the position. */
function findIn(node: unknown, path: readonly PathStep[], position: number): FoundField | undefined {
  if (isSeq(node)) {
    for (const [at, item] of node.items.entries()) {
      const found = findIn(item, [...path, at], position)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (!isMap(node)) return undefined
  for (const { key, value } of pairsOf(node)) {
    const inner = [...path, keyText(key) ?? '']
    const range = rangeOf(key)
    if (range !== undefined && range.from <= position && position <= range.to) return { path: inner, range }
    const found = findIn(value, inner, position)
    if (found !== undefined) return found
  }
  return undefined
}
