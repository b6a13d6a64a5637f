// The lock of a data directory. A second process is rejected. The lock of a process that no longer exists is ignored.
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { isRunning, processIdentity, type ProcessIdentity } from './process-identity.ts'

export class DirectoryInUse extends Error {
  override name = 'DirectoryInUse'
}

/** The running process that has the lock. */
export async function holderOf(directory: string): Promise<ProcessIdentity | undefined> {
  const written = await readFile(`${directory}/lock`, 'utf8').catch(() => '')
  const [pid = NaN, since] = written.split(' ').map(Number)
  const holder = { pid, since }
  return (await isRunning(holder)) ? holder : undefined
}

export async function lockDirectory(directory: string): Promise<AsyncDisposable> {
  const path = `${directory}/lock`
  // Linked after it is written, so that a lock always has an owner.
  const own = `${path}.${process.pid}`
  const { pid, since } = await processIdentity(process.pid)
  try {
    await writeFile(own, since === undefined ? String(pid) : `${pid} ${since}`, { mode: 0o600 })
    for (let tries = 0; tries < 3; tries++) {
      try {
        await link(own, path)
        return { [Symbol.asyncDispose]: () => rm(path, { force: true }) }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
        const holder = await holderOf(directory)
        if (holder !== undefined)
          throw new DirectoryInUse(
            `${directory} is in use by process ${holder.pid}; stop it, or choose another --data-dir`,
          )
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
