// The JSON report of the suite's runner (ginkgo), read as outcomes of specs.

export const outcomeStates = ['passed', 'failed', 'hollow', 'skipped', 'interrupted'] as const
export type OutcomeState = (typeof outcomeStates)[number]

export interface Outcome {
  readonly state: OutcomeState
  readonly seconds: number
  /** When it began, as in the report. */
  readonly started: string
  /** Why it did not pass. */
  readonly message?: string
  /** The file and line of the suite that failed. */
  readonly where?: string
  /** How it failed first, if it was run again since. */
  readonly firstFailure?: Outcome
}

interface Location {
  readonly FileName: string
  readonly LineNumber: number
}

/** The fields of a report that are used. */
export interface SpecReport {
  readonly ContainerHierarchyTexts?: readonly string[] | null
  readonly LeafNodeText: string
  readonly LeafNodeType: string
  readonly State: string
  readonly StartTime?: string
  /** In nanoseconds. */
  readonly RunTime?: number
  readonly NumAttempts?: number
  readonly Failure?: { readonly Message?: string; readonly Location?: Location }
  readonly CapturedGinkgoWriterOutput?: string
  readonly CapturedStdOutErr?: string
}

const messageCharactersMax = 6_000

/** The specs of a report, without the suite's own steps. */
export const specReports = (text: string): SpecReport[] =>
  (JSON.parse(text) as readonly { readonly SpecReports?: readonly SpecReport[] | null }[])
    .flatMap(({ SpecReports }) => SpecReports ?? [])
    .filter(({ LeafNodeType }) => LeafNodeType === 'It')

export const specName = ({ ContainerHierarchyTexts, LeafNodeText }: SpecReport): string =>
  [...(ContainerHierarchyTexts ?? []), LeafNodeText].filter((text) => text !== '').join(' ')

/** Specs that must not run beside others. */
export const isSerial = (name: string): boolean => /\[(Serial|Disruptive)\]/.test(name)

/** Specs that take minutes. */
export const isSlow = (name: string): boolean => name.includes('[Slow]')

export const isPassed = ({ State }: SpecReport): boolean => State === 'passed'

/** Only specs that began have attempts. */
export const hasBegun = ({ NumAttempts = 0 }: SpecReport): boolean => NumAttempts > 0

/**
 * Some specs pass although they tested nothing: they return early if a definition that they need cannot be created, or
 * they accept any error where a proxied request was refused. Their own output shows it.
 */
const hollowLine =
  /Unexpected error while creating CustomResourceDefinition.*|http\.Client request:\w+ \| StatusCode:405.*/

const statesOfGinkgo: ReadonlyMap<string, OutcomeState> = new Map([
  ['passed', 'passed'],
  ['skipped', 'skipped'],
  ['interrupted', 'interrupted'],
  ['aborted', 'interrupted'],
  ['timedout', 'interrupted'],
])

export function outcomeOf(report: SpecReport): Outcome {
  const { State, Failure, RunTime = 0, StartTime = '', CapturedGinkgoWriterOutput = '' } = report
  const state = statesOfGinkgo.get(State) ?? 'failed'
  const outcome = { state, seconds: Math.round(RunTime / 1e8) / 10, started: StartTime }
  if (state === 'passed') {
    const hollow = hollowLine.exec(CapturedGinkgoWriterOutput)?.[0]
    return hollow === undefined ? outcome : { ...outcome, state: 'hollow', message: hollow }
  }
  const message = (Failure?.Message ?? '').slice(0, messageCharactersMax)
  const place = Failure?.Location
  if (place === undefined) return { ...outcome, message }
  return { ...outcome, message, where: `${place.FileName.replace(/^.*\/(?=test\/e2e\/)/, '')}:${place.LineNumber}` }
}

/**
 * The line of a failure that says most. Assertions begin with words that all of them share; then the lines that follow
 * are included.
 */
export function firstLine(message: string): string {
  const lines = message
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const [first = ''] = lines
  return /:$|^Expected$|^Timed out after/.test(first) ? lines.slice(0, 8).join(' ') : first
}
