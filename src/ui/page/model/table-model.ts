// The rows of a list: kept by object, sorted by a column, found by any text of them.
import { compareTexts } from './row-order.ts'
import type { ClusterObject, Column, RowChange, TableRow } from '../source/source.ts'

/** Everything that a search looks at, in lower case; computed when a row is searched for the first time. */
const searchTexts = new WeakMap<TableRow, string>()

/** Which rows are shown, and in which order. */
export interface RowQuery {
  readonly search: string
  /** The name of a column, with `-` before it for the reverse order; empty for the order of names. */
  readonly sort: string
}

export class TableModel {
  columns: readonly Column[] = []
  isLoaded = false
  readonly #rows = new Map<string, TableRow>()
  /** The keys of the rows, sorted. */
  #keys: string[] = []
  #version = 0

  get size(): number {
    return this.#rows.size
  }

  /** Increases with every change. */
  get version(): number {
    return this.#version
  }

  clear(): void {
    this.#version++
    this.#rows.clear()
    this.#keys = []
    this.columns = []
    this.isLoaded = false
  }

  apply(change: RowChange): void {
    this.#version++
    switch (change.kind) {
      case 'replace':
        this.#rows.clear()
        this.columns = change.table.columns
        this.isLoaded = true
        for (const row of change.table.rows) this.#rows.set(rowKey(row.object), row)
        this.#keys = [...this.#rows.keys()].toSorted()
        break
      case 'set':
        this.#set(change.row)
        break
      case 'remove':
        this.#remove(rowKey(change.object))
        break
      default:
        return change satisfies never
    }
  }

  get(namespace: string, name: string): TableRow | undefined {
    return this.at(`${namespace}/${name}`)
  }

  at(key: string): TableRow | undefined {
    return this.#rows.get(key)
  }

  /** All objects, in the order in which they were added. */
  *objects(): Generator<ClusterObject> {
    for (const { object } of this.#rows.values()) yield object
  }

  /** The keys of the rows that contain every word of a search, in their order. */
  keys({ search, sort }: RowQuery): readonly string[] {
    const words = search
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
    const row = (key: string): TableRow => this.#rows.get(key) as TableRow
    const keys =
      words.length === 0
        ? this.#keys
        : this.#keys.filter((key) => words.every((word) => textOf(row(key)).includes(word)))
    if (sort === '') return words.length === 0 ? [...keys] : keys
    const isReverse = sort.startsWith('-')
    const valueOf = this.#sorter(isReverse ? sort.slice(1) : sort)
    // Each value is computed once, not with each comparison.
    const sorted = keys.map((key) => ({ key, value: valueOf(row(key)) }))
    const sign = isReverse ? -1 : 1
    return sorted.toSorted((a, b) => sign * compareTexts(a.value, b.value)).map(({ key }) => key)
  }

  #sorter(column: string): (row: TableRow) => string {
    switch (column) {
      case 'Age':
        // The youngest object has the smallest age.
        return ({ object: { metadata } }) => inverted(metadata.creationTimestamp ?? '')
      case 'Namespace':
        return ({ object: { metadata } }) => metadata.namespace ?? ''
      case 'Owner':
        return ({ object: { metadata } }) => metadata.ownerReferences?.[0]?.name ?? ''
      default: {
        const at = this.columns.findIndex(({ name }) => name === column)
        return ({ cells }) => cellText(cells[at])
      }
    }
  }

  #set(row: TableRow): void {
    const key = rowKey(row.object)
    if (!this.#rows.has(key)) this.#keys.splice(placeIn(this.#keys, key), 0, key)
    this.#rows.set(key, row)
  }

  #remove(key: string): void {
    if (this.#rows.delete(key)) this.#keys.splice(placeIn(this.#keys, key), 1)
  }
}

export const cellText = (cell: unknown): string =>
  cell === null || cell === undefined ? '' : typeof cell === 'string' ? cell : JSON.stringify(cell)

/** Digits become their complement, so that later times come first. */
const inverted = (time: string): string => time.replaceAll(/\d/g, (digit) => String(9 - Number(digit)))

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

export const rowKey = ({ metadata }: Pick<ClusterObject, 'metadata'>): string =>
  `${metadata.namespace ?? ''}/${metadata.name}`

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
