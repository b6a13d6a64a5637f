// The move from etcd to SQLite: when it is refused, how one that was interrupted continues, and one from an etcd that is run by others.
// Moves from members that the server manages are in test/server/.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { readMarker, type Marker } from '../data-directory/directory-marker.ts'
import { openDataDirectory } from '../data-directory/open-directory.ts'
import { openStore } from '../data-directory/open-store.ts'
import { moveToSqlite } from './move-to-sqlite.ts'
import { startEtcd } from './run-etcd.harness.ts'
import { server } from './server.ts'

const { signal } = new AbortController()
const home = await mkdtemp(join(tmpdir(), 'coxswain-to-sqlite-'))
after(() => rm(home, { recursive: true, force: true }))
let count = 0

const settings = { 'service-cluster-ip-range': '10.77.0.0/16' }
const member = { name: 'a', address: '127.0.0.3', endpoints: ['https://127.0.0.3:2379'] }
const use = { host: '127.0.0.3', settings, member }

async function directoryWith(marker: Partial<Marker>, files: readonly string[] = []): Promise<string> {
  const path = join(home, String(count++))
  await using directory = await openDataDirectory(path, 'cluster')
  await directory.note(marker)
  for (const file of files) {
    await mkdir(join(path, file, '..'), { recursive: true })
    await writeFile(join(path, file), file, { mode: 0o600 })
  }
  return path
}

const move = (dataDirectory: string) => moveToSqlite({ dataDirectory, log: silentLog, onProgress: () => {} }, signal)

test('a directory without a server is not changed', async () => {
  const nothing = join(home, 'nothing')
  await move(nothing)
  equal(existsSync(nothing), false)
  const path = await directoryWith({ hasStore: true }, ['store.db'])
  const before = await readMarker(path)
  await move(path)
  deepEqual(await readMarker(path), before)
})

test('while other servers are members, nothing is written', async () => {
  const endpoints = [...member.endpoints, 'https://127.0.0.4:2379']
  const path = await directoryWith({ server: { ...use, member: { ...member, endpoints } } }, ['etcd/data/x'])
  const before = await readMarker(path)
  await rejects(move(path), /^Error: --store sqlite: other servers are members of etcd \(https:\/\/127\.0\.0\.4:2379\)/)
  deepEqual(await readMarker(path), before)
  equal(existsSync(`${path}/store.db`), false)
})

const interruptions: readonly [name: string, files: readonly string[]][] = [
  ['before the store got its name', ['store.db.fresh', 'etcd/data/x']],
  ['before the data of etcd was moved away', ['store.db', 'etcd/data/x']],
  ['when everything was in its place', ['store.db', 'etcd.before-sqlite/data/x']],
]
for (const [name, files] of interruptions)
  test(`a move that was interrupted ${name} continues, and the server does not start meanwhile`, async () => {
    const path = await directoryWith({ server: use, moving: 'sqlite' }, files)
    const options = { host: undefined, store: undefined, start: undefined, port: 0, log: silentLog }
    const starting = { ...options, dataDirectory: path, kubeconfigPath: `${path}/admin.kubeconfig` }
    await rejects(server(starting, signal), /to SQLite was interrupted; continue it: coxswain up --store sqlite/)
    await move(path)
    equal(await readFile(`${path}/store.db`, 'utf8'), files[0])
    equal(await readFile(`${path}/etcd.before-sqlite/data/x`, 'utf8'), files[1])
    equal(existsSync(`${path}/etcd`), false)
    const { server: is, moving, settings: kept, lastStore } = (await readMarker(path)) ?? {}
    deepEqual([is, moving, kept, lastStore], [undefined, undefined, settings, 'sqlite'])
  })

test('from an etcd of others, a server moves when no other one uses it', async () => {
  const etcd = await startEtcd(undefined)
  try {
    const { endpoints, store } = etcd
    const value = new TextEncoder().encode('{"metadata":{"name":"a"}}')
    const put = (key: string) => store.commit({ conditions: [], operations: [{ kind: 'put', key, value }] }, signal)
    const objectKey = '/registry/configmaps/default/a'
    await put(objectKey)
    await put('/registry/masterleases/127.0.0.3')
    await put('/registry/masterleases/127.0.0.4')
    const path = await directoryWith({
      server: { host: '127.0.0.3', settings },
      etcd: { endpoints, tlsPaths: {}, wasEmpty: true },
    })
    await rejects(
      move(path),
      /^Error: --store sqlite: other servers use the etcd of this one \(127\.0\.0\.4\); stop them first$/,
    )
    equal(existsSync(`${path}/store.db`), false)
    equal((await readMarker(path))?.moving, undefined)

    const key = '/registry/masterleases/127.0.0.4'
    await store.commit({ conditions: [], operations: [{ kind: 'delete', key }] }, signal)
    await move(path)
    const marker = await readMarker(path)
    deepEqual([marker?.server, marker?.moving, marker?.lastStore], [undefined, undefined, 'sqlite'])
    await using stores = new AsyncDisposableStack()
    const moved = stores.adopt(await openStore({ kind: 'sqlite' }, path), (opened) => opened.close())
    const [former, now] = await Promise.all([store.get(objectKey, signal), moved.get(objectKey, signal)])
    deepEqual([now && [...now.value], now?.modRevision], [former && [...former.value], former?.modRevision])
  } finally {
    await etcd.stop()
  }
})
