import { deepEqual, equal, rejects } from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderState, resetFolder, restoreFolder, snapshotFolder } from './data-folder.ts'
import { lockDirectory } from './lock.ts'
import { openStore } from './open-store.ts'

const { signal } = new AbortController()

async function withStore<T>(folder: string, use: (store: Awaited<ReturnType<typeof openStore>>) => Promise<T>) {
  const store = await openStore({ kind: 'sqlite' }, folder)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

const put = (folder: string, key: string) =>
  withStore(folder, (store) =>
    store.commit({ conditions: [], operations: [{ kind: 'put', key, value: new Uint8Array([1]) }] }, signal),
  )
const keys = (folder: string) =>
  withStore(folder, async (store) => (await store.range({ start: '/', end: '0' }, signal)).items.map(({ key }) => key))

test('a data directory goes back to a snapshot, keeps what it held, and is emptied of what is its own alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-folder-'))
  const copy = join(folder, 'copy')
  await put(folder, '/a')
  await snapshotFolder(folder, copy, signal)
  await put(folder, '/b')
  await restoreFolder(folder, copy, signal)
  deepEqual(await keys(folder), ['/a'])
  await restoreFolder(folder, join(folder, 'store.db.before-restore'), signal)
  deepEqual(await keys(folder), ['/a', '/b'])

  await writeFile(join(folder, 'foreign'), 'no snapshot')
  for (const from of ['none', 'foreign']) await rejects(restoreFolder(folder, join(folder, from), signal))
  deepEqual(await keys(folder), ['/a', '/b'], 'what cannot be restored takes nothing away')
  await rejects(snapshotFolder(join(folder, 'none'), copy, signal), /there is no cluster on SQLite in/)

  equal((await folderState(folder)).pid, undefined)
  {
    await using _lock = await lockDirectory(folder)
    equal((await folderState(folder)).pid, process.pid)
    await rejects(resetFolder(folder, signal), /is in use by process/)
    await rejects(restoreFolder(folder, copy, signal), /is in use by process/)
  }
  await resetFolder(folder, signal)
  deepEqual((await readdir(folder)).toSorted(), ['copy', 'foreign'])
  deepEqual(await folderState(folder), { pid: undefined, storeBytes: undefined, kubeconfig: undefined })
  await rm(folder, { recursive: true })
})
