// The colour of a row: red for what has failed, yellow for what is not ready yet, dim for what has ended.
import type { Style } from '../screen/styles.ts'
import type { Column, Row } from '../state/rows.ts'

const failure = /error|fail|backoff|err[A-Z]|evicted|unknown|notready|lost|oomkilled|deadline|invalid|false/i
const waiting = /pending|creating|terminating|init:|notready|schedulingdisabled|released|suspended|progressing/i
const ended = /^(completed|complete|succeeded)$/i

export function rowStyle(columns: readonly Column[], row: Row): Style {
  const cellOf = (name: string): string => row.cells[columns.findIndex((column) => column.name === name)] ?? ''
  const status = cellOf('Status') || cellOf('Phase') || cellOf('State')
  if (row.isDeleting) return 'dim'
  if (ended.test(status)) return 'dim'
  if (failure.test(status) || cellOf('Type') === 'Warning') return 'failure'
  const [ready, all] = cellOf('Ready').split('/', 2)
  const isUnready = all !== undefined && Number(ready) < Number(all)
  return waiting.test(status) || isUnready ? 'warning' : 'plain'
}
