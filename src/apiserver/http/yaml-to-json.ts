// YAML as JSON: the value as kubectl parses it, and the repeated keys. Few clients send YAML, so this file and the
// parser are loaded on first use. It also runs in a worker thread (yaml-parser.ts).
import { yamlSyntaxError } from './yaml-syntax-error.ts'
import { checkTokens } from './yaml-token-limit.ts'
import {
  isMap,
  isNode,
  isScalar,
  isSeq,
  visit,
  Lexer,
  LineCounter,
  parseDocument,
  type DocumentOptions,
  type ParseOptions,
  type Scalar,
  type SchemaOptions,
} from 'yaml'

export interface YamlAsJson {
  readonly json: string
  /** With the messages of Go's parser: `line 12: key "name" already set in map`. */
  readonly repeatedKeys: readonly string[]
}

// YAML 1.1 without timestamps. Repeated keys are reported separately from syntax errors.
const options: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  customTags: (tags) => tags.filter((tag) => typeof tag !== 'object' || tag.tag !== 'tag:yaml.org,2002:timestamp'),
  uniqueKeys: false,
  intAsBigInt: true, // 64-bit integers keep all digits
}

/** The expansion of aliases is bounded. */
const maxAliasCount = 100

export function run(text: string): YamlAsJson {
  checkTokens(text, (source) => new Lexer().lex(source))
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { ...options, lineCounter })
  // As Go's parser, which reads the first document of several.
  const error = document.errors.find(({ code }) => code !== 'MULTIPLE_DOCS')
  if (error !== undefined) throw new Error(yamlSyntaxError(error, text, lineCounter))
  if (mayExceedDouble.test(text)) visit(document, { Scalar: (_, node) => textIfOutOfRange(node) })
  // An empty document is null in JSON.
  const json = JSON.stringify(document.toJS({ maxAliasCount }), jsonValue) ?? 'null'
  return { json, repeatedKeys: [...repeatedKeys(document.contents, lineCounter)] }
}

const mayExceedDouble = /\d{309}|[eE]\+?\d{3}/

/** As Go's parser: a number beyond the range of a double, such as 1e400, is a text. */
function textIfOutOfRange(node: Scalar): void {
  const { value, source } = node
  if (typeof value === 'number' && Math.abs(value) === Infinity && source !== undefined && /\d/.test(source))
    node.value = source
}

/** Missing in TypeScript's library. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown }

/** Numbers that JSON does not support are rejected with the message of Go's encoder. */
function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return rawJson(String(value))
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  throw new Error(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`)
}

/** In the order of Go's parser: repeated keys inside a value come before the value's own key. */
function* repeatedKeys(node: unknown, lines: LineCounter): Iterable<string> {
  if (isSeq(node)) for (const item of node.items) yield* repeatedKeys(item, lines)
  if (!isMap(node)) return
  const seen = new Set<unknown>()
  for (const { key, value } of node.items) {
    yield* repeatedKeys(value, lines)
    if (!isScalar(key) || key.value === '<<') continue
    // The reported line is the one on which the value begins.
    const place = (isNode(value) ? value.range : undefined) ?? key.range
    if (seen.has(key.value))
      yield `line ${lines.linePos(place?.[0] ?? 0).line}: key ${JSON.stringify(key.value)} already set in map`
    seen.add(key.value)
  }
}
