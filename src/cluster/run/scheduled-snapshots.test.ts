// A cluster in this process takes a snapshot as it starts, which restores it.
import { deepEqual, equal } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { restoreDirectory } from '../data-directory/restore-snapshot.ts'
import { up } from './up.ts'
import { findSnapshots } from '../snapshots/snapshot-folder.ts'
import { snapshotFolderOf } from '../snapshots/snapshot-schedule.ts'

const { signal } = new AbortController()
const passphrase = 'correct horse'

test('a cluster takes a snapshot as it starts', { timeout: 120_000 }, async () => {
  const home = await mkdtemp(join(tmpdir(), 'coxswain-up-snapshots-'))
  await using ended = new AsyncDisposableStack()
  ended.defer(() => rm(home, { recursive: true, force: true }))
  const dataDirectory = join(home, 'data')
  const kubeconfigPath = join(dataDirectory, 'admin.kubeconfig')
  const place = { dataDirectory, kubeconfigPath, host: '127.0.0.1', port: 0, nodes: 0, log: silentLog }
  const snapshots = { everyMs: 3_600_000, keep: 1, passphrase, folder: undefined }
  ended.use(await up({ ...place, store: { kind: 'sqlite' }, snapshots }))
  const folder = snapshotFolderOf(dataDirectory)
  let found = await findSnapshots(folder)
  while (found.length === 0) {
    await realClock.sleep(20, signal)
    found = await findSnapshots(folder)
  }
  const [snapshot] = found
  equal(snapshot?.header.keys, 'included')
  const { keys, before } = await restoreDirectory(join(home, 'restored'), snapshot?.path ?? '', passphrase, signal)
  deepEqual([keys, before.store], ['restored', undefined])
})
