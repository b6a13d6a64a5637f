// Whether the text of a cell is good or bad news: the state of a pod, the number of its ready containers, the phase of a claim.

export type CellState = 'failing' | 'waiting' | 'ended' | 'good' | 'plain'

const failing = /error|fail|backoff|err[A-Z]|evicted|unknown|notready|lost|oomkilled|deadline|invalid|false/i
const waiting = /pending|creating|terminating|init:|notready|schedulingdisabled|released|suspended|progressing/i
const ended = /^(completed|complete|succeeded)$/i
const good = /^(active|available|bound|ready|running|true)$/i
/** Columns whose texts are states. */
const stateColumns: ReadonlySet<string> = new Set(['Available', 'Established', 'Phase', 'State', 'Status'])

export function cellState(column: string, text: string): CellState {
  if (column === 'Ready' || column === 'Completions') return countState(column, text)
  if (column === 'Type') return text === 'Warning' ? 'failing' : 'plain'
  if (!stateColumns.has(column)) return 'plain'
  if (ended.test(text)) return 'ended'
  if (failing.test(text)) return 'failing'
  if (waiting.test(text)) return 'waiting'
  return good.test(text) ? 'good' : 'plain'
}

/** `2/3`. A pod that has completed has no ready containers, so its state decides about the row. */
function countState(column: string, text: string): CellState {
  const [have, all] = text.split('/', 2)
  if (all === undefined || !/^\d+$/.test(all)) return /^(true|false)$/i.test(text) ? cellState('Status', text) : 'plain'
  if (Number(have) < Number(all)) return 'waiting'
  return Number(all) === 0 ? 'plain' : column === 'Completions' ? 'ended' : 'good'
}
