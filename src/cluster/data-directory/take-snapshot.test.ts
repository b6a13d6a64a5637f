import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { systemRandom } from '../../base/random/random.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { openStore } from './open-store.ts'
import { clusterCertificates } from '../certificates/cluster-certificates.ts'
import { identityFiles } from './directory-contents.ts'
import { readMarker } from './directory-marker.ts'
import { openDataDirectory } from './open-directory.ts'
import { restoreDirectory } from './restore-snapshot.ts'
import { snapshotDirectory } from './take-snapshot.ts'

const { signal } = new AbortController()
const passphrase = 'correct horse'
const directory = await mkdtemp(join(tmpdir(), 'coxswain-snapshot-'))
const config = join(directory, 'encryption.yaml')
await writeFile(config, 'kind: EncryptionConfiguration')
after(() => rm(directory, { recursive: true, force: true }))

async function withStore<T>(at: string, use: (store: Awaited<ReturnType<typeof openStore>>) => Promise<T>) {
  const store = await openStore({ kind: 'sqlite' }, at)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

const put = (at: string, key: string) =>
  withStore(at, (store) =>
    store.commit({ conditions: [], operations: [{ kind: 'put', key, value: new Uint8Array([1]) }] }, signal),
  )
const keysIn = (at: string) =>
  withStore(at, async (store) => (await store.range({ start: '/', end: '0' }, signal)).items.map(({ key }) => key))

let count = 0
const newPath = () => join(directory, String(count++))

/** A data directory with keys and one object. */
async function cluster(...keys: string[]): Promise<string> {
  const at = newPath()
  await using opened = await openDataDirectory(at, 'cluster')
  const deps = { platform: nodePlatform, clock: realClock, random: systemRandom, hosts: [] }
  await clusterCertificates(`${at}/pki`, deps)
  for (const key of keys) await put(at, key)
  await opened.note({
    hasStore: true,
    isComplete: true,
    name: 'home',
    nodes: ['node-0'],
    encryptionConfig: config,
  })
  return at
}

const identityOf = (at: string) => Promise.all(identityFiles.map((name) => readFile(`${at}/pki/${name}`, 'utf8')))
const take = (
  from: string,
  to: string,
  more: { passphrase?: string; isForced?: boolean; hasVolumes?: boolean } = {},
) => {
  const options = { directory: from, to, passphrase: undefined, isForced: false, hasVolumes: false, ...more }
  return snapshotDirectory(options, realClock, signal)
}

/** Writes a file of a volume of the class local-path. */
async function writeVolume(at: string, volume: string, text: string): Promise<void> {
  await mkdir(`${at}/node/local-path/${volume}`, { recursive: true })
  await chmod(`${at}/node/local-path`, 0o700)
  await writeFile(`${at}/node/local-path/${volume}/data`, text, { mode: 0o640 })
}
const volume = (at: string, name: string) => readFile(`${at}/node/local-path/${name}/data`, 'utf8')

test('the content of volumes is only included on request, and restored with its modes; the previous one is kept', async () => {
  const from = await cluster('/a')
  const to = await cluster('/b')
  const plain = newPath()
  const file = newPath()
  await writeVolume(from, 'pvc-1', 'the content of a volume')
  await symlink('/etc', `${from}/node/local-path/pvc-1/link`)
  await writeVolume(to, 'pvc-2', 'the previous content')
  equal((await take(from, plain)).volumes, undefined)
  equal((await take(from, file, { passphrase, hasVolumes: true })).volumes, 'unchanged')
  ok(!(await readFile(file)).includes('the content of a volume'), 'encrypted like everything else')
  const leftovers = (await readdir(directory)).filter((name) => name.endsWith('.tmp'))
  deepEqual(leftovers, [])

  const without = await restoreDirectory(to, plain, undefined, signal)
  deepEqual([without.before.volumes, await volume(to, 'pvc-2')], [undefined, 'the previous content'])
  const { before, header } = await restoreDirectory(to, file, passphrase, signal)
  deepEqual([header?.volumes, before.volumes], ['unchanged', `${to}/node/local-path.before-restore`])
  equal(await volume(to, 'pvc-1'), 'the content of a volume')
  equal((await stat(`${to}/node/local-path`)).mode & 0o777, 0o700)
  equal((await stat(`${to}/node/local-path/pvc-1/data`)).mode & 0o777, 0o640)
  equal(await readlink(`${to}/node/local-path/pvc-1/link`), '/etc')
  equal(await readFile(`${before.volumes}/pvc-2/data`, 'utf8'), 'the previous content')
  deepEqual(await readdir(`${to}/node`), ['local-path', 'local-path.before-restore'])

  // As if the restore had been interrupted after the volumes were exchanged: the first ones are still those that are kept.
  await using opened = await openDataDirectory(to, 'cluster')
  await opened.note({ restoring: file })
  await opened[Symbol.asyncDispose]()
  const again = await restoreDirectory(to, file, passphrase, signal)
  equal(await readFile(`${again.before.volumes}/pvc-2/data`, 'utf8'), 'the previous content')
})

test('a machine without volumes has nothing to include', async () => {
  const from = await cluster('/a')
  equal((await take(from, newPath(), { hasVolumes: true })).volumes, undefined)
})

test('with a passphrase, a restore into another directory gives the same cluster', async () => {
  // Long enough not to occur in encrypted bytes by chance.
  const key = '/registry/configmaps/default/only-one'
  const from = await cluster(key)
  const to = newPath()
  const file = newPath()
  const { keys, encryptionConfig } = await take(from, file, { passphrase })
  deepEqual([keys, encryptionConfig], ['included', config])
  equal((await stat(file)).mode & 0o777, 0o600)
  ok(!(await readFile(file)).includes('PRIVATE KEY'))
  ok(!(await readFile(file)).includes(key))
  const report = await restoreDirectory(to, file, passphrase, signal)
  deepEqual([report.before, report.keys], [{ store: undefined, keys: undefined, volumes: undefined }, 'restored'])
  deepEqual(await keysIn(to), [key])
  deepEqual(await identityOf(to), await identityOf(from))
  equal(await readFile(`${to}/pki/encryption-config.yaml`, 'utf8'), 'kind: EncryptionConfiguration')
  deepEqual((await readMarker(to))?.nodes, ['node-0'])
  equal((await stat(`${to}/pki/ca.key`)).mode & 0o777, 0o600)
})

test('without a passphrase, keys are omitted and those of the directory are retained', async () => {
  const from = await cluster('/a')
  const to = await cluster('/b')
  const file = newPath()
  equal((await take(from, file)).keys, 'omitted')
  ok(!(await readFile(file)).includes('PRIVATE KEY'))
  const before = await identityOf(to)
  const report = await restoreDirectory(to, file, undefined, signal)
  deepEqual(
    [report.before, report.keys],
    [{ store: `${to}/store.db.before-restore`, keys: undefined, volumes: undefined }, 'kept'],
  )
  deepEqual(await identityOf(to), before)
  deepEqual(await keysIn(to), ['/a'])
  equal((await restoreDirectory(newPath(), file, undefined, signal)).keys, 'none')
})

test('the previous content of the directory is saved and can be restored', async () => {
  const from = await cluster('/a')
  const to = await cluster('/b')
  const file = newPath()
  const ownKeys = await identityOf(to)
  await take(from, file, { passphrase })
  const { before } = await restoreDirectory(to, file, passphrase, signal)
  deepEqual(before, { store: `${to}/store.db.before-restore`, keys: `${to}/pki.before-restore`, volumes: undefined })
  deepEqual(await readFile(`${to}/pki.before-restore/ca.key`, 'utf8'), ownKeys[1])
  await restoreDirectory(to, `${to}/store.db.before-restore`, undefined, signal)
  deepEqual(await keysIn(to), ['/b'])
})

test('an existing file is replaced only on request', async () => {
  const from = await cluster('/a')
  const file = newPath()
  await writeFile(file, 'mine')
  await rejects(take(from, file), /is already there; choose another file, or replace it with --force/)
  equal(await readFile(file, 'utf8'), 'mine')
  await take(from, file, { isForced: true })
  match(await readFile(file, 'utf8'), /^coxswain snapshot 1\n/)
  deepEqual(
    (await readdir(from)).filter((name) => name.includes('snapshot')),
    [],
  )
})

test('a directory without a cluster has nothing to copy, and an etcd is copied while it runs', async () => {
  await rejects(take(newPath(), newPath()), /there is no cluster in/)
  const at = newPath()
  await using opened = await openDataDirectory(at, 'cluster')
  await opened.note({ etcd: { endpoints: ['http://127.0.0.1:1'], tlsPaths: {}, wasEmpty: true } })
  await rejects(take(at, newPath()), /is taken while it runs; etcd at http:\/\/127\.0\.0\.1:1 cannot be reached/)
})

const flip = async (file: string, at: number) => {
  const content = await readFile(file)
  const index = at < 0 ? content.length + at : at
  content[index] = (content[index] ?? 0) ^ 1
  await writeFile(file, content)
}

const refused: [
  what: string,
  change: (file: string) => Promise<unknown>,
  phrase: string | undefined,
  message: RegExp,
][] = [
  [
    'cut off',
    async (file) => truncate(file, (await stat(file)).size - 100),
    passphrase,
    /the snapshot \S+ is cut off: it has \d+ bytes instead of \d+/,
  ],
  ['too long', (file) => writeFile(file, 'x', { flag: 'a' }), passphrase, /the snapshot \S+ is damaged: it has/],
  ['changed', (file) => flip(file, -200), passphrase, /the snapshot \S+ is damaged: its checksum does not match/],
  [
    'without its header',
    (file) => truncate(file, 40),
    passphrase,
    /the snapshot \S+ is damaged: its header cannot be read/,
  ],
  ['something else', (file) => writeFile(file, 'a letter'.repeat(100)), passphrase, /not a database/],
  ['with another passphrase', () => Promise.resolve(), 'wrong horse', /the passphrase is not that of the snapshot/],
  [
    'without a passphrase',
    () => Promise.resolve(),
    undefined,
    /is encrypted; name its passphrase with --passphrase-file/,
  ],
  ['missing', (file) => rm(file), passphrase, /there is no snapshot/],
]
test('a snapshot that cannot be restored is refused without changes', async (t) => {
  const taken = newPath()
  await take(await cluster('/a'), taken, { passphrase })
  for (const [what, change, phrase, message] of refused)
    await t.test(what, async () => {
      const to = await cluster('/b')
      const file = newPath()
      await copyFile(taken, file)
      await change(file)
      const names = await readdir(to)
      const keys = await identityOf(to)
      await rejects(restoreDirectory(to, file, phrase, signal), message)
      deepEqual([await readdir(to), await identityOf(to), await keysIn(to)], [names, keys, ['/b']])
    })
})

test('an interrupted restore is repeated without losing the saved content', async () => {
  const from = await cluster('/a')
  const to = await cluster('/b')
  const file = newPath()
  await take(from, file, { passphrase })
  await restoreDirectory(to, file, passphrase, signal)
  {
    await using opened = await openDataDirectory(to, 'cluster')
    await opened.note({ restoring: file })
  }
  await rm(`${to}/store.db`)
  const { before } = await restoreDirectory(to, file, passphrase, signal)
  deepEqual(before, { store: `${to}/store.db.before-restore`, keys: `${to}/pki.before-restore`, volumes: undefined })
  equal((await readMarker(to))?.restoring, undefined)
  await restoreDirectory(to, `${to}/store.db.before-restore`, undefined, signal)
  deepEqual(await keysIn(to), ['/b'])
})
