// Processes of this machine. A process is identified by its pid and its start time, because pids are reused: after a
// reboot, or in a restarted container.
import { readFile } from 'node:fs/promises'

export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks from the boot to its start; undefined where /proc is not available. */
  readonly since: number | undefined
}

export const processIdentity = async (pid: number): Promise<ProcessIdentity> => ({
  pid,
  since: (await processStat(pid))?.since,
})

/** False for a zombie, which has exited. */
export async function isRunning({ pid, since }: ProcessIdentity): Promise<boolean> {
  if (!exists(pid)) return false
  const stat = await processStat(pid)
  if (stat === undefined) return exists(pid)
  return !stat.hasExited && (since === undefined || since === stat.since)
}

interface ProcessStat {
  readonly since: number
  readonly hasExited: boolean
}

/** The state of a process in /proc; undefined when it is not available. */
async function processStat(pid: number): Promise<ProcessStat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The name is in parentheses and may contain anything; after it come the state and, 19 fields later, the start time.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields && { hasExited: fields[0] === 'Z', since: Number(fields[19]) }
}

function exists(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
