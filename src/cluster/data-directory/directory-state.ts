// Reads the state of a data directory without opening it.
import { readFile, stat } from 'node:fs/promises'
import { holderOf } from './directory-lock.ts'

export interface DirectoryState {
  /** The process that has locked the directory. */
  readonly pid: number | undefined
  /** Undefined when there is no store on disk. */
  readonly storeBytes: number | undefined
  readonly kubeconfig: string | undefined
}

export async function directoryState(directory: string): Promise<DirectoryState> {
  const size = async (name: string) => (await stat(`${directory}/${name}`).catch(() => undefined))?.size
  const sizes = await Promise.all([size('store.db'), size('store.db-wal')])
  return {
    pid: (await holderOf(directory))?.pid,
    storeBytes: sizes[0] === undefined ? undefined : sizes[0] + (sizes[1] ?? 0),
    kubeconfig: await readFile(`${directory}/admin.kubeconfig`, 'utf8').catch(() => undefined),
  }
}
