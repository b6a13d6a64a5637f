// The suite's own runner, ginkgo: which specs there are, and a run of some of them.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { run } from './command.ts'
import { hasBegun, isPassed, outcomeOf, specName, specReports, type Outcome, type SpecReport } from './spec-report.ts'

/** A spec that takes longer prints what it is doing. */
const slowSeconds = 120
/** How long the suite may clean up after its time is over. */
const graceSeconds = 60

export interface Selection {
  readonly focus: string
  readonly skip: string | undefined
}

/** The names of the specs that the suite would run, in alphabetical order. */
export function listSpecs(executables: string, { focus, skip }: Selection, results: string): string[] {
  const file = join(results, 'list.json')
  const options = ['dry-run', `focus=${focus}`, `json-report=${file}`, 'silence-skips']
  if (skip !== undefined) options.push(`skip=${skip}`)
  run(
    join(executables, 'e2e.test'),
    options.map((option) => `--ginkgo.${option}`),
  )
  const names = specReports(readFileSync(file, 'utf8')).filter(isPassed).map(specName)
  rmSync(file)
  return [...new Set(names)].toSorted()
}

export interface Batch {
  readonly names: readonly string[]
  /** How many run at a time. */
  readonly parallel: number
  readonly minutesMax: number
  readonly executables: string
  readonly kubeconfig: string
  readonly results: string
}

/** Runs specs; returns the outcomes of those that began. An abort interrupts them. */
export async function runBatch(batch: Batch, signal: AbortSignal): Promise<ReadonlyMap<string, Outcome>> {
  const folder = mkdtempSync(join(batch.results, 'batch-'))
  const log = openSync(join(folder, 'output.log'), 'w')
  // With its own process group, so that a signal reaches all processes of the suite.
  const suite = spawn(join(batch.executables, 'ginkgo'), suiteArguments(batch, folder), {
    stdio: ['ignore', log, log],
    detached: true,
  })
  closeSync(log)
  const interrupt = () => signalGroup(suite, 'SIGINT')
  signal.addEventListener('abort', interrupt)
  const msMax = (batch.minutesMax * 60 + 2 * graceSeconds) * 1_000
  const late = realClock.after(msMax, () => signalGroup(suite, 'SIGKILL'))
  await once(suite, 'exit')
  late.cancel()
  signal.removeEventListener('abort', interrupt)
  signalGroup(suite, 'SIGKILL')
  const file = join(folder, 'report.json')
  const reports = existsSync(file) ? specReports(readFileSync(file, 'utf8')) : []
  const begun = reports.filter((report) => hasBegun(report) && batch.names.includes(specName(report)))
  for (const report of begun) if (outcomeOf(report).state !== 'passed') keepLog(report, batch.results)
  rmSync(file, { force: true })
  return new Map(begun.map((report) => [specName(report), outcomeOf(report)]))
}

const suiteArguments = ({ names, parallel, minutesMax, executables, kubeconfig }: Batch, folder: string): string[] => [
  `--procs=${parallel}`,
  `--timeout=${minutesMax}m`,
  `--grace-period=${graceSeconds}s`,
  `--poll-progress-after=${slowSeconds}s`,
  '--no-color',
  '--silence-skips',
  '--json-report=report.json',
  `--output-dir=${folder}`,
  `--focus=${focusOn(names)}`,
  join(executables, 'e2e.test'),
  '--',
  '--provider=skeleton',
  `--kubeconfig=${kubeconfig}`,
  '--disable-log-dump',
  '--allowed-not-ready-nodes=0',
  // Specs that need two nodes skip themselves otherwise.
  '--num-nodes=2',
  `--report-dir=${folder}`,
]

/** A pattern for exactly these specs. Ginkgo matches it with the name of the suite, a space and the name of the spec. */
export const focusOn = (names: readonly string[]): string =>
  names.map((name) => ` ${name.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}$`).join('|')

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // All of its processes have ended.
  }
}

const fileNameCharactersMax = 150

function keepLog(report: SpecReport, results: string): void {
  const folder = join(results, 'failures')
  mkdirSync(folder, { recursive: true })
  const name = specName(report)
  const { CapturedGinkgoWriterOutput = '', CapturedStdOutErr = '' } = report
  const text = [name, outcomeOf(report).message ?? '', CapturedGinkgoWriterOutput, CapturedStdOutErr].join('\n\n')
  // The ends of long names distinguish them.
  const file = name.replaceAll(/[^A-Za-z0-9]+/g, '-').slice(-fileNameCharactersMax)
  writeFileSync(join(folder, `${file}.log`), text)
}
