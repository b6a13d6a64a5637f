// Moves the objects of a cluster from SQLite to etcd. Keys, values and the encryption at rest stay as they are.
import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { copyStore, type CopiedKeys } from '../../store/copy-store.ts'
import { fileRevision } from '../../store/sqlite/load-file.ts'
import type { Store } from '../../store/store.ts'
import { storeFiles } from './directory-contents.ts'
import { openStore, type EtcdChoice, type StoreChoice } from './open-store.ts'
import { registryRange } from './record-store.ts'

/** What moves with a cluster from one store to another. */
export const clusterKeys: CopiedKeys = {
  ...registryRange,
  // The addresses of API servers that ran before. Those that run write their own.
  isOmitted: (key) => key.startsWith('/registry/masterleases/'),
  isLeased: (key) => key.startsWith('/registry/events/'),
}

/** The store of the cluster before it moved. */
export const storeBeforeEtcd = 'store.db.before-etcd'

/** Opens a store; tests use others. */
type Open = (choice: StoreChoice, directory: string) => Promise<Store>

/** The revision of the store that `moveToEtcd` would move. */
export const movedRevision = (directory: string): number | undefined =>
  existsSync(`${directory}/store.db`) ? fileRevision(`${directory}/store.db`) : undefined

/** Moves the objects of `store.db` to an empty etcd, and renames the file. A move that was interrupted continues. */
export async function moveToEtcd(
  directory: string,
  etcd: EtcdChoice,
  onProgress: (what: string) => void,
  signal: AbortSignal,
  open: Open = openStore,
): Promise<void> {
  const path = `${directory}/store.db`
  if (!existsSync(path)) return
  await using stores = new AsyncDisposableStack()
  const from = stores.adopt(await open({ kind: 'sqlite' }, directory), (store) => store.close())
  const to = stores.adopt(await open(etcd, ''), (store) => store.close())
  onProgress('moving the objects from SQLite to etcd')
  const onCopied = async () => {
    // Its content is in one file once it is closed.
    await from.close()
    await rename(path, `${directory}/${storeBeforeEtcd}`)
    for (const name of storeFiles) await rm(`${directory}/${name}`, { force: true })
  }
  await copyStore(from, to, { ...clusterKeys, onProgress, onCopied }, signal)
}
