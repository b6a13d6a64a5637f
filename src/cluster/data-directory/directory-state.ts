// Reads the state of a data directory without opening it.
import { readFile, stat } from 'node:fs/promises'
import { readMarker } from './directory-marker.ts'
import { holderOf } from './directory-lock.ts'

export interface DirectoryState {
  /** The process that has locked the directory. */
  readonly pid: number | undefined
  /** Undefined when there is no store on disk. */
  readonly storeBytes: number | undefined
  readonly kubeconfig: string | undefined
  /** A server with a member of etcd. */
  readonly hasMember: boolean
}

export async function directoryState(directory: string): Promise<DirectoryState> {
  const size = async (name: string) => (await stat(`${directory}/${name}`).catch(() => undefined))?.size
  const sizes = await Promise.all([size('store.db'), size('store.db-wal')])
  return {
    pid: (await holderOf(directory))?.pid,
    storeBytes: sizes[0] === undefined ? undefined : sizes[0] + (sizes[1] ?? 0),
    hasMember: (await readMarker(directory))?.server?.member !== undefined,
    kubeconfig: await readFile(`${directory}/admin.kubeconfig`, 'utf8').catch(() => undefined),
  }
}
