// Scheduled snapshots of real clusters: of two servers on an etcd of others one takes them, and the other when it has stopped. The file restores the
// cluster.
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { context } from '../../src/base/observability/context.ts'
import { namespace } from '../../src/api/core/v1/namespace.ts'
import { connect } from '../../src/cluster/client/connect.ts'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { coxswain, startProcess } from '../process.ts'
import { until, untilMatch } from '../until.ts'
import { newMachines, type Machine } from './server-process.ts'

const { signal } = new AbortController()
const kubectl = kubectls().at(-1)

const run = async (...args: string[]) => (await promisify(execFile)(coxswain, args)).stdout

async function clusterOf(kubeconfig: string): Promise<string> {
  await using connection = await connect(kubeconfig)
  return (await connection.client.of(namespace).get('kube-system', context(signal))).metadata.uid
}

/** Complete ones. */
const filesOf = async (folder: string) =>
  (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.snapshot'))
const snapshotsOf = ({ directory }: Machine) => filesOf(join(directory, 'snapshots'))

async function k(kubeconfig: string, ...args: string[]): Promise<string> {
  if (kubectl === undefined) throw new Error('there is no kubectl')
  return (await runKubectl(kubectl, kubeconfig, args)).out
}

const shownSuccess = /^coxswain_snapshots_total\{result="success"\} 1$/m

test('scheduled snapshots', { timeout: 600_000 }, async (t) => {
  await using etcd = await EtcdCluster.start(newestEtcd(), 1)
  const { authority, certificate, key } = etcd.files
  const tls = ['--etcd-cafile', authority, '--etcd-certfile', certificate, '--etcd-keyfile', key]
  const store = ['--store', `etcd=${etcd.endpoints.join(',')}`, ...tls]
  await using made = await newMachines()
  const [first, second] = made.machines
  await using ended = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-scheduled-'))
  ended.defer(() => rm(folder, { recursive: true, force: true }))
  const passphrase = join(folder, 'passphrase')
  await writeFile(passphrase, 'correct horse battery\n', { mode: 0o600 })
  const schedule = ['--snapshot-every', '24h', '--snapshot-keep', '2', '--snapshot-passphrase-file', passphrase]
  let file = ''

  await t.test('of two servers, the one that leads takes them', async () => {
    await first.start('--init', ...store, ...schedule)
    await until(async () => (await snapshotsOf(first)).length > 0)
    const names = await snapshotsOf(first)
    equal(names.length, 1)
    file = join(first.directory, 'snapshots', names[0] ?? '')
    equal((await stat(file)).mode & 0o777, 0o600)
    await untilMatch(() => k(first.kubeconfig, 'get', '--raw', '/metrics'), shownSuccess)
    match(await first.command('snapshot', 'list'), /^TAKEN .*\n\S+Z +coxswain +[\d.]+ MB +included +\S+\.snapshot\n$/)
    match(await k(first.kubeconfig, 'get', 'leases', '-n', 'kube-system'), /^coxswain-snapshots /m)
    const token = (await first.command('token', 'create', '--server')).trim()
    await second.start('--join', first.url, '--token', token, ...schedule)
    // It takes part in the election, and is not elected.
    const waits = /^leader_election_master_status\{name="coxswain-snapshots"\} 0$/m
    await untilMatch(() => k(second.kubeconfig, 'get', '--raw', '/metrics'), waits)
    deepEqual([await snapshotsOf(first), await snapshotsOf(second)], [names, []])
  })

  await t.test('when it is killed, the other one continues; the file is the cluster', async () => {
    const cluster = await clusterOf(first.kubeconfig)
    const restored = join(folder, 'restored')
    await run('restore', file, '--passphrase-file', passphrase, '--data-dir', restored)
    {
      await using _ = await startProcess(['up', '--runtime', 'none', '--port', '0', '--data-dir', restored])
      equal(await clusterOf(join(restored, 'admin.kubeconfig')), cluster)
    }
    await first.end('SIGKILL')
    await until(async () => (await snapshotsOf(second)).length > 0)
    await first.start(...store, ...schedule)
    equal((await snapshotsOf(first)).length, 1)
  })

  await t.test('on one machine, and what is refused', async () => {
    const single = join(folder, 'single')
    const shared = join(folder, 'shared')
    const up = ['up', '--runtime', 'none', '--port', '0', '--data-dir', single, '--snapshot-every', '24h']
    for (let start = 0; start < 2; start++) {
      await using _ = await startProcess([...up, '--snapshot-dir', shared])
      await until(async () => (await filesOf(shared)).length > 0)
      equal((await filesOf(shared)).length, 1)
    }
    match(await run('snapshot', 'list', '--snapshot-dir', shared), /omitted +\S+\.snapshot\n$/)
    match(await run('snapshot', 'list', '--data-dir', single), /there are no scheduled snapshots in \S+snapshots\n/)
    match(
      await first.failure('up', '--store', 'memory', '--snapshot-every', '24h'),
      /^coxswain up: --snapshot-every: with --store memory there is nothing to copy/,
    )
  })
})
