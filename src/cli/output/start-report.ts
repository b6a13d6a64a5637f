// What `coxswain up` prints when the API is served, in the foreground and with --detach.

const ready = 'ready in '
const ends = 'Ctrl-C ends it'
const inForeground = 'Next, in another terminal:'

export interface StartReport {
  readonly tookMs: number
  readonly url: string
  /** Label and text; a text may have several lines. */
  readonly facts: readonly (readonly [label: string, text: string])[]
  readonly nextSteps: readonly string[]
  /** How the containers are ended that a stop leaves running; undefined when it leaves none. */
  readonly endContainers: string | undefined
}

export function startReportText({ tookMs, url, facts, nextSteps, endContainers }: StartReport): string {
  const rows = facts.map(([label, text]) => `  ${label.padEnd(labelWidth)}${indented(text)}`)
  const end = `${ends}${endContainers === undefined ? '.' : `; containers keep running until: ${endContainers}`}`
  return `${ready}${Math.round(tookMs)} ms at ${url}

${rows.join('\n')}

  ${inForeground}
    ${nextSteps.join('\n    ')}

  ${end}
`
}

const labelWidth = 12

const indented = (text: string): string => text.replaceAll('\n', `\n${' '.repeat(labelWidth + 2)}`)

/** The report in the output of a process in the background; undefined while it is not complete. */
export function detachedReport(output: string): string | undefined {
  const start = `\n${output}`.indexOf(`\n${ready}`)
  const end = output.indexOf(`\n  ${ends}`, start)
  return start < 0 || end < 0 ? undefined : output.slice(start, end).replace(inForeground, 'Next:').trimEnd()
}

/** What was printed after the report, such as which node runs; without lines of the log. */
export function printedLater(output: string): string {
  const end = output.lastIndexOf(`\n  ${ends}`)
  const [, ...lines] = end < 0 ? [] : output.slice(end + 1).split('\n')
  return lines.filter((line) => line.startsWith('  ')).join('\n')
}

export const containersOf = (pods: number): string => `The containers of ${pods} ${pods === 1 ? 'pod' : 'pods'}`
