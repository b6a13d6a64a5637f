// A cluster moves from SQLite to etcd. It stays the same cluster: nothing is lost, uids stay, resource versions never go back, and
// older watches start again.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { context } from '../../src/base/observability/context.ts'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { namespace as namespaceKind } from '../../src/api/core/v1/namespace.ts'
import { connect } from '../../src/cluster/client/connect.ts'
import { isRunning } from '../../src/cluster/data-directory/process-identity.ts'
import { startProcess } from '../process.ts'
import { until } from '../until.ts'
import { newMachines, type Machine } from './server-process.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const namespace = 'default'

async function state(kubeconfig: string) {
  await using connection = await connect(kubeconfig)
  const { client } = connection
  const maps = await client.of(configMap).list({ namespace }, ctx)
  const namespaces = await client.of(namespaceKind).list({}, ctx)
  const own = maps.items.filter(({ metadata }) => metadata.name.startsWith('map-'))
  return {
    maps: own.map(({ metadata, data }) => [metadata.name, metadata.uid, data?.['n']]),
    namespaces: namespaces.items.map(({ metadata }) => [metadata.name, metadata.uid]),
    revisions: own.map(({ metadata }) => Number(metadata.resourceVersion)),
    revision: maps.revision,
  }
}

async function create(kubeconfig: string, numbers: readonly number[]): Promise<void> {
  await using connection = await connect(kubeconfig)
  for (const n of numbers)
    await connection.client
      .of(configMap)
      .create({ metadata: { name: `map-${n}` }, data: { n: String(n) } }, namespace, ctx)
}

/** The error of a watch from a revision. */
async function watchFrom(kubeconfig: string, resourceVersion: string): Promise<unknown> {
  await using connection = await connect(kubeconfig)
  try {
    for await (const event of connection.client.of(configMap).watch({ namespace, resourceVersion }, ctx)) return event
    return undefined
  } catch (error) {
    return error
  }
}

test('a cluster moves from SQLite to etcd', { timeout: 900_000 }, async (t) => {
  await using made = await newMachines()
  const [first, second] = made.machines
  const place = (machine: Machine) => ['--bind', machine.address, '--port', '6443', '--data-dir', machine.directory]
  let before: Awaited<ReturnType<typeof state>>

  await t.test('from SQLite to etcd', async () => {
    await using single = await startProcess(['up', '--runtime', 'none', ...place(first)])
    await create(
      first.kubeconfig,
      Array.from({ length: 20 }, (_, n) => n),
    )
    before = await state(first.kubeconfig)
    await single.end()
    await first.start('--init')
    const after = await state(first.kubeconfig)
    deepEqual([after.maps, after.namespaces], [before.maps, before.namespaces])
    ok(after.revisions.every((revision) => revision > before.revision))
    match(String(await watchFrom(first.kubeconfig, String(before.revision))), /too old resource version|Expired|Gone/i)
    equal(existsSync(join(first.directory, 'store.db')), false)
    equal(existsSync(join(first.directory, 'store.db.before-etcd')), true)
    await first.end()
    await first.start()
    deepEqual((await state(first.kubeconfig)).maps, before.maps)
  })

  await t.test('others join it', async () => {
    const token = (await first.command('token', 'create', '--server')).trim()
    await second.start('--join', first.url, '--token', token)
    await until(async () => (await first.members()).length === 2)
    await create(second.kubeconfig, [100])
  })

  const single = ['up', '--runtime', 'none', '--store', 'sqlite', ...place(first)]
  await t.test('not back to SQLite while others are members', async () => {
    await first.end()
    match(
      await first.failure(...single.slice(0, 5)),
      /--store sqlite: other servers are members of etcd \(\S+\); remove each/,
    )
    match(
      await first.failure('up', '--runtime', 'none'),
      /is the data directory of a server; start it with "coxswain server", or/,
    )
    equal(existsSync(join(first.directory, 'store.db')), false)
    await first.start()
    await second.end()
    await second.command('reset', '--yes')
    await until(async () => (await first.members()).length === 1)
    await first.end()
    await first.start()
    before = await state(first.kubeconfig)
  })

  await t.test('from etcd to SQLite', async () => {
    const member = first.etcdPid
    // After a crash the member is still running.
    await first.end('SIGKILL')
    {
      await using _ = await startProcess(single)
      const after = await state(first.kubeconfig)
      deepEqual([after.maps, after.namespaces], [before.maps, before.namespaces])
      ok(after.revision > before.revision)
      match(
        String(await watchFrom(first.kubeconfig, String(before.revision))),
        /too old resource version|Expired|Gone/i,
      )
      await create(first.kubeconfig, [101])
    }
    equal(await isRunning({ pid: member, since: undefined }), false)
    equal(first.hasData, false)
    // It is a cluster on SQLite now, with and without the flag.
    for (const args of [single, single.filter((each) => !['--store', 'sqlite'].includes(each))]) {
      await using _ = await startProcess(args)
      equal((await state(first.kubeconfig)).maps.length, before.maps.length + 1)
    }
    match(await first.failure('server'), /there is no server in/)
  })

  await t.test('and to etcd again', async () => {
    await first.start('--init')
    equal((await state(first.kubeconfig)).maps.length, before.maps.length + 1)
    await create(first.kubeconfig, [102])
    await first.end()
    match(await first.command('reset', '--yes'), /./)
    equal(existsSync(first.directory), false)
  })
})
