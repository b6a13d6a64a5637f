// What is wrong with a YAML text: errors of its syntax, and fields that do not fit the schema of their kind. The server decides; what
// its schema does not say, such as a name that is too long, is found by the dry run.
import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import type { KnownKinds } from './known-kinds.ts'
import type { FieldType, SchemaNode } from './schema-node.ts'
import {
  keyText,
  pairsOf,
  rangeOf,
  rangeOfItem,
  yamlDocuments,
  type TextRange,
  type YamlDocument,
} from './yaml-documents.ts'

export interface Finding extends TextRange {
  readonly message: string
}

/** Further findings are not shown. */
const findingsMax = 100

export function findingsIn(text: string, kinds: KnownKinds): readonly Finding[] {
  const found: Finding[] = []
  for (const document of yamlDocuments(text)) {
    const { errors, root } = document
    found.push(...errors)
    const schema = kinds.schemaOf(document)
    // The structure is only known where the syntax is right.
    if (schema !== undefined && root !== null && errors.length === 0)
      found.push(...inValue(root, schema, startOf(document)))
    if (found.length >= findingsMax) break
  }
  return found.slice(0, findingsMax).map((finding) => within(finding, text.length))
}

/** What is missing of the whole object is said at its kind. */
export function startOf({ root, range }: YamlDocument): TextRange {
  const pairs = pairsOf(root)
  return rangeOf((pairs.find(({ key }) => keyText(key) === 'kind') ?? pairs[0])?.key) ?? range
}

const within = ({ from, to, message }: Finding, length: number): Finding => {
  const end = Math.min(Math.max(to, from), length)
  return { from: Math.min(from, end), to: end, message }
}

/** `place` is that of the field, which names what is missing in it. */
function* inValue(node: unknown, schema: SchemaNode, place: TextRange): Iterable<Finding> {
  // An alias is what it stands for, which was looked at where it is written.
  if (isAlias(node)) return
  const { types } = schema
  const actual = typeOf(node)
  if (actual === undefined) return
  if (types.size > 0 && !fits(actual, types)) {
    yield {
      ...(isScalar(node) ? (rangeOf(node) ?? place) : place),
      message: `must be ${schema.typeText}, not ${actual}`,
    }
    return
  }
  if (isScalar(node)) yield* inScalar(node.value, schema, rangeOf(node) ?? place)
  if (isSeq(node) && schema.item !== undefined)
    for (const item of node.items) yield* inValue(item, schema.item, rangeOfItem(item) ?? place)
  if (isMap(node)) yield* inObject(node, schema, place)
}

function* inScalar(value: unknown, { values }: SchemaNode, range: TextRange): Iterable<Finding> {
  if (values.length === 0 || values.includes(value)) return
  yield { ...range, message: `must be one of ${values.map(String).join(', ')}` }
}

function* inObject(node: unknown, schema: SchemaNode, place: TextRange): Iterable<Finding> {
  const names = new Set<string>()
  let isMerged = false
  for (const { key, value } of pairsOf(node)) {
    const name = keyText(key)
    if (name === undefined) continue
    if (name === '<<') {
      isMerged = true
      continue
    }
    names.add(name)
    const range = rangeOf(key) ?? place
    const field = schema.field(name)
    if (field !== undefined) yield* inValue(value, field, range)
    else if (!schema.isOpen) yield { ...range, message: `there is no field ${JSON.stringify(name)}` }
  }
  if (isMerged) return
  for (const name of schema.required)
    if (!names.has(name)) yield { ...place, message: `the field ${JSON.stringify(name)} is missing` }
}

/** Undefined for null, which sets no field. */
function typeOf(node: unknown): FieldType | undefined {
  if (isMap(node)) return 'object'
  if (isSeq(node)) return 'array'
  const value = isScalar(node) ? node.value : null
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  if (typeof value === 'boolean') return 'boolean'
  return value === null ? undefined : 'string'
}

const fits = (actual: FieldType, types: ReadonlySet<FieldType>): boolean =>
  types.has(actual) || (actual === 'integer' && types.has('number'))
