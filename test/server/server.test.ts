// A control plane of three machines with three members of etcd: servers join, are killed, lost and replaced, lose their
// quorum and get it back. Nothing that was acknowledged is lost.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../src/base/time/clock.ts'
import { context } from '../../src/base/observability/context.ts'
import { hasReason } from '../../src/api/errors/status-error.ts'
import { deployment } from '../../src/api/apps/v1/deployment.ts'
import { objectKey } from '../../src/api/meta/object.ts'
import { node } from '../../src/api/core/v1/node/node.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { connect } from '../../src/cluster/client/connect.ts'
import { fetchSchedulingExplanation } from '../../src/cluster/client/scheduling-explanation.ts'
import { findFlowRecord } from '../../src/cluster/client/fetch-flow-events.ts'
import { isRunning } from '../../src/cluster/data-directory/process-identity.ts'
import { flowTreesOf } from '../../src/flows/flow-graph.ts'
import { textDiagram } from '../../src/flows/text-diagram.ts'
import { until } from '../until.ts'
import { newMachines, type Machine } from './server-process.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const namespace = 'default'

async function create({ kubeconfig }: Machine, name: string): Promise<void> {
  await using connection = await connect(kubeconfig)
  await connection.client.of(configMap).create({ metadata: { name } }, namespace, ctx)
}

/** As a client does while a leader is elected. A write whose outcome is not known may have been applied. */
const createEventually = (machine: Machine, name: string) =>
  until(() =>
    create(machine, name).then(
      () => true,
      (error: unknown) => hasReason(error, 'AlreadyExists'),
    ),
  )

async function names({ kubeconfig }: Machine): Promise<readonly string[]> {
  await using connection = await connect(kubeconfig)
  const { items } = await connection.client.of(configMap).list({ namespace }, ctx)
  return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt')
}

const voting = (machines: readonly Machine[]) => machines.map(({ address }) => `${address} votes`).toSorted()
const votes = (machine: Machine, expected: readonly Machine[]) =>
  until(async () => JSON.stringify((await machine.members()).toSorted()) === JSON.stringify(voting(expected)))

