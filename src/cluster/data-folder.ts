// The data directory of a cluster that is not running, or that is: who has it, what it is worth, and how it goes.
import { readFile, rename, rm, stat } from 'node:fs/promises'
import { nodePlatform } from '../platform/node/platform.ts'
import { restoreSnapshot, takeSnapshot } from '../store/sqlite/snapshot.ts'
import { holderOf, lockDirectory } from './lock.ts'

const storePath = (folder: string): string => `${folder}/store.db`
const storeFiles = ['store.db', 'store.db-wal', 'store.db-shm', 'store.db-lock']

/** What stands in a data directory; nothing else is removed. */
const contents = [
  ...storeFiles,
  'store.db.before-restore',
  'store.db.kept',
  'pki',
  'admin.kubeconfig',
  'controller-manager.kubeconfig',
  'scheduler.kubeconfig',
  'node',
]

export interface FolderState {
  /** The process that has the folder. */
  readonly pid: number | undefined
  /** Undefined where there is no store on disk. */
  readonly storeBytes: number | undefined
  readonly kubeconfig: string | undefined
}

export async function folderState(folder: string): Promise<FolderState> {
  const size = async (name: string) => (await stat(`${folder}/${name}`).catch(() => undefined))?.size
  const sizes = await Promise.all([size('store.db'), size('store.db-wal')])
  return {
    pid: await holderOf(folder),
    storeBytes: sizes[0] === undefined ? undefined : sizes[0] + (sizes[1] ?? 0),
    kubeconfig: await readFile(`${folder}/admin.kubeconfig`, 'utf8').catch(() => undefined),
  }
}

/** A consistent copy, also while the cluster runs. */
export async function snapshotFolder(folder: string, to: string, signal: AbortSignal): Promise<void> {
  if ((await folderState(folder)).storeBytes === undefined)
    throw new Error(`there is no cluster on SQLite in ${folder}`)
  await takeSnapshot(nodePlatform.workers, storePath(folder), to, signal)
}

/** The store becomes what the snapshot holds; what it held before is kept beside it. */
export async function restoreFolder(folder: string, from: string, signal: AbortSignal): Promise<void> {
  const { workers, files } = nodePlatform
  await stat(from).catch((cause: unknown) => {
    throw new Error(`there is no snapshot ${from}`, { cause })
  })
  await files.makeFolder(folder)
  await using _lock = await lockDirectory(folder)
  const store = storePath(folder)
  // Beside the store, and whole, before anything goes: a file that is no snapshot leaves all as it is.
  const fresh = `${store}.fresh`
  try {
    await restoreSnapshot({ from, to: fresh, workers }, signal)
    const hadStore = (await folderState(folder)).storeBytes !== undefined
    // Beside the one of last time: that may be what is restored.
    const kept = `${store}.kept`
    if (hadStore) await takeSnapshot(workers, store, kept, signal)
    for (const name of storeFiles) await rm(`${folder}/${name}`, { force: true })
    await rename(fresh, store)
    if (hadStore) await rename(kept, `${store}.before-restore`)
  } finally {
    for (const name of storeFiles) await rm(`${folder}/${name.replace('store.db', 'store.db.fresh')}`, { force: true })
  }
}

/** Removes what a cluster keeps. Refused while it runs, and while something is mounted below. */
export async function resetFolder(folder: string, signal: AbortSignal): Promise<void> {
  await nodePlatform.files.makeFolder(folder)
  await using _lock = await lockDirectory(folder)
  const { clearNode } = await import('./clear-node.ts')
  await clearNode(folder, signal)
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '')
  const below = mounts.split('\n').map((line) => line.split(' ')[1] ?? '')
  const mounted = below.find((path) => path.startsWith(`${folder}/`))
  if (mounted !== undefined)
    throw new Error(`${mounted} is still mounted: stop what uses it and unmount it, or its data would go too`)
  for (const name of contents) await rm(`${folder}/${name}`, { recursive: true, force: true })
}
