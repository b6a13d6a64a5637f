import { deepEqual, equal, rejects } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { lockDirectory } from './directory-lock.ts'
import { up } from '../run/up.ts'
import { openDataDirectory } from './open-directory.ts'
import { resetDirectory } from './reset-directory.ts'

const { signal } = new AbortController()
const home = await mkdtemp(join(tmpdir(), 'coxswain-reset-'))
after(() => rm(home, { recursive: true, force: true }))
let count = 0
const newPath = () => join(home, String(count++))

async function startAndStop(dataDirectory: string, kubeconfigPath = `${dataDirectory}/admin.kubeconfig`) {
  const log = silentLog
  const place = { host: '127.0.0.1', port: 0, nodes: 1 }
  await (await up({ dataDirectory, kubeconfigPath, store: { kind: 'sqlite' }, ...place, log }))[Symbol.asyncDispose]()
}

test('a directory that coxswain has created is removed completely', async () => {
  const directory = newPath()
  await startAndStop(directory)
  await writeFile(`${directory}/pki/ca.key.1.0.tmp`, 'half')
  const report = await resetDirectory(directory, undefined, signal)
  deepEqual([report.kept, report.isDirectoryRemoved, report.kubeconfigs], [[], true, []])
  equal(existsSync(directory), false)
})

test('in a directory of another owner, only files that coxswain has created are removed', async () => {
  const directory = newPath()
  await mkdir(`${directory}/node_modules`, { recursive: true, mode: 0o700 })
  await mkdir(`${directory}/pki`, { mode: 0o700 })
  await writeFile(`${directory}/notes.txt`, 'mine')
  await writeFile(`${directory}/pki/mine.crt`, 'mine')
  await startAndStop(directory)
  const { kept, isDirectoryRemoved } = await resetDirectory(directory, undefined, signal)
  deepEqual([kept, isDirectoryRemoved], [['node_modules', 'notes.txt', 'pki/mine.crt'], false])
  deepEqual((await readdir(directory)).toSorted(), ['node_modules', 'notes.txt', 'pki'])
})

test('a directory that coxswain has not used is refused and not changed', async () => {
  const directory = newPath()
  await mkdir(`${directory}/pki`, { recursive: true, mode: 0o700 })
  await mkdir(`${directory}/node`)
  await writeFile(`${directory}/pki/ca.key`, 'mine', { mode: 0o600 })
  await rejects(
    resetDirectory(directory, undefined, signal),
    /is not a data directory of coxswain: there is no coxswain\.json in it; nothing was removed/,
  )
  deepEqual((await readdir(directory, { recursive: true })).toSorted(), ['node', 'pki', 'pki/ca.key'])
  await rejects(resetDirectory(newPath(), undefined, signal), /there is no data directory/)
})

test('files that existed before the first start are not removed', async () => {
  const directory = newPath()
  await mkdir(`${directory}/node`, { recursive: true, mode: 0o700 })
  await writeFile(`${directory}/node/mine`, '')
  await startAndStop(directory)
  await resetDirectory(directory, undefined, signal)
  deepEqual(await readdir(directory, { recursive: true }), ['node', 'node/mine'])
})

test('entries in an external kubeconfig are removed, and other entries remain', async () => {
  const directory = newPath()
  const kubeconfig = newPath()
  const mine = 'apiVersion: v1\nkind: Config\nclusters:\n- name: work\n  cluster:\n    server: https://w\n'
  await writeFile(kubeconfig, mine)
  await startAndStop(directory, kubeconfig)
  equal(await readFile(`${kubeconfig}.before-coxswain`, 'utf8'), mine)
  deepEqual((await resetDirectory(directory, undefined, signal)).kubeconfigs, [kubeconfig])
  equal((await readFile(kubeconfig, 'utf8')).startsWith(mine), true)
  equal((await readFile(kubeconfig, 'utf8')).includes('coxswain'), false)
})

test('a kubeconfig that was in the directory before the first start retains its other entries', async () => {
  const directory = newPath()
  await mkdir(directory, { mode: 0o700 })
  const mine = 'clusters:\n- name: work\n  cluster:\n    server: https://w\n'
  await writeFile(`${directory}/admin.kubeconfig`, mine)
  await startAndStop(directory)
  await resetDirectory(directory, undefined, signal)
  const left = await readFile(`${directory}/admin.kubeconfig`, 'utf8')
  deepEqual([left.includes('https://w'), left.includes('coxswain')], [true, false])
})

test('an etcd that does not answer is reported, and nothing is removed', async () => {
  const directory = newPath()
  await startAndStop(directory)
  const before = await readdir(directory)
  const choice = { kind: 'etcd' as const, endpoints: ['http://127.0.0.1:1'], tlsPaths: {} }
  await rejects(
    resetDirectory(directory, choice, signal),
    /the keys of the cluster in etcd at http:\/\/127\.0\.0\.1:1 cannot be removed; nothing else was/,
  )
  deepEqual(await readdir(directory), before)
})

test('a kubelet directory inside a cluster directory is not removed', async () => {
  const directory = newPath()
  await startAndStop(directory)
  await (await openDataDirectory(`${directory}/kubelet`, 'kubelet'))[Symbol.asyncDispose]()
  const { kept, nested, isDirectoryRemoved } = await resetDirectory(directory, undefined, signal)
  deepEqual([kept, nested, isDirectoryRemoved], [[], ['kubelet'], false])
})

test('a reset is refused while the cluster runs', async () => {
  const directory = newPath()
  await startAndStop(directory)
  await using _lock = await lockDirectory(directory)
  await rejects(resetDirectory(directory, undefined, signal), /is in use by process/)
})

test('a kubelet directory is removed together with what the kubelet has created elsewhere', async () => {
  const directory = newPath()
  const elsewhere = newPath()
  await writeFile(elsewhere, '')
  {
    await using opened = await openDataDirectory(directory, 'kubelet')
    await opened.note({ files: [elsewhere] })
    await mkdir(`${directory}/pki`)
    await mkdir(`${directory}/node/pods/x`, { recursive: true })
    for (const name of ['kubelet.kubeconfig', 'pki/kubelet-client-current.pem'])
      await writeFile(`${directory}/${name}`, '', { mode: 0o600 })
  }
  const { kind, isDirectoryRemoved } = await resetDirectory(directory, undefined, signal)
  deepEqual([kind, isDirectoryRemoved, existsSync(directory), existsSync(elsewhere)], ['kubelet', true, false, false])
})
