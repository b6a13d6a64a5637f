// How wide the columns of a table are: as their contents, if all fit; otherwise the widest columns are cut.

/** A column is not made narrower than this, unless its contents are. */
const columnsMin = 6

/** The widths of columns within `room`, which includes the gaps between them. */
export function columnWidths(natural: readonly number[], room: number, gap: number): number[] {
  const widths = [...natural]
  let surplus = widths.reduce((sum, width) => sum + width, 0) + gap * (widths.length - 1) - room
  while (surplus > 0) {
    const widest = Math.max(...widths)
    if (widest <= columnsMin) break
    // All columns of the greatest width are cut to the next smaller width at once.
    const next = Math.max(columnsMin, ...widths.filter((width) => width < widest))
    const at = widths.flatMap((width, index) => (width === widest ? [index] : []))
    const cut = Math.min(widest - next, Math.ceil(surplus / at.length))
    for (const index of at) {
      const part = Math.min(cut, surplus)
      widths[index] = widest - part
      surplus -= part
    }
  }
  return widths
}
