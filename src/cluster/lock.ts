// A lock on a data directory: a second process on it is refused. The lock of a process that has died does not count.
import { open, readFile, rm } from 'node:fs/promises'

export class DirectoryInUse extends Error {
  override name = 'DirectoryInUse'
}

/** The living process that holds the lock. */
export async function holderOf(folder: string): Promise<number | undefined> {
  const pid = Number(await readFile(`${folder}/lock`, 'utf8').catch(() => '0'))
  return isAlive(pid) ? pid : undefined
}

export async function lockDirectory(folder: string): Promise<AsyncDisposable> {
  const path = `${folder}/lock`
  for (let tries = 0; tries < 3; tries++) {
    try {
      const file = await open(path, 'wx', 0o600)
      await file.writeFile(String(process.pid))
      await file.close()
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
