// Behaviour of simulated containers without a program: durations, exit codes and output, configured per image or with
// annotations of the pod.
import { durationMs, type Clock } from '../../base/time/clock.ts'
import type { UsageOverTime } from './simulated-usage.ts'

export interface SimulatedBehaviour {
  readonly pullMs?: number
  /** Delay before it runs. */
  readonly startMs?: number
  /** How long it runs before it exits by itself. */
  readonly runMs?: number
  /** The exit code, immediately or after `runMs`. Without either it runs until it is stopped. */
  readonly exitCode?: number
  /** Lines printed at the start. */
  readonly log?: readonly string[]
  /** What it uses, at any time or depending on the time. */
  readonly usage?: UsageOverTime
  /** How long after its start it begins to respond to probes. */
  readonly answerAfterMs?: number
  /** How long after its start it stops responding to probes. */
  readonly answerUntilMs?: number
}

/** Whether it responds at that time after its start; otherwise connections are refused and commands fail. */
export const answersAt = (
  { answerAfterMs = 0, answerUntilMs = Infinity }: SimulatedBehaviour,
  sinceMs: number,
): boolean => sinceMs >= answerAfterMs && sinceMs < answerUntilMs

const prefix = 'simulated.coxswain.dev/'

function hasAny(annotations: Readonly<Record<string, string>>): boolean {
  for (const name in annotations) if (name.startsWith(prefix)) return true
  return false
}

/** `simulated.coxswain.dev/start-after: 2s`, or `…/start-after.<container>` for one container of several. */
export function behaviourFromAnnotations(
  annotations: Readonly<Record<string, string>>,
  container: string,
): SimulatedBehaviour {
  if (!hasAny(annotations)) return {}
  const valueOf = (name: string) => annotations[`${prefix}${name}.${container}`] ?? annotations[`${prefix}${name}`]
  const after = (name: string) => {
    const text = valueOf(name)
    return text === undefined ? undefined : durationMs(text)
  }
  const startMs = after('start-after')
  const runMs = after('run-for')
  const answerAfterMs = after('answer-after')
  const answerUntilMs = after('answer-until')
  const exitCode = valueOf('exit-code')
  const log = valueOf('log')
  return {
    ...(startMs === undefined ? {} : { startMs }),
    ...(runMs === undefined ? {} : { runMs }),
    ...(exitCode === undefined ? {} : { exitCode: exitCodeOf(exitCode) }),
    ...(log === undefined ? {} : { log: log.split('\n') }),
    ...(answerAfterMs === undefined ? {} : { answerAfterMs }),
    ...(answerUntilMs === undefined ? {} : { answerUntilMs }),
  }
}

function exitCodeOf(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new Error(`exit code ${JSON.stringify(text)} is not a number from 0 to 999`)
  return Number(text)
}

interface Process {
  readonly clock: Clock
  readonly log: (line: string) => void
  readonly terminated: AbortSignal
}

/** Whether it runs until it is stopped. */
export const runsUntilStopped = ({ runMs, exitCode }: SimulatedBehaviour): boolean =>
  runMs === undefined && exitCode === undefined

export function printLog({ log = [] }: SimulatedBehaviour, print: (line: string) => void): void {
  for (const line of log) print(line)
}

/** Runs the behaviour; `program` runs when neither an exit code nor a duration is set. */
export async function runBehaviour<P extends Process>(
  behaviour: SimulatedBehaviour,
  process: P,
  program: (process: P) => Promise<number>,
): Promise<number> {
  printLog(behaviour, process.log)
  if (runsUntilStopped(behaviour)) return program(process)
  const { runMs, exitCode } = behaviour
  const { clock, terminated } = process
  // A container that is stopped early exits with 0.
  const isDone = await clock.sleep(runMs ?? 0, terminated).then(
    () => true,
    () => false,
  )
  return isDone ? (exitCode ?? 0) : 0
}
