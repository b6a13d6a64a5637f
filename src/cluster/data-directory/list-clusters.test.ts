import { deepEqual, rejects } from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { listClusters } from './list-clusters.ts'
import { openDataDirectory } from './open-directory.ts'

test('the cluster without a name comes first, then those in the folder; what is no cluster is left out', async () => {
  const home = await mkdtemp(join(tmpdir(), 'coxswain-list-'))
  const folder = join(home, 'clusters')
  try {
    deepEqual(await listClusters(join(home, 'own'), folder), [])
    await (await openDataDirectory(join(home, 'own'), 'cluster'))[Symbol.asyncDispose]()
    await (await openDataDirectory(join(folder, 'node'), 'kubelet'))[Symbol.asyncDispose]()
    await mkdir(join(folder, 'empty'))
    await writeFile(join(folder, 'file'), '')
    await using running = await openDataDirectory(join(folder, 'dev'), 'cluster')
    await running.note({ name: 'dev' })
    await writeFile(join(folder, 'dev', 'admin.kubeconfig'), 'a: [')
    const entry = { pid: undefined, server: undefined }
    deepEqual(await listClusters(join(home, 'own'), folder), [
      { ...entry, name: 'coxswain', directory: join(home, 'own') },
      { ...entry, name: 'dev', directory: join(folder, 'dev'), pid: process.pid },
    ])
    await rejects(listClusters(join(home, 'own'), join(folder, 'file')), { code: 'ENOTDIR' })
  } finally {
    await rm(home, { recursive: true })
  }
})
