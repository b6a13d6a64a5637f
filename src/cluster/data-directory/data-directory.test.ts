// Broken states of a data directory, each with the message that names the file and the remedy.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { lockDirectory } from './directory-lock.ts'
import { up } from '../run/up.ts'
import { isLeftoverOf } from './directory-contents.ts'
import { readMarker } from './directory-marker.ts'
import { checkStorePresent, openDataDirectory } from './open-directory.ts'
import { directoryState } from './directory-state.ts'

const directories: string[] = []
after(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true, force: true }))))
async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-data-'))
  directories.push(directory)
  return join(directory, 'data')
}

const start = (directory: string) =>
  up({
    dataDirectory: directory,
    kubeconfigPath: `${directory}/admin.kubeconfig`,
    store: { kind: 'sqlite' },
    host: '127.0.0.1',
    port: 0,
    nodes: 0,
    isAlone: true,
    log: silentLog,
  })

/** A directory as a start leaves it. */
async function used(): Promise<string> {
  const directory = await newDirectory()
  await (await start(directory))[Symbol.asyncDispose]()
  return directory
}

const otherUid = 65_534
const isRoot = process.getuid?.() === 0

const broken: [what: string, breakIt: (directory: string) => Promise<void>, message: RegExp][] = [
  [
    'it is writable for others',
    (f) => chmod(f, 0o777),
    /the data directory \S+data can be written by others \(mode 0777\), .* chmod go-w \S+data$/,
  ],
  ['it is writable for its group', (f) => chmod(f, 0o770), /can be written by others \(mode 0770\)/],
  [
    'the keys are writable for others',
    (f) => chmod(`${f}/pki`, 0o703),
    /the data directory \S+\/pki can be written by others \(mode 0703\)/,
  ],
  [
    'a key is readable for others',
    (f) => chmod(`${f}/pki/ca.key`, 0o644),
    /\S+\/pki\/ca\.key can be read or written by others \(mode 0644\).*chmod 600/,
  ],
  [
    'the store is readable for others',
    (f) => chmod(`${f}/store.db`, 0o640),
    /\S+\/store\.db can be read or written by others \(mode 0640\)/,
  ],
  [
    'it is a file',
    async (f) => {
      await rm(f, { recursive: true })
      await writeFile(f, '')
    },
    /the data directory \S+data cannot be used/,
  ],
  [
    'the store is missing',
    (f) => rm(`${f}/store.db`),
    /the store \S+store\.db is missing, but the keys of its cluster are there \(\S+ca\.crt\); restore a snapshot with "coxswain restore <file> --data-dir \S+", or give the cluster up with "coxswain reset --data-dir \S+ --yes"$/,
  ],
  ['the store is empty', (f) => truncate(`${f}/store.db`), /the store \S+store\.db is empty \(0 bytes\), but the keys/],
  [
    'a key is empty',
    (f) => truncate(`${f}/pki/ca.key`),
    /^\S+\/pki\/ca\.key is empty; restore the file, or the cluster from a snapshot/,
  ],
  ['a token signing key is empty', (f) => truncate(`${f}/pki/sa.key`), /^\S+\/pki\/sa\.key is empty; restore the file/],
  [
    'a key cannot be parsed',
    (f) => writeFile(`${f}/pki/sa.key`, 'hello'),
    /^\S+\/pki\/sa\.key holds no private key in PEM/,
  ],
  [
    'a certificate cannot be parsed',
    (f) => writeFile(`${f}/pki/front-proxy-ca.crt`, 'hello'),
    /^\S+\/pki\/front-proxy-ca\.crt holds no certificate in PEM/,
  ],
  [
    'a certificate is missing',
    (f) => rm(`${f}/pki/ca.crt`),
    /^\S+\/pki\/ca\.crt is missing, and the other half of the pair is there/,
  ],
  ['the marker is damaged', (f) => writeFile(`${f}/coxswain.json`, '{'), /^\S+\/coxswain\.json is damaged/],
  [
    'the marker is from a newer version',
    (f) => writeFile(`${f}/coxswain.json`, '{"format":2,"kind":"cluster","foreign":[]}'),
    /written by a newer coxswain \(format 2\)/,
  ],
  [
    'it is the directory of a kubelet',
    (f) => writeFile(`${f}/coxswain.json`, '{"format":1,"kind":"kubelet","foreign":[]}'),
    /is the data directory of a kubelet, not of a cluster; choose another --data-dir/,
  ],
  [
    'its kubeconfig cannot be parsed',
    (f) => writeFile(`${f}/admin.kubeconfig`, '- a\n'),
    /^the kubeconfig \S+admin\.kubeconfig cannot be used: it is not a kubeconfig/,
  ],
  [
    'a restore was interrupted',
    (f) => writeFile(`${f}/coxswain.json`, '{"format":1,"kind":"cluster","foreign":[],"restoring":"/s"}'),
    /the restore of \/s into \S+ was interrupted; restore a snapshot/,
  ],
  ...(isRoot
    ? ([
        [
          'it has another owner',
          (f) => chown(f, otherUid, otherUid),
          /the data directory \S+data belongs to user 65534, and this process runs as \S+ \(0\); run it as the owner, choose another --data-dir, or: chown -R 0 \S+data$/,
        ],
        [
          'a key has another owner',
          (f) => chown(`${f}/pki/sa.key`, otherUid, otherUid),
          /\S+sa\.key belongs to user 65534/,
        ],
      ] as [string, (directory: string) => Promise<void>, RegExp][])
    : []),
]
for (const [what, breakIt, message] of broken)
  test(`refused: ${what}`, async () => {
    const directory = await used()
    await breakIt(directory)
    const before = await readdir(directory).catch(() => [])
    await rejects(start(directory), (error: Error) => {
      match(error.message, message)
      return true
    })
    deepEqual(await readdir(directory).catch(() => []), before, 'nothing is left behind')
  })

