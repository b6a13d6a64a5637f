// How a simulated container behaves where that is said in numbers and lines instead of a program: per image, or in a
// pod's annotations, so that a manifest alone can say it.
import { durationMs, type Clock } from '../../base/time/clock.ts'

export interface SimulatedBehaviour {
  readonly pullMs?: number
  /** How long it takes until it runs. */
  readonly startMs?: number
  /** How long it runs before it ends by itself. */
  readonly runMs?: number
  /** What it ends with, at once unless `runMs` says when. Without either it serves until it is asked to end. */
  readonly exitCode?: number
  /** What it prints when it starts. */
  readonly log?: readonly string[]
  /** How long after its start it begins to answer probes, of any kind. */
  readonly answerAfterMs?: number
  /** How long after its start it ceases to answer them. */
  readonly answerUntilMs?: number
}

/** Whether it answers so long after its start; who does not refuses connections and fails commands. */
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
  const said = (name: string) => annotations[`${prefix}${name}.${container}`] ?? annotations[`${prefix}${name}`]
  const after = (name: string) => {
    const text = said(name)
    return text === undefined ? undefined : durationMs(text)
  }
  const [startMs, runMs, answerAfterMs, answerUntilMs] = [
    after('start-after'),
    after('run-for'),
    after('answer-after'),
    after('answer-until'),
  ]
  const [exitCode, log] = [said('exit-code'), said('log')]
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

/** Whether nothing says when it ends. */
export const runsUntilStopped = ({ runMs, exitCode }: SimulatedBehaviour): boolean =>
  runMs === undefined && exitCode === undefined

export function printLog({ log = [] }: SimulatedBehaviour, print: (line: string) => void): void {
  for (const line of log) print(line)
}

/** Runs as it is said; `program` is what it does where nothing says when it ends. */
export async function runBehaviour<P extends Process>(
  behaviour: SimulatedBehaviour,
  process: P,
  program: (process: P) => Promise<number>,
): Promise<number> {
  printLog(behaviour, process.log)
  if (runsUntilStopped(behaviour)) return program(process)
  const { runMs, exitCode } = behaviour
  const { clock, terminated } = process
  // Whoever is asked to end before its time ends well.
  const isDone = await clock.sleep(runMs ?? 0, terminated).then(
    () => true,
    () => false,
  )
  return isDone ? (exitCode ?? 0) : 0
}
