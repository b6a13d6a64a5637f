// Terminal colors of diagrams: one for each type of arrow, red for failures, dim for lifelines and times.
import type { Arrow, FlowEvent } from '../base/observability/flow-recorder.ts'

export type Color = Arrow | 'dim' | 'failure' | 'bold'

const codes: Readonly<Record<Color, string>> = {
  call: '36',
  watch: '32',
  persist: '33',
  reconcile: '35',
  step: '34',
  dim: '2',
  failure: '31',
  bold: '1',
}

export type Colorize = (ink: Color | undefined, text: string) => string

export const plainText: Colorize = (_ink, text) => text

const terminalColors: Colorize = (ink, text) =>
  ink === undefined || text === '' ? text : `\x1b[${codes[ink]}m${text}\x1b[0m`

export const colorizerFor = (colors = false): Colorize => (colors ? terminalColors : plainText)

/** What the scheduler records when a pod fits on no node. */
const unschedulable = /\b0\/\d+ nodes are available\b.*/

/** Why a pod could not be scheduled; undefined for other events. */
export const unschedulableReason = ({ arrow, what }: Pick<FlowEvent, 'arrow' | 'what'>): string | undefined =>
  arrow === 'reconcile' || arrow === 'step' ? unschedulable.exec(what)?.[0] : undefined

/** Whether a call was rejected or failed, by its outcome, or a pod could not be scheduled. Runtimes report errors in words. */
export function hasFailed(event: Pick<FlowEvent, 'arrow' | 'to' | 'what' | 'outcome'>): boolean {
  const { arrow, to, outcome = '' } = event
  return (
    /^[45]\d\d\b|\b(error|failed|failure|refused|denied)\b/i.test(outcome) ||
    (arrow === 'call' && to === 'Runtime' && outcome !== '' && outcome !== 'ok') ||
    unschedulableReason(event) !== undefined
  )
}

/** Truncates a text to a number of columns, with an ellipsis. */
export const truncate = (text: string, columns: number): string =>
  text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`
