// The root of a cgroup namespace, as a container sees it. With cgroup v2, a cgroup with processes cannot give limits to those below it;
// only the root of the machine can.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cgroupMount } from './node-cgroups.ts'

/** A process may start another one while it is moved. */
const roundsMax = 10

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ESRCH'

/** Moves the processes of a container out of the root of its cgroup namespace, so that pods can have limits. */
export async function leaveNamespaceRoot(root = cgroupMount): Promise<void> {
  // Only cgroups of v2 have this file, and the root of the machine lacks it.
  if ((await stat(join(root, 'cgroup.type')).catch(() => undefined)) === undefined) return
  const below = join(root, 'init')
  for (let round = 0; round < roundsMax; round++) {
    const pids = (await readFile(join(root, 'cgroup.procs'), 'utf8')).split('\n').filter((line) => line !== '')
    if (pids.length === 0) return
    await mkdir(below, { recursive: true })
    for (const pid of pids)
      await writeFile(join(below, 'cgroup.procs'), pid).catch((error: unknown) => {
        if (!isGone(error)) throw error
      })
  }
}