test('three servers', { timeout: 900_000 }, async (t) => {
  await using made = await newMachines()
  const { machines } = made
  const [first, second, third] = machines
  const serverToken = async (machine: Machine) => (await machine.command('token', 'create', '--server')).trim()

  await t.test('the first one needs no other', async () => {
    match(await first.failure('server'), /there is no server in .*--init.*--join/)
    await first.start('--init')
    deepEqual(await first.members(), voting([first]))
    await create(first, 'before')
    const pki = join(first.directory, 'pki')
    for (const name of ['etcd/ca.key', 'etcd/peer.key', 'etcd/server.key', 'apiserver-etcd-client.key'])
      equal(statSync(join(pki, name)).mode & 0o777, 0o600, name)
    equal(statSync(join(first.directory, 'etcd', 'data')).mode & 0o777, 0o700)
  })

  await t.test('a token for nodes does not make a server', async () => {
    const nodes = (await serverToken(first)).replace(/\.[0-9a-f]{64}$/, '')
    const said = await second.failure('server', '--bind', second.address, '--join', first.url, '--token', nodes)
    match(
      said,
      /^coxswain server: the token \w{6} is for nodes, not for servers; create one for servers: \S.*--server$/,
    )
    equal(second.hasData, false)
  })

  await t.test('two join at once', async () => {
    const token = await serverToken(first)
    await Promise.all([second, third].map((machine) => machine.start('--join', first.url, '--token', token)))
    await votes(third, machines)
    for (const name of ['ca.key', 'sa.key', 'front-proxy-ca.key', 'etcd/ca.key'])
      equal(
        readFileSync(join(third.directory, 'pki', name), 'utf8'),
        readFileSync(join(first.directory, 'pki', name), 'utf8'),
        name,
      )
    deepEqual(await names(third), ['before'])
    const status = await second.command('status')
    match(status, /^ {2}etcd +3 of 3 members respond; leader \S+; [\d.]+ MB, [\d.]+ MB in use$/m)
  })

  await t.test('each server shows what all of them have recorded', async () => {
    await using connection = await connect(second.kubeconfig)
    await connection.client.of(node).create({ metadata: { name: 'closed' }, spec: { unschedulable: true } }, '', ctx)
    const labels = { app: 'web' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }
    const spec = { replicas: 1, selector: { matchLabels: labels }, template }
    await connection.client.of(deployment).create({ metadata: { name: 'web' }, spec }, namespace, ctx)
    const object = { resource: 'deployments', namespace, name: 'web' }
    for (const { kubeconfig } of machines)
      await until(async () => {
        const record = await findFlowRecord(readFileSync(kubeconfig, 'utf8'), signal)
        deepEqual(record?.notes, [])
        const [tree = ''] = flowTreesOf(record?.events ?? [], object).map((root) =>
          textDiagram([root], { fold: false }),
        )
        // Its author spoke to the second server; the controllers, wherever they run, to their own.
        return /create deployments web[^]*create replicasets web-[^]*create pods web-/.test(tree)
      })
    const { items } = await connection.client.of(pod).list({ namespace }, ctx)
    const [created] = items
    ok(created !== undefined)
    const key = objectKey(namespace, created.metadata.name)
    for (const { kubeconfig } of machines)
      await until(async () => {
        const decision = await fetchSchedulingExplanation(readFileSync(kubeconfig, 'utf8'), key, signal)
        return decision?.message.startsWith('0/1 nodes are available') === true
      })
  })

  await t.test('a killed server leaves its member running; the next start takes over', async () => {
    const before = first.etcdPid
    await first.end('SIGKILL')
    await votes(second, machines)
    await createEventually(second, 'while-one-is-killed')
    await until(async () => {
      const record = await findFlowRecord(readFileSync(second.kubeconfig, 'utf8'), signal)
      return (
        record?.notes.some((note) => /^the messages of this server are missing: apiserver-\w+ on /.test(note)) === true
      )
    })
    await first.start()
    notEqual(first.etcdPid, before)
    equal(await isRunning({ pid: before, since: undefined }), false)
    await votes(first, machines)
    deepEqual(await names(first), ['before', 'while-one-is-killed'])
  })

  await t.test('a member that is killed is restarted', async () => {
    const before = second.etcdPid
    process.kill(before, 'SIGKILL')
    await until(async () => second.etcdPid !== before && (await isRunning({ pid: second.etcdPid, since: undefined })))
    await votes(second, machines)
  })

  await t.test('a machine that is lost is replaced by a new one at its address', async () => {
    await first.lose()
    await createEventually(second, 'while-one-is-lost')
    const token = await serverToken(second)
    await first.start('--join', second.url, '--token', token)
    await votes(first, machines)
    deepEqual(await names(first), ['before', 'while-one-is-killed', 'while-one-is-lost'])
  })

  await t.test('without a quorum writes fail in time, cached reads continue, and all is back with it', async () => {
    await Promise.all([first.end(), second.end()])
    const startMs = realClock.monotonicMs()
    const failure = await create(third, 'without-quorum').then(() => undefined, String)
    // The deadline of a request to the API server is a minute; etcd without a leader answers at once.
    ok(realClock.monotonicMs() - startMs < 60_000)
    match(String(failure), /etcd has no leader|etcd cannot be reached|etcd did not respond/)
    // Members of etcd 3.4 list all members without a quorum. Newer ones do not, and this server knows two or three.
    const state =
      /^ {2}etcd +(1 of 3 members respond; no leader; .+|etcd has no quorum: of [23] known members, only \S+ responds)$/m
    await until(async () => state.test(await third.command('status')))
    await using connection = await connect(third.kubeconfig)
    const cached = await connection.client.of(configMap).list({ namespace, resourceVersion: '0' }, ctx)
    ok(cached.items.some(({ metadata }) => metadata.name === 'before'))
    await Promise.all([first.start(), second.start()])
    await createEventually(third, 'with-quorum')
    const found = await names(first)
    ok(found.includes('with-quorum') && found.includes('before'))
  })

  await t.test('a server that is reset leaves, and the others continue', async () => {
    await third.end()
    match(await third.command('reset', '--yes'), /^The member \S+ of etcd has left its cluster\.$/m)
    await votes(first, [first, second])
    await createEventually(first, 'without-the-third')
    equal(third.hasData, false)
  })

  await t.test('a server whose member was removed on another one does not start, and says what to do', async () => {
    await third.start('--join', first.url, '--token', await serverToken(first))
    await votes(first, machines)
    await third.end()
    const nameOf = async ({ address }: Machine) =>
      new RegExp(`^(\\S+) +https://${address}:`, 'm').exec(await first.command('member', 'list'))?.[1] ?? ''
    match(await first.failure('member', 'remove', await nameOf(first)), /is the member of this machine/)
    const name = await nameOf(third)
    equal(await first.command('member', 'remove', name), `member ${name} removed\n`)
    await votes(first, [first, second])
    match(await third.failure('server'), /was removed from the cluster; to join again: coxswain reset/)
    await third.command('reset', '--yes')
  })
})
