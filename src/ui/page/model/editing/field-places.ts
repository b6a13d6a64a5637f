// Where a field is, which the server names in an error: `spec.containers[0].image` in a validation error, and
// `.spec.containers[name="web"].image` in a conflict. Keys may contain dots, so the name is compared with the keys that there are.
import { isMap, isScalar, isSeq, type Pair } from 'yaml'
import { startOf, type Finding } from './findings.ts'
import {
  keyText,
  pairsOf,
  rangeOf,
  rangeOfItem,
  yamlDocuments,
  type TextRange,
  type YamlDocument,
} from './yaml-documents.ts'

/** A field that the server has named in an error. */
export interface FieldError {
  readonly field: string
  readonly message: string
  /** The document that was rejected, by its number in the text. */
  readonly document: number
}

/** The places of errors, in the order of the text. A field of which there is nothing is missing at the start of its document. */
export function errorPlaces(text: string, errors: readonly FieldError[]): readonly Finding[] {
  if (errors.length === 0) return []
  const documents = yamlDocuments(text)
  return errors
    .flatMap(({ field, message, document: at }) => {
      const document = documents[at]
      if (document === undefined) return []
      return { ...(placeOfField(document, field) ?? startOf(document)), message: `${field}: ${message}` }
    })
    .toSorted((a, b) => a.from - b.from)
}

/** The name of the field, or of the innermost one in which it would be; undefined if there is nothing of it. */
export function placeOfField({ root }: YamlDocument, field: string): TextRange | undefined {
  return placeIn(root, field.replace(/^\./, ''), undefined)
}

function placeIn(node: unknown, rest: string, place: TextRange | undefined): TextRange | undefined {
  if (rest === '') return place
  if (isMap(node)) {
    for (const { key, value } of longestFirst(node)) {
      const name = keyText(key)
      const after = name === undefined ? undefined : afterKey(rest, name)
      const found = after === undefined ? undefined : placeIn(value, after, rangeOf(key))
      if (found !== undefined) return found
    }
    return place
  }
  const step = /^\[(?<index>\d+)\]/.exec(rest) ?? undefined
  if (!isSeq(node)) return place
  const [item, after] =
    step === undefined
      ? itemWithKeys(node.items, rest)
      : [node.items[Number(step.groups?.['index'])], rest.slice(step[0].length)]
  if (item === undefined) return place
  return placeIn(item, after.replace(/^\./, ''), rangeOfItem(item) ?? place)
}

/** Of two keys that fit, as `app` and `app.kubernetes.io/name`, the longer one is meant. */
const longestFirst = (node: unknown): readonly Pair[] =>
  pairsOf(node).toSorted((a, b) => (keyText(b.key)?.length ?? 0) - (keyText(a.key)?.length ?? 0))

/** What follows a key; undefined if the text does not begin with it. */
function afterKey(rest: string, name: string): string | undefined {
  if (rest.startsWith(`[${name}]`)) return rest.slice(name.length + 2).replace(/^\./, '')
  if (!rest.startsWith(name)) return undefined
  const after = rest.slice(name.length)
  if (after.startsWith('.')) return after.slice(1)
  return after === '' || after.startsWith('[') ? after : undefined
}

/** An item that is named by its keys, or by its value: `[name="web",port=80]`, `[="finalizer"]`. */
function itemWithKeys(items: readonly unknown[], rest: string): readonly [unknown, string] {
  for (const item of items) {
    const after = afterKeys(item, rest)
    if (after !== undefined) return [item, after]
  }
  return [undefined, rest]
}

function afterKeys(item: unknown, rest: string): string | undefined {
  if (isScalar(item)) {
    const text = `[=${JSON.stringify(item.value)}]`
    return rest.startsWith(text) ? rest.slice(text.length) : undefined
  }
  if (!isMap(item) || !rest.startsWith('[')) return undefined
  let left = rest.slice(1)
  const texts = pairsOf(item).flatMap(({ key, value }) =>
    isScalar(value) ? `${keyText(key) ?? ''}=${JSON.stringify(value.value)}` : [],
  )
  while (left !== '' && !left.startsWith(']')) {
    const text = texts.find((each) => left.startsWith(each) && /^[,\]]/.test(left.slice(each.length)))
    // A key that is not written has its default: protocol="TCP".
    const other = text ?? /^\w+=(?:"[^"\\]*"|[\w.-]+)(?=[,\]])/.exec(left)?.[0]
    if (other === undefined || (text === undefined && hasKey(item, other))) return undefined
    left = left.slice(other.length).replace(/^,/, '')
  }
  return left.slice(1)
}

const hasKey = (item: unknown, text: string): boolean =>
  pairsOf(item).some(({ key }) => keyText(key) === text.slice(0, text.indexOf('=')))
