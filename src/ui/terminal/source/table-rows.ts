// The rows of the server's tables, which have the columns of kubectl. A server that makes no tables sends objects; they
// have a name and an age.
import { rowKey, type Column, type Row, type RowChange } from '../state/rows.ts'
import type { ListPage, WatchEvent } from './follow-list.ts'

/** Objects come with their metadata only. */
export const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'

interface Metadata {
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly creationTimestamp?: string | null
  readonly deletionTimestamp?: string | null
  readonly labels?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly { readonly uid: string }[]
}

export interface WireTable extends ListPage {
  readonly kind?: string
  readonly columnDefinitions?: readonly { readonly name: string; readonly priority?: number }[] | null
  readonly rows?:
    | readonly { readonly cells: readonly unknown[]; readonly object?: { readonly metadata?: Metadata } }[]
    | null
  /** Of a list that is not a table. */
  readonly items?: readonly { readonly metadata?: Metadata }[]
}

const plainColumns: readonly Column[] = [
  { name: 'Name', priority: 0 },
  { name: 'Age', priority: 0 },
]

export function replacement(pages: readonly WireTable[]): RowChange {
  const [first] = pages
  const defined = first?.columnDefinitions?.map(({ name, priority = 0 }): Column => ({ name, priority }))
  return { kind: 'replace', columns: defined ?? plainColumns, rows: pages.flatMap(rowsOf) }
}

export function rowChange(events: readonly WatchEvent[]): RowChange {
  const set = new Map<string, Row>()
  const removed = new Set<string>()
  for (const { type, object } of events)
    for (const row of rowsOf(object as WireTable)) {
      set.delete(row.key)
      removed.delete(row.key)
      if (type === 'DELETED') removed.add(row.key)
      else set.set(row.key, row)
    }
  return { kind: 'change', set: [...set.values()], removed: [...removed] }
}

function rowsOf(table: WireTable): Row[] {
  if (table.kind === 'Table')
    return (table.rows ?? []).map(({ cells, object }) => rowOf(cells.map(cellText), object?.metadata ?? {}))
  const objects = table.items ?? [table as { readonly metadata?: Metadata }]
  return objects.map(({ metadata = {} }) => rowOf([metadata.name ?? '', ''], metadata))
}

const cellText = (cell: unknown): string =>
  cell === null || cell === undefined ? '' : typeof cell === 'string' ? cell : JSON.stringify(cell)

function rowOf(cells: readonly string[], metadata: Metadata): Row {
  const { namespace = '', name = cells[0] ?? '', uid = '', labels = {}, ownerReferences = [] } = metadata
  return {
    key: rowKey(namespace, name),
    namespace,
    name,
    uid,
    cells,
    labels,
    createdAt: metadata.creationTimestamp ?? undefined,
    isDeleting: Boolean(metadata.deletionTimestamp),
    owners: ownerReferences.map((owner) => owner.uid),
  }
}

/** Cells with a duration since now become wrong, except for the age, which is computed again. */
const durations = /^(Last Seen|First Seen|Duration|Last Schedule)$/
const durationSeconds = 15

export const listEverySeconds = (pages: readonly WireTable[]): number | undefined =>
  pages[0]?.columnDefinitions?.some(({ name }) => durations.test(name)) ? durationSeconds : undefined
