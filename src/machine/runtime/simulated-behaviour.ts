// How a simulated container behaves where that is said in numbers and lines instead of a program: per image, or in a
// pod's annotations, so that a manifest alone can say it.
import { durationMs, type Clock } from '../../base/clock.ts'

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
}

const prefix = 'simulated.coxswain.dev/'

/** `simulated.coxswain.dev/start-after: 2s`, or `…/start-after.<container>` for one container of several. */
export function behaviourIn(annotations: Readonly<Record<string, string>>, container: string): SimulatedBehaviour {
  const said = (name: string) => annotations[`${prefix}${name}.${container}`] ?? annotations[`${prefix}${name}`]
  const [startAfter, runFor, exitCode, log] = ['start-after', 'run-for', 'exit-code', 'log'].map(said)
  return {
    ...(startAfter === undefined ? {} : { startMs: durationMs(startAfter) }),
    ...(runFor === undefined ? {} : { runMs: durationMs(runFor) }),
    ...(exitCode === undefined ? {} : { exitCode: exitCodeOf(exitCode) }),
    ...(log === undefined ? {} : { log: log.split('\n') }),
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

/** Runs as it is said; `program` is what it does where nothing says when it ends. */
export async function behave<P extends Process>(
  { log = [], runMs, exitCode }: SimulatedBehaviour,
  process: P,
  program: (process: P) => Promise<number>,
): Promise<number> {
  for (const line of log) process.log(line)
  if (runMs === undefined && exitCode === undefined) return program(process)
  const { clock, terminated } = process
  // Whoever is asked to end before its time ends well.
  const isDone = await clock.sleep(runMs ?? 0, terminated).then(
    () => true,
    () => false,
  )
  return isDone ? (exitCode ?? 0) : 0
}
