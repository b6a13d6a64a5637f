// Moving the selection of a list and the position of a text.
import { flowContent, textContent } from './content.ts'
import { visibleRows, type Row, type Selection } from './rows.ts'
import { bodyRows, type State } from './state.ts'
import type { FlowView, MapView, TableView, TextView, View } from './views.ts'
import type { Action } from './bindings.ts'

export const selectionOf = (view: TableView): Selection => ({
  ...view,
  ownerUid: view.source.kind === 'list' ? view.source.selector?.ownerUid : undefined,
})

/** The position of the selected row. It follows its object; when that is gone, its position remains. */
export function cursorIndex(view: TableView): number {
  const rows = visibleRows(selectionOf(view))
  const found = rows[view.cursor.index]?.key === view.cursor.key ? view.cursor.index : keyIndex(rows, view.cursor.key)
  return Math.max(0, Math.min(found === -1 ? view.cursor.index : found, rows.length - 1))
}

const keyIndex = (rows: readonly Row[], key: string): number => rows.findIndex((row) => row.key === key)

export const selectedRow = (view: TableView): Row | undefined => visibleRows(selectionOf(view))[cursorIndex(view)]

/** The first line on the screen, so that the selected one is on it. */
export const offsetFor = (offset: number, cursor: number, rows: number, count: number): number =>
  Math.max(0, Math.min(Math.max(Math.min(offset, cursor), cursor - rows + 1), Math.max(0, count - rows)))

type Move = Extract<Action, 'up' | 'down' | 'page-up' | 'page-down' | 'first' | 'last'>

const moves: ReadonlySet<Action> = new Set<Move>(['up', 'down', 'page-up', 'page-down', 'first', 'last'])
export const isMove = (action: Action): action is Move => moves.has(action)

function moved(from: number, move: Move, page: number, last: number): number {
  const to = {
    up: from - 1,
    down: from + 1,
    'page-up': from - page,
    'page-down': from + page,
    first: 0,
    last,
  }[move]
  return Math.max(0, Math.min(to, last))
}

export function moveIn(state: State, view: View, move: Move): View {
  const page = bodyRows(state, view)
  switch (view.kind) {
    case 'table': {
      const rows = visibleRows(selectionOf(view))
      const index = moved(cursorIndex(view), move, page, Math.max(0, rows.length - 1))
      const cursor = { key: rows[index]?.key ?? '', index }
      return { ...view, cursor, offset: offsetFor(view.offset, index, page, rows.length) }
    }
    case 'map': {
      const cursor = moved(view.cursor, move, page, Math.max(0, view.lines.length - 1))
      return { ...view, cursor, offset: offsetFor(view.offset, cursor, page, view.lines.length) }
    }
    case 'text':
    case 'flow': {
      const last = lastOffset(state, view)
      const offset = moved(Math.min(view.isFollowing ? last : view.offset, last), move, page, last)
      return { ...view, offset, isFollowing: isLive(view) && offset === last && (move === 'last' || view.isFollowing) }
    }
    default:
      return view satisfies never
  }
}

/** Whether lines are added at the end. */
export const isLive = (view: TextView | FlowView): boolean => view.kind === 'flow' || view.source.kind === 'logs'

export function lastOffset(state: State, view: TextView | FlowView): number {
  const count = (view.kind === 'text' ? textContent(view, state.width) : flowContent(view, state.width)).length
  return Math.max(0, count - bodyRows(state, view))
}

/** Where the text begins on the screen. */
export const textOffset = (state: State, view: TextView | FlowView): number => {
  const last = lastOffset(state, view)
  return view.isFollowing ? last : Math.min(view.offset, last)
}

/** Keeps the selection of a changed list on the screen. */
export function settled<T extends TableView | MapView>(state: State, view: T): T {
  const rows = bodyRows(state, view)
  if (view.kind === 'map') {
    const cursor = Math.max(0, Math.min(view.cursor, view.lines.length - 1))
    return { ...view, cursor, offset: offsetFor(view.offset, cursor, rows, view.lines.length) }
  }
  const visible = visibleRows(selectionOf(view))
  const index = cursorIndex(view)
  const cursor = { key: visible[index]?.key ?? view.cursor.key, index }
  return { ...view, cursor, offset: offsetFor(view.offset, index, rows, visible.length) }
}
