// A list: column names, and the rows on the screen. Ages are computed from the time of creation, so they advance.
import { ageText } from '../../../api/columns/age.ts'
import { padded, widthOf } from '../screen/cells.ts'
import type { Frame } from '../screen/frame.ts'
import type { Style } from '../screen/styles.ts'
import { hasNamespaceColumn, shownColumns, visibleRows, type Row } from '../state/rows.ts'
import { cursorIndex, offsetFor, selectionOf } from '../state/scroll.ts'
import type { TableView } from '../state/views.ts'
import { columnWidths } from './column-widths.ts'
import { rowStyle } from './row-style.ts'

const gap = 2

export function drawTable(frame: Frame, top: number, height: number, view: TableView, nowMs: number): void {
  const rows = visibleRows(selectionOf(view))
  const cursor = cursorIndex(view)
  const offset = offsetFor(view.offset, cursor, height, rows.length)
  const onScreen = rows.slice(offset, offset + height)
  const all = shownTexts(view, nowMs)
  const natural = all.map(({ name, cell }) => Math.max(widthOf(name), ...onScreen.map((row) => widthOf(cell(row)))))
  const widths = fittingWidths(natural, namePosition(all), frame.width - 2)
  const columns = all.slice(0, widths.length)
  const line = (texts: readonly string[]): string =>
    texts.map((text, index) => padded(text, widths[index] ?? 0)).join(' '.repeat(gap))
  if (columns.length < all.length) frame.put(frame.width - 1, top, '›', 'bold')
  frame.put(1, top, line(columns.map(({ name }) => name)), 'bold')
  for (const [index, row] of onScreen.entries()) {
    const y = top + 1 + index
    const style: Style = rowStyle(view.columns, row)
    frame.put(1, y, line(columns.map(({ cell }) => cell(row))), style)
    if (offset + index === cursor) frame.restyle(0, y, frame.width, 'selected')
  }
  if (rows.length === 0 && view.status.kind === 'live') frame.put(1, top + 1, emptyText(view), 'dim')
}

/** A name that is cut to less is not recognised. */
const nameColumnsMin = 24

/**
 * The widths of the columns that are shown. Names have enough room: other columns are cut for them, and then left out
 * from the end. The right arrow shows those.
 */
function fittingWidths(natural: readonly number[], name: number, room: number): readonly number[] {
  const wanted = Math.min(natural[name] ?? 0, nameColumnsMin, Math.floor(room / 2))
  for (let count = natural.length; ; count--) {
    const columns = natural.slice(0, count)
    const widths = columnWidths(columns, room, gap)
    if ((widths[name] ?? 0) >= wanted || count <= name + 1) return widths
    const left = room - wanted - gap
    const others = columnWidths(columns.toSpliced(name, 1), left, gap)
    if (totalOf(others) <= left) return others.toSpliced(name, 0, wanted)
  }
}

const totalOf = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, gap * (widths.length - 1))

const namePosition = (columns: readonly ShownColumn[]): number =>
  Math.max(
    0,
    columns.findIndex(({ name }) => /^NAME[↑↓]?$/.test(name)),
  )

function emptyText({ source, filter, rows }: TableView): string {
  if (rows.size > 0) return `none of ${rows.size} rows matches ${filter}`
  if (source.kind === 'containers') return 'the pod does not exist any more'
  if (source.kind === 'forwards') return 'no port is forwarded; F on a pod, a workload or a Service forwards one'
  if (source.kind !== 'list') return 'the kubeconfig has no contexts'
  const { resource, namespace } = source
  return `there are no ${resource.plural}${resource.namespaced && namespace !== '' ? ` in ${namespace}; 0 shows all namespaces` : ''}`
}

interface ShownColumn {
  readonly name: string
  cell(row: Row): string
}

function shownTexts(view: TableView, nowMs: number): ShownColumn[] {
  const { source, columns, isWide, sort, left } = view
  const sorted = (name: string): string =>
    sort?.column.toLowerCase() === name.toLowerCase() ? (sort.isDescending ? '↓' : '↑') : ''
  const headed = (name: string): string => `${name.toUpperCase()}${sorted(name)}`
  const shown = shownColumns(columns, isWide, sort?.column).map((index): ShownColumn => {
    const name = columns[index]?.name ?? ''
    const cell = (row: Row): string =>
      name === 'Age' && row.createdAt !== undefined ? ageText(row.createdAt, nowMs) : (row.cells[index] ?? '')
    return { name: headed(name), cell }
  })
  const hasNamespace = source.kind === 'list' && hasNamespaceColumn(source.resource, source.namespace)
  const all = hasNamespace ? [{ name: headed('Namespace'), cell: ({ namespace }: Row) => namespace }, ...shown] : shown
  // The name stays where it is; the columns after it are moved.
  const moved = namePosition(all) + 1
  return [...all.slice(0, moved), ...all.slice(moved + left)]
}
