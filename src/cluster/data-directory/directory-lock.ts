// The lock of a data directory. A second process is rejected. The lock of a process that no longer exists is ignored,
// even if its pid was reused: after a reboot, or in a restarted container.
import { link, readFile, rm, writeFile } from 'node:fs/promises'

export class DirectoryInUse extends Error {
  override name = 'DirectoryInUse'
}

/** The running process that has the lock. */
export async function holderOf(directory: string): Promise<number | undefined> {
  const written = await readFile(`${directory}/lock`, 'utf8').catch(() => '')
  const [pid = NaN, since] = written.split(' ').map(Number)
  if (!isAlive(pid)) return undefined
  const life = await processStat(pid)
  if (life === undefined) return pid
  return life.hasEnded || (since !== undefined && since !== life.since) ? undefined : pid
}

interface ProcessStat {
  /** Start time of the process in clock ticks since boot. */
  readonly since: number
  /** The process is a zombie. */
  readonly hasEnded: boolean
}

/** The state of a process in /proc; undefined when it is not available. */
async function processStat(pid: number): Promise<ProcessStat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The name is in parentheses and may contain anything; after it come the state and, 19 fields later, the start time.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields && { hasEnded: fields[0] === 'Z', since: Number(fields[19]) }
}

export async function lockDirectory(directory: string): Promise<AsyncDisposable> {
  const path = `${directory}/lock`
  // Linked after it is written, so that a lock always has an owner.
  const own = `${path}.${process.pid}`
  const life = await processStat(process.pid)
  try {
    await writeFile(own, life === undefined ? String(process.pid) : `${process.pid} ${life.since}`, { mode: 0o600 })
    for (let tries = 0; tries < 3; tries++) {
      try {
        await link(own, path)
        return { [Symbol.asyncDispose]: () => rm(path, { force: true }) }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
        const pid = await holderOf(directory)
        if (pid !== undefined)
          throw new DirectoryInUse(`${directory} is in use by process ${pid}; stop it, or choose another --data-dir`)
        await rm(path, { force: true })
      }
    }
    throw new DirectoryInUse(`${directory} could not be locked: other processes take the lock at the same time`)
  } catch (error) {
    throw error instanceof DirectoryInUse ? error : new Error(`cannot lock ${directory} with ${path}`, { cause: error })
  } finally {
    await rm(own, { force: true }).catch(() => {}) // the original error is more useful
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