test('files that are issued again are no reason to refuse', async () => {
  const directory = await used()
  await truncate(`${directory}/pki/scheduler.key`)
  await rm(`${directory}/pki/controller-manager.crt`)
  await (await start(directory))[Symbol.asyncDispose]()
  ok((await stat(`${directory}/pki/scheduler.key`)).size > 0)
})

test('an interrupted first start is completed', async () => {
  const directory = await newDirectory()
  await (await openDataDirectory(directory, 'cluster'))[Symbol.asyncDispose]()
  await mkdir(`${directory}/pki`, { mode: 0o700 })
  await writeFile(`${directory}/pki/ca.key`, 'half', { mode: 0o600 })
  await (await start(directory))[Symbol.asyncDispose]()
  equal((await readMarker(directory))?.isComplete, true)
})

test('a directory from a version without a marker is adopted', async () => {
  const directory = await used()
  await rm(`${directory}/coxswain.json`)
  await rm(`${directory}/store.db`)
  await using opened = await openDataDirectory(directory, 'cluster')
  deepEqual(opened.marker, { format: 1, kind: 'cluster', foreign: [], isComplete: true, hasStore: true })
  try {
    checkStorePresent(opened, 'sqlite')
    ok(false)
  } catch (error) {
    match((error as Error).message, /store\.db is missing/)
  }
  checkStorePresent(opened, 'memory')
})

test('one process holds the directory at a time, and a lock that could not be written is removed', async () => {
  const directory = await used()
  {
    await using _lock = await lockDirectory(directory)
    equal((await directoryState(directory)).pid, process.pid)
    await rejects(start(directory), /is in use by process/)
  }
  equal((await directoryState(directory)).pid, undefined)
  await rejects(lockDirectory(join(directory, 'none')), /^Error: cannot lock \S+none with \S+none\/lock$/)
})

const leftovers: [name: string, is: boolean][] = [
  ['pki/ca.key.123.0.tmp', true],
  ['pki/ca.key.bak', false],
  ['pki/ca.key', false],
  ['pki/ca.keys.1.1.tmp', false],
]
for (const [name, is] of leftovers)
  test(`${name} ${is ? 'is' : 'is not'} a leftover of pki/ca.key`, () => equal(isLeftoverOf(name, 'pki/ca.key'), is))
