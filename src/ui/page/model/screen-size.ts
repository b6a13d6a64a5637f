// The size of a terminal in characters.

interface Extent {
  readonly widthPx: number
  readonly heightPx: number
}

const columnsMin = 20
const rowsMin = 4
/** The scroll bar of the terminal. */
const scrollBarPx = 14

/** The largest screen that fits into an element. */
export function screenSize(element: Extent, cell: Extent): { readonly columns: number; readonly rows: number } {
  const count = (px: number, cellPx: number, least: number): number =>
    cellPx > 0 ? Math.max(least, Math.floor(px / cellPx)) : least
  return {
    columns: count(element.widthPx - scrollBarPx, cell.widthPx, columnsMin),
    rows: count(element.heightPx, cell.heightPx, rowsMin),
  }
}
