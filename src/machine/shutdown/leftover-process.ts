// endLeftover: ends a program in the background that an earlier, killed process has left running.
import type { Clock } from '../../base/time/clock.ts'
import type { Files } from '../../platform/files.ts'
import type { ProcessSignals } from '../../platform/process/processes.ts'

export interface LeftoverProcess {
  /** The file with its pid. */
  readonly pidPath: string
  /** An argument that only this program has: pids are reused. */
  readonly argument: string
}

export interface LeftoverDeps {
  readonly files: Pick<Files, 'read'>
  readonly processes: ProcessSignals
  readonly clock: Clock
}

const stopMsMax = 10_000
const retryMs = 50

/** Resolves when it has ended. It is killed when it does not end by itself. */
export async function endLeftover(
  { pidPath, argument }: LeftoverProcess,
  { files, processes, clock }: LeftoverDeps,
  signal: AbortSignal,
): Promise<void> {
  const textOf = async (path: string) => new TextDecoder().decode(await files.read(path))
  const pid = Number(await textOf(pidPath))
  if (!Number.isInteger(pid) || pid <= 1) return
  const isOurs = async () => (await textOf(`/proc/${pid}/cmdline`)).split('\0').includes(argument)
  const untilMs = clock.monotonicMs() + stopMsMax
  for (let last = ''; await isOurs(); await clock.sleep(retryMs, signal)) {
    const next = clock.monotonicMs() < untilMs ? 'SIGTERM' : 'SIGKILL'
    if (next !== last) processes.signal(pid, next)
    last = next
  }
}
