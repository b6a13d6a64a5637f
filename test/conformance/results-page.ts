// The results as a table by SIG, and the list of specs that did not pass.
import { firstLine, outcomeStates, type Outcome, type OutcomeState } from './spec-report.ts'

export interface Incident {
  readonly time: string
  readonly what: string
}

export interface Recorded {
  readonly specs: Readonly<Record<string, Outcome>>
  /** Seconds of all batches. */
  readonly seconds: number
  /** When the cluster under test stopped or did not respond. */
  readonly incidents: readonly Incident[]
}

type Counts = Readonly<Record<OutcomeState | 'all', number>>

const cellCharactersMax = 300

/** The counts of each SIG in alphabetical order, and those of all specs at the end. */
export function countsBySig(specs: Recorded['specs']): ReadonlyMap<string, Counts> {
  const entries = Object.entries(specs).map(([name, { state }]) => ({ sig: sigOf(name), state }))
  const sigs = [...new Set(entries.map(({ sig }) => sig))].toSorted()
  const count = (those: readonly { readonly state: OutcomeState }[]): Counts => {
    const of = (state: OutcomeState) => those.filter((entry) => entry.state === state).length
    const passed = of('passed')
    const failed = of('failed')
    const hollow = of('hollow')
    return { passed, failed, hollow, skipped: of('skipped'), interrupted: of('interrupted'), all: those.length }
  }
  return new Map([
    ...sigs.map((sig) => [sig, count(entries.filter((entry) => entry.sig === sig))] as const),
    ['all', count(entries)] as const,
  ])
}

export const sigOf = (name: string): string => /\[(sig-[a-z-]+)\]/.exec(name)?.[1] ?? 'other'

export function sigTable(specs: Recorded['specs']): string[] {
  const columns = [...outcomeStates, 'all'] as const
  return [
    row(['SIG', ...columns]),
    row(['---', ...columns.map(() => '--:')]),
    ...[...countsBySig(specs)].map(([sig, counts]) => row([sig, ...columns.map((column) => `${counts[column]}`)])),
  ]
}

/** Specs that did not pass, each with the first line of its failure. */
export function failureLines(specs: Recorded['specs']): string[] {
  return withStates(specs, ['failed', 'hollow', 'interrupted', 'skipped']).map(
    ([name, { state, message = '' }]) => `${state}: ${name}\n    ${firstLine(message).slice(0, cellCharactersMax)}`,
  )
}

export function resultsPage({ specs, seconds, incidents }: Recorded): string {
  return [
    '# Results of the e2e suite',
    '',
    `${Math.round(seconds / 60)} minutes.`,
    '',
    ...sigTable(specs),
    ...(incidents.length === 0 ? [] : ['', '## Incidents', '']),
    ...incidents.map(({ time, what }) => `- ${time}: ${what}`),
    ...(['failed', 'hollow', 'interrupted', 'skipped', 'passed'] as const).flatMap((state) => {
      const those = withStates(specs, [state])
      if (those.length === 0) return []
      const heading = ['', `## ${state} (${those.length})`, '']
      const head = [row(['spec', 's', 'first line', 'where']), row(['---', '--:', '---', '---'])]
      return [...heading, ...head, ...those.map(([name, outcome]) => row(cellsOf(name, outcome)))]
    }),
    ...firstFailures(specs),
    '',
  ].join('\n')
}

/** Specs that failed first and were run again, whatever they did then. */
function firstFailures(specs: Recorded['specs']): string[] {
  const those = Object.entries(specs).flatMap(([name, { firstFailure }]) =>
    firstFailure === undefined ? [] : [row([...cellsOf(name, firstFailure), firstFailure.started])],
  )
  if (those.length === 0) return []
  const head = [row(['spec', 's', 'first line', 'where', 'began']), row(['---', '--:', '---', '---', '---'])]
  return ['', `## run again after a failure (${those.length})`, '', ...head, ...those]
}

const withStates = (specs: Recorded['specs'], states: readonly OutcomeState[]): (readonly [string, Outcome])[] =>
  states.flatMap((state) => Object.entries(specs).filter(([, outcome]) => outcome.state === state))

const cellsOf = (name: string, { seconds, message = '', where = '' }: Outcome): string[] => [
  cell(name),
  `${seconds}`,
  cell(firstLine(message)),
  where,
]

const cell = (text: string): string =>
  text
    .slice(0, cellCharactersMax)
    .replaceAll('|', String.raw`\|`)
    .replaceAll('<', '&lt;')

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
