// The colour of a row: red for what has failed, yellow for what is not ready yet, dim for what has ended.
import { cellState } from '../../page/model/cell-states.ts'
import type { Style } from '../screen/styles.ts'
import type { Column, Row } from '../state/rows.ts'

export function rowStyle(columns: readonly Column[], row: Row): Style {
  const cellOf = (name: string): string => row.cells[columns.findIndex((column) => column.name === name)] ?? ''
  const state = cellState('Status', cellOf('Status') || cellOf('Phase') || cellOf('State'))
  if (row.isDeleting || state === 'ended') return 'dim'
  if (state === 'failing' || cellState('Type', cellOf('Type')) === 'failing') return 'failure'
  const [ready, all] = cellOf('Ready').split('/', 2)
  const isUnready = all !== undefined && Number(ready) < Number(all)
  return state === 'waiting' || isUnready ? 'warning' : 'plain'
}
