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

/** Whether a call was rejected or failed, by its outcome. Runtimes report errors in words. */
export const hasFailed = ({ arrow, to, outcome = '' }: Pick<FlowEvent, 'arrow' | 'to' | 'outcome'>): boolean =>
  /^[45]\d\d\b|\b(error|failed|failure|refused|denied)\b/i.test(outcome) ||
  (arrow === 'call' && to === 'Runtime' && outcome !== '' && outcome !== 'ok')

/** Truncates a text to a number of columns, with an ellipsis. */
export const truncate = (text: string, columns: number): string =>
  text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`
