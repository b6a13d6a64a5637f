// The rows of a list, and which of them are shown in which order. The order and the filter are computed again only when
// something of them has changed: a list may have thousands of rows.
import { compareTexts } from '../../page/model/row-order.ts'
import type { Resource } from './resources.ts'

export interface Column {
  readonly name: string
  /** Columns above 0 are shown in the wide form only. */
  readonly priority: number
}

export interface Row {
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly cells: readonly string[]
  readonly createdAt: string | undefined
  readonly isDeleting: boolean
  readonly labels: Readonly<Record<string, string>>
  /** The uids of its owners. */
  readonly owners: readonly string[]
}

export type RowChange =
  | { readonly kind: 'replace'; readonly columns: readonly Column[]; readonly rows: readonly Row[] }
  | { readonly kind: 'change'; readonly set: readonly Row[]; readonly removed: readonly string[] }

export interface Sort {
  readonly column: string
  readonly isDescending: boolean
}

/** What decides which rows are shown. */
export interface Selection {
  readonly columns: readonly Column[]
  readonly rows: ReadonlyMap<string, Row>
  readonly filter: string
  readonly sort: Sort | undefined
  /** Rows without this owner are left out. */
  readonly ownerUid: string | undefined
}

export function changedRows(rows: ReadonlyMap<string, Row>, change: RowChange): ReadonlyMap<string, Row> {
  if (change.kind === 'replace') return new Map(change.rows.map((row) => [row.key, row]))
  const next = new Map(rows)
  for (const row of change.set) next.set(row.key, row)
  for (const key of change.removed) next.delete(key)
  return next
}

const shown = new WeakMap<ReadonlyMap<string, Row>, { selection: Selection; rows: readonly Row[] }>()

export function visibleRows(selection: Selection): readonly Row[] {
  const known = shown.get(selection.rows)
  if (known !== undefined && isSameSelection(known.selection, selection)) return known.rows
  const { ownerUid } = selection
  const matches = filterOf(selection.filter)
  const rows = [...selection.rows.values()].filter(
    (row) => (ownerUid === undefined || row.owners.includes(ownerUid)) && matches(row),
  )
  const sorted = rows.toSorted(orderOf(selection))
  shown.set(selection.rows, { selection, rows: sorted })
  return sorted
}

const isSameSelection = (a: Selection, b: Selection): boolean =>
  a.filter === b.filter &&
  a.sort?.column === b.sort?.column &&
  a.sort?.isDescending === b.sort?.isDescending &&
  a.ownerUid === b.ownerUid &&
  a.columns === b.columns

/**
 * `web` finds rows with that text, `web|api` with one of the texts, `!web` those without, `-l app=web` those with the
 * label.
 */
function filterOf(filter: string): (row: Row) => boolean {
  const text = filter.trim()
  if (text.startsWith('-l')) {
    const [name = '', value] = text.slice(2).trim().split('=', 2)
    return ({ labels }) => Object.entries(labels).some(([key, each]) => key === name && (value ?? each) === each)
  }
  const isInverse = text.startsWith('!')
  const texts = (isInverse ? text.slice(1) : text).toLowerCase().split('|')
  return ({ namespace, cells }) => {
    const all = `${namespace} ${cells.join(' ')}`.toLowerCase()
    return texts.some((each) => all.includes(each)) !== isInverse || text === '!'
  }
}

function orderOf({ sort, columns }: Selection): (a: Row, b: Row) => number {
  const byKey = (a: Row, b: Row): number => (a.key < b.key ? -1 : 1)
  if (sort === undefined) return byKey
  const sign = sort.isDescending ? -1 : 1
  const index = columns.findIndex(({ name }) => isColumn(name, sort.column))
  const valueOf = (row: Row): string => {
    if (isColumn(sort.column, 'Namespace')) return row.namespace
    return row.cells[index] ?? ''
  }
  const compare = (a: Row, b: Row): number =>
    // The youngest is the first, as with other numbers that grow.
    isColumn(sort.column, 'Age')
      ? compareTexts(b.createdAt ?? '', a.createdAt ?? '')
      : compareTexts(valueOf(a), valueOf(b))
  return (a, b) => sign * compare(a, b) || byKey(a, b)
}

const isColumn = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

export const rowKey = (namespace: string, name: string): string => `${namespace}/${name}`

/** The columns that are shown: those of the wide form where it is chosen, and the one that decides the order. */
export const shownColumns = (columns: readonly Column[], isWide: boolean, sorted = ''): readonly number[] =>
  columns.flatMap(({ name, priority }, index) => (priority === 0 || isWide || isColumn(name, sorted) ? [index] : []))

export const hasNamespaceColumn = (resource: Resource, namespace: string): boolean =>
  resource.namespaced && namespace === ''
