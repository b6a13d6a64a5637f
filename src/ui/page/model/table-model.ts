// The rows of a list: kept by object, sorted by name, found by any text of them.
import type { ClusterObject, Column, RowChange, TableRow } from '../source/source.ts'

/** Everything that a search looks at, in lower case; computed when a row is searched for the first time. */
const searchTexts = new WeakMap<TableRow, string>()

export class TableModel {
  columns: readonly Column[] = []
  isLoaded = false
  readonly #rows = new Map<string, TableRow>()
  /** The keys of the rows, sorted. */
  #keys: string[] = []
  /** The result of the last search, until the rows or the search change. */
  #found: { readonly search: string; readonly rows: readonly TableRow[] } | undefined

  get size(): number {
    return this.#rows.size
  }

  clear(): void {
    this.#rows.clear()
    this.#keys = []
    this.columns = []
    this.isLoaded = false
    this.#found = undefined
  }

  apply(change: RowChange): void {
    switch (change.kind) {
      case 'replace':
        this.#rows.clear()
        this.columns = change.table.columns
        this.isLoaded = true
        for (const row of change.table.rows) this.#rows.set(keyOf(row.object), row)
        this.#keys = [...this.#rows.keys()].toSorted()
        break
      case 'set':
        this.#set(change.row)
        break
      case 'remove':
        this.#remove(keyOf(change.object))
        break
      default:
        return change satisfies never
    }
    this.#found = undefined
  }

  get(namespace: string, name: string): TableRow | undefined {
    return this.#rows.get(`${namespace}/${name}`)
  }

  /** All objects, in the order in which they were added. */
  *objects(): Generator<ClusterObject> {
    for (const { object } of this.#rows.values()) yield object
  }

  /** The rows that contain every word of a search. */
  search(search: string): readonly TableRow[] {
    if (this.#found?.search === search) return this.#found.rows
    const words = search
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
    const rows = this.#keys
      .map((key) => this.#rows.get(key) as TableRow)
      .filter((row) => words.every((word) => textOf(row).includes(word)))
    this.#found = { search, rows }
    return rows
  }

  #set(row: TableRow): void {
    const key = keyOf(row.object)
    if (!this.#rows.has(key)) this.#keys.splice(placeIn(this.#keys, key), 0, key)
    this.#rows.set(key, row)
  }

  #remove(key: string): void {
    if (this.#rows.delete(key)) this.#keys.splice(placeIn(this.#keys, key), 1)
  }
}

function textOf(row: TableRow): string {
  const text = searchTexts.get(row) ?? searchText(row)
  searchTexts.set(row, text)
  return text
}

/** The position of a key, or the one at which it would be inserted. */
function placeIn(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((keys[middle] as string) < key) low = middle + 1
    else high = middle
  }
  return low
}

const keyOf = ({ metadata }: ClusterObject): string => `${metadata.namespace ?? ''}/${metadata.name}`

/** Cells, namespace, labels, annotations, images, and reasons of conditions. */
function searchText({ cells, object }: TableRow): string {
  const { namespace = '', labels = {}, annotations = {}, ownerReferences = [] } = object.metadata
  const pairs = [...Object.entries(labels), ...Object.entries(annotations)].map(([name, value]) => `${name}=${value}`)
  const owners = ownerReferences.map(({ kind, name }) => `${kind}/${name}`)
  const texts = [
    ...cells.map(String),
    namespace,
    ...pairs,
    ...owners,
    ...textsOf(object.spec, 'image'),
    ...textsOf(object.status, 'reason'),
  ]
  return texts.join('\n').toLowerCase()
}

/** The values of a field at any depth. */
function textsOf(value: unknown, field: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) =>
    name === field && typeof each === 'string' ? [each] : textsOf(each, field),
  )
}
