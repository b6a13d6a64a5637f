// Stops the cluster, or the kubelet, of a data directory, whatever started it.
import type { Clock } from '../../base/time/clock.ts'
import { directoryState } from '../data-directory/directory-state.ts'

const pollEveryMs = 100
/** Longer than a stop takes with its own limits. */
const stopMsMax = 120_000

/** Returns the process that has ended; undefined if none ran. */
export async function stopProcess(
  directory: string,
  end: (pid: number) => void,
  clock: Clock,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { pid } = await directoryState(directory)
  if (pid === undefined) return undefined
  end(pid)
  for (const untilMs = clock.monotonicMs() + stopMsMax; clock.monotonicMs() < untilMs;) {
    if ((await directoryState(directory)).pid !== pid) return pid
    await clock.sleep(pollEveryMs, signal)
  }
  throw new Error(`process ${pid} has not ended after ${stopMsMax / 1_000} s`)
}
