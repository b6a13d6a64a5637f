// Stops the cluster, or the kubelet, of a data directory, whatever started it.
import type { Clock } from '../../base/time/clock.ts'
import { holderOf } from '../data-directory/directory-lock.ts'
import { isRunning } from '../data-directory/process-identity.ts'

const pollEveryMs = 100
/** Longer than a stop takes with its own limits. */
const stopMsMax = 120_000

/** Returns the pid of the process that has exited; undefined if none ran. The lock is released before the exit. */
export async function stopProcess(
  directory: string,
  end: (pid: number) => void,
  clock: Clock,
  signal: AbortSignal,
): Promise<number | undefined> {
  const holder = await holderOf(directory)
  if (holder === undefined) return undefined
  const { pid } = holder
  end(pid)
  for (const untilMs = clock.monotonicMs() + stopMsMax; clock.monotonicMs() < untilMs;) {
    if (!(await isRunning(holder))) return pid
    await clock.sleep(pollEveryMs, signal)
  }
  throw new Error(`process ${pid} has not ended after ${stopMsMax / 1_000} s`)
}
