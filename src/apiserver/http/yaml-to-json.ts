// YAML as JSON: the value as kubectl's own parser reads it, and the keys that are set twice. Few clients send YAML, so
// this file and the parser are loaded when the first one does; it also runs in a thread of its own (yaml-parser.ts).
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

export interface YamlAsJson {
  readonly json: string
  /** In the words of Go's parser: `line 12: key "name" already set in map`. */
  readonly repeatedKeys: readonly string[]
}

// YAML 1.1 without timestamps; a key that is set twice is told apart from text that is no YAML.
const options: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  customTags: (tags) => tags.filter((tag) => typeof tag !== 'object' || tag.tag !== 'tag:yaml.org,2002:timestamp'),
  uniqueKeys: false,
  intAsBigInt: true, // integers of 64 bits keep their digits
}

/** Aliases may not unfold without bound. */
const maxAliasCount = 100

export function run(text: string): YamlAsJson {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { ...options, lineCounter })
  const [error] = document.errors
  if (error !== undefined) throw error
  // What YAML calls nothing is null in JSON.
  const json = JSON.stringify(document.toJS({ maxAliasCount }), jsonValue) ?? 'null'
  return { json, repeatedKeys: [...repeatedKeys(document.contents, lineCounter)] }
}

/** TypeScript's library does not know it yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown }

/** Numbers that JSON does not have are refused in the words of Go's encoder. */
function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return rawJson(String(value))
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  throw new Error(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`)
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
