// The rows of a list: kept by object, sorted by name, found by any text of them.
import type { ClusterObject, Column, RowChange, TableRow } from '../source/source.ts'

interface IndexedRow extends TableRow {
  readonly key: string
  /** Everything that a search looks at, in lower case. */
  readonly text: string
}

export class TableModel {
  columns: readonly Column[] = []
  isLoaded = false
  readonly #rows = new Map<string, IndexedRow>()
  /** The result of the last search, until the rows or the search change. */
  #found: { readonly search: string; readonly rows: readonly IndexedRow[] } | undefined

  get size(): number {
    return this.#rows.size
  }

  clear(): void {
    this.#rows.clear()
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
        for (const row of change.table.rows) this.#set(row)
        break
      case 'set':
        this.#set(change.row)
        break
      case 'remove':
        this.#rows.delete(keyOf(change.object))
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
    const rows = [...this.#rows.values()]
      .filter(({ text }) => words.every((word) => text.includes(word)))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    this.#found = { search, rows }
    return rows
  }

  #set(row: TableRow): void {
    const key = keyOf(row.object)
    this.#rows.set(key, { ...row, key, text: searchText(row) })
  }
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
