// The styles of cells, and their codes for the terminal. Without colours, selection and emphasis remain.

export const styles = [
  'plain',
  'dim',
  'bold',
  'title',
  'key',
  'selected',
  'failure',
  'warning',
  'success',
  'call',
  'watch',
  'persist',
  'reconcile',
  'step',
] as const
export type Style = (typeof styles)[number]

/** Parameters of SGR, with colours. The colours of messages are those of `coxswain flow`. */
const colored: Readonly<Record<Style, string>> = {
  plain: '0',
  dim: '0;2',
  bold: '0;1',
  title: '0;1;36',
  key: '0;1;34',
  selected: '0;30;46',
  failure: '0;31',
  warning: '0;33',
  success: '0;32',
  call: '0;36',
  watch: '0;32',
  persist: '0;33',
  reconcile: '0;35',
  step: '0;34',
}

const colorless: Partial<Record<Style, string>> = {
  dim: '0;2',
  bold: '0;1',
  title: '0;1',
  key: '0;1',
  selected: '0;7',
  failure: '0;1',
}

export const styleCode = (style: Style, hasColors: boolean): string =>
  `\x1b[${hasColors ? colored[style] : (colorless[style] ?? '0')}m`
