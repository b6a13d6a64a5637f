// A body in YAML: its value as kubectl's own parser reads it, and the keys that it sets twice. Few send YAML, so this
// file and the parser are loaded when the first one does.
import {
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type DocumentOptions,
  type ParseOptions,
  type SchemaOptions,
} from 'yaml'

export interface YamlBody {
  readonly value: unknown
  /** In the words of Go's parser: `line 12: key "name" already set in map`. */
  readonly repeatedKeys: readonly string[]
}

// YAML 1.1 without timestamps; a key that is set twice is told apart from text that is no YAML.
const options: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  customTags: (tags) => tags.filter((tag) => typeof tag !== 'object' || tag.tag !== 'tag:yaml.org,2002:timestamp'),
  uniqueKeys: false,
}

/** Aliases may not unfold without bound. */
const maxAliasCount = 100

export function parseYaml(text: string): YamlBody {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { ...options, lineCounter })
  const [error] = document.errors
  if (error !== undefined) throw error
  const value: unknown = document.toJS({ maxAliasCount })
  return { value, repeatedKeys: [...repeatedKeys(document.contents, lineCounter)] }
}

/** In the order of Go's parser: what stands inside a value comes before the value's own key. */
function* repeatedKeys(node: unknown, lines: LineCounter): Iterable<string> {
  if (isSeq(node)) for (const item of node.items) yield* repeatedKeys(item, lines)
  if (!isMap(node)) return
  const seen = new Set<unknown>()
  for (const { key, value } of node.items) {
    yield* repeatedKeys(value, lines)
    if (!isScalar(key) || key.value === '<<') continue
    // The line that is told is the one on which the value begins, which may be the next.
    const place = (isNode(value) ? value.range : undefined) ?? key.range
    if (seen.has(key.value))
      yield `line ${lines.linePos(place?.[0] ?? 0).line}: key ${JSON.stringify(key.value)} already set in map`
    seen.add(key.value)
  }
}
