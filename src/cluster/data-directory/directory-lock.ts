// A lock on a data directory: a second process on it is refused. The lock of a process that has died does not count, also
// where another one has got its number since: after a reboot, or in a container that was started again.
import { link, readFile, rm, writeFile } from 'node:fs/promises'

export class DirectoryInUse extends Error {
  override name = 'DirectoryInUse'
}

/** The living process that holds the lock. */
export async function holderOf(folder: string): Promise<number | undefined> {
  const written = await readFile(`${folder}/lock`, 'utf8').catch(() => '')
  const [pid = NaN, since] = written.split(' ').map(Number)
  if (!isAlive(pid)) return undefined
  const life = await processStat(pid)
  if (life === undefined) return pid
  return life.hasEnded || (since !== undefined && since !== life.since) ? undefined : pid
}

interface ProcessStat {
  /** Ticks of the kernel at its start, since the machine's. */
  readonly since: number
  /** It has ended, and nobody has asked how. */
  readonly hasEnded: boolean
}

/** What the kernel tells of a process; undefined where it tells nothing. */
async function processStat(pid: number): Promise<ProcessStat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // Its name is in brackets and may hold anything; behind it are the state and, 19 fields on, the start.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields && { hasEnded: fields[0] === 'Z', since: Number(fields[19]) }
}

export async function lockDirectory(folder: string): Promise<AsyncDisposable> {
  const path = `${folder}/lock`
  // Linked once it is written: nobody finds a lock that does not say whose it is.
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
        const pid = await holderOf(folder)
        if (pid !== undefined)
          throw new DirectoryInUse(`${folder} is in use by process ${pid}; stop it, or choose another --data-dir`)
        await rm(path, { force: true })
      }
    }
    throw new DirectoryInUse(`${folder} could not be locked: other processes take the lock at the same time`)
  } catch (error) {
    throw error instanceof DirectoryInUse ? error : new Error(`cannot lock ${folder} with ${path}`, { cause: error })
  } finally {
    await rm(own, { force: true }).catch(() => {}) // the error that led here says more
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
