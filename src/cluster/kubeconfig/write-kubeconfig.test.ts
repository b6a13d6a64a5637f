import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import {
  chmod,
  chown,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { checkKubeconfig, removeKubeconfig, writeKubeconfig } from './write-kubeconfig.ts'

const { signal } = new AbortController()
const directory = await mkdtemp(join(tmpdir(), 'coxswain-kubeconfig-'))
after(() => rm(directory, { recursive: true, force: true }))
let count = 0
const newPath = () => join(directory, `config-${count++}`)

const owner = { name: 'home', dataDirectory: '/data' }
const access = { server: 'https://127.0.0.1:1', authority: 'CA', identity: { certificate: 'C', key: 'K' } }
const write = (path: string) => writeKubeconfig(path, owner, access, realClock, signal)
const work = 'apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\ncurrent-context: work\nusers: []\n'

test('a new file is private, and is rewritten without a backup', async () => {
  const path = newPath()
  for (let times = 0; times < 2; times++)
    deepEqual(await write(path), { contextName: 'home', isCurrent: true, backupPath: undefined })
  equal((await stat(path)).mode & 0o777, 0o600)
})

test('an existing file gets the entries once, with one private backup', async () => {
  const path = newPath()
  await writeFile(path, work)
  await chmod(path, 0o644)
  const backupPath = `${path}.before-home`
  deepEqual(await write(path), { contextName: 'home', isCurrent: false, backupPath })
  equal(await readFile(backupPath, 'utf8'), work)
  for (const one of [path, backupPath]) equal((await stat(one)).mode & 0o777, 0o600)
  equal((await write(path)).backupPath, undefined)
  match(await readFile(path, 'utf8'), /^current-context: work$/m)
  ok(await removeKubeconfig(path, owner, realClock, signal))
  equal(await removeKubeconfig(path, owner, realClock, signal), false)
})

test('a file without other entries is removed', async () => {
  const path = newPath()
  await write(path)
  ok(await removeKubeconfig(path, owner, realClock, signal))
  equal((await readdir(directory)).includes(path), false)
  equal(await removeKubeconfig(path, owner, realClock, signal), false)
})

test('a symbolic link remains a link, and the owner of a file does not change', async () => {
  const path = newPath()
  const link = newPath()
  await writeFile(path, work)
  await symlink(path, link)
  if (process.getuid?.() === 0) await chown(path, 1234, 1234)
  await write(link)
  equal(await readlink(link), path)
  match(await readFile(path, 'utf8'), /name: home/)
  if (process.getuid?.() === 0) for (const one of [path, `${path}.before-home`]) equal((await stat(one)).uid, 1234)
})

test('a file that cannot take the entries is reported before anything is written', async () => {
  const path = newPath()
  await writeFile(path, 'clusters: [')
  await rejects(checkKubeconfig(path, owner), /^Error: the kubeconfig \S+ cannot be used: it is not valid YAML/)
  await rejects(checkKubeconfig(directory, owner), /the kubeconfig \S+ cannot be read/)
  await writeFile(path, '#'.repeat((4 << 20) + 1))
  await rejects(checkKubeconfig(path, owner), /the kubeconfig \S+ cannot be read/)
  await checkKubeconfig(newPath(), owner)
})

test('the lock of kubectl is awaited for a limited time; the lock of a crashed program is ignored', async () => {
  const path = newPath()
  await writeFile(path, work)
  await writeFile(`${path}.lock`, '')
  const frozen = { ...realClock, nowMs: () => 0, sleep: () => Promise.resolve() }
  await rejects(
    writeKubeconfig(path, owner, access, frozen, signal),
    /is being written by another program; if none runs, remove \S+\.lock/,
  )
  await utimes(`${path}.lock`, 1, 1)
  equal((await write(path)).contextName, 'home')
  equal(
    (await readdir(directory)).some((name) => name.endsWith('.lock')),
    false,
  )
})
