// The documents of a YAML text with the place of each value. An incomplete text has documents too, as far as they can be read.
import { isAlias, isMap, isNode, isPair, isScalar, isSeq, parseAllDocuments, visit, type Node, type Pair } from 'yaml'
import type { SchemaNode } from './schema-node.ts'
import type { KnownKind, KnownKinds } from './known-kinds.ts'

/** Longer texts are edited without completion and validation, because they are parsed while the user types. */
export const checkedCharsMax = 200_000

/** A place in a text, by its characters. */
export interface TextRange {
  readonly from: number
  readonly to: number
}

/** The name of a field, or the number of an item. */
export type PathStep = string | number

/** An error of the syntax. */
export interface SyntaxFinding extends TextRange {
  readonly message: string
}

export interface YamlDocument extends KnownKind {
  readonly root: Node | null
  readonly range: TextRange
  readonly errors: readonly SyntaxFinding[]
}

/** The server reads YAML 1.1 without timestamps. */
const options = {
  version: '1.1',
  customTags: (tags: readonly unknown[]) =>
    tags.filter((tag) => typeof tag !== 'object' || (tag as { tag?: string }).tag !== 'tag:yaml.org,2002:timestamp'),
  prettyErrors: false,
  logLevel: 'silent',
} as Parameters<typeof parseAllDocuments>[1]

export function yamlDocuments(text: string): readonly YamlDocument[] {
  if (text.length > checkedCharsMax) return []
  const parsed = parseAllDocuments(text, options)
  if (!Array.isArray(parsed)) return []
  return parsed.map(({ contents, errors, range }, at) => ({
    // Of a document of comments the value is null.
    root: isScalar(contents) && contents.value === null ? null : contents,
    errors: [...errors.map(({ pos: [from, to], message }) => ({ from, to, message })), ...unknownAliases(contents)],
    // The first one begins with the text, so that a comment before it belongs to it.
    range: { from: at === 0 ? 0 : range[0], to: range[2] },
    apiVersion: textAt(contents, 'apiVersion'),
    kind: textAt(contents, 'kind'),
  }))
}

/** An alias stands for a value that is written before it. */
function unknownAliases(root: Node | null): readonly SyntaxFinding[] {
  const anchors = new Set<string>()
  const found: SyntaxFinding[] = []
  visit(root, {
    Node: (_, node) => {
      if (!isAlias(node)) {
        if (isNode(node) && 'anchor' in node && typeof node.anchor === 'string') anchors.add(node.anchor)
      } else if (!anchors.has(node.source) && node.range)
        found.push({
          from: node.range[0],
          to: node.range[1],
          message: `There is no anchor ${node.source} before this.`,
        })
    },
  })
  return found
}

/** The text of a field of a mapping; empty if it has none. */
export function textAt(node: unknown, name: string): string {
  const value = pairsOf(node).find(({ key }) => keyText(key) === name)?.value
  return isScalar(value) && typeof value.value === 'string' ? value.value : ''
}

export const pairsOf = (node: unknown): readonly Pair[] => (isMap(node) ? node.items.filter(isPair) : [])

/** The text of a key; undefined for keys that no field can have. */
export const keyText = (key: unknown): string | undefined =>
  isScalar(key) && key.value !== null ? (key.source ?? String(key.value)) : undefined

export function rangeOf(node: unknown): TextRange | undefined {
  const range = isMap(node) || isSeq(node) || isScalar(node) ? node.range : undefined
  return range === undefined || range === null ? undefined : { from: range[0], to: range[1] }
}

/** The place of an item: of an object its first field, because a mark of several lines hides those in it. */
export const rangeOfItem = (item: unknown): TextRange | undefined => rangeOf(isMap(item) ? pairsOf(item)[0]?.key : item)

/** The schema of a field; undefined if nothing is known about it. */
export function schemaAt(kinds: KnownKinds, kind: KnownKind, path: readonly PathStep[]): SchemaNode | undefined {
  let schema = kinds.schemaOf(kind)
  for (const step of path) schema = typeof step === 'number' ? schema?.item : schema?.field(step)
  return schema
}
