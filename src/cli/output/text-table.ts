// textTable: rows of cells as aligned columns, the first row with their names.

const gap = '   '

export function textTable(rows: readonly (readonly string[])[]): string {
  const columns = rows[0]?.keys() ?? []
  const widths = Array.from(columns, (column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(gap)
      .trimEnd()
  return rows.map((row) => `${line(row)}\n`).join('')
}
