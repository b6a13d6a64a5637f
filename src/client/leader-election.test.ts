// Leader election on a virtual clock: one candidate leads, another takes over, and never two at once.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/observability/context.ts'
import { silentLog } from '../base/observability/log.ts'
import { Metrics, type Gauge } from '../base/observability/metrics.ts'
import { seededRandom } from '../base/random/random.ts'
import { lease } from '../api/coordination/v1/lease.ts'
import { startCluster, type TestCluster } from '../cluster/testing/start-cluster.ts'
import { rfc3339Micro } from '../base/time/clock.ts'
import { StatusError } from '../api/errors/status-error.ts'
import { Client } from './client.ts'
import { leaderGauge, LeaderElection } from './leader-election.ts'
import type { Transport } from './transport/transport.ts'

const ctx = context(new AbortController().signal)

/** A candidate that logs when it leads; its connection to the API server can be cut. */
function candidate(
  cluster: TestCluster,
  transport: Transport,
  identity: string,
  log: string[],
  { gauge, isCoordinated = false }: { readonly gauge?: Gauge | undefined; readonly isCoordinated?: boolean } = {},
) {
  let isCut = false
  let responseMs = 0
  const guarded: Transport = {
    ...transport,
    async send(call, ctx_) {
      if (isCut) throw new StatusError(503, 'ServiceUnavailable', 'cut')
      const response = await transport.send(call, ctx_)
      if (responseMs > 0) await clock.sleep(responseMs, ctx_.signal)
      return response
    },
  }
  const stop = new AbortController()
  const { clock } = cluster
  const election = new LeaderElection({
    client: new Client(guarded),
    name: 'tested',
    identity,
    clock,
    random: seededRandom(identity.charCodeAt(0)),
    log: silentLog,
    isCoordinated,
    ...(gauge === undefined ? {} : { gauge }),
  })
  const note = (what: string) => log.push(`${(clock.nowMs() - startMs) / 1000}s ${identity} ${what}`)
  const running = election.run((tasks) => {
    note('leads')
    tasks.start('work', (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())))
    tasks.signal.addEventListener('abort', () => note('stops'))
  }, stop.signal)
  running.catch(() => undefined)
  return {
    election,
    running,
    stop: () => stop.abort(),
    cut: () => (isCut = true),
    delay: (ms: number) => (responseMs = ms),
  }
}

const startMs = Date.UTC(2030, 0, 1)
const transportOf = (client: Client): Transport => ({
  send: async (call, context_) => {
    const resource = client.of(call.kind as typeof lease)
    if (call.verb === 'get') return resource.get(call.name, call.namespace, context_)
    if (call.verb === 'create') return resource.create(call.body as never, call.namespace, context_)
    return resource.update(call.body as never, context_)
  },
  read: () => Promise.reject(new Error('not used')),
  readText: () => Promise.reject(new Error('not used')),
  list: () => Promise.reject(new Error('not used')),
  watch: () => {
    throw new Error('not used')
  },
})

test('the first candidate leads; another takes over when the lease expires, or at once when it is released', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const log: string[] = []
  const transport = transportOf(cluster.client)
  const first = candidate(cluster, transport, 'a', log)
  await cluster.clock.advance('1s')
  const second = candidate(cluster, transport, 'b', log)
  await cluster.clock.advance('59s')
  deepEqual(log, ['0s a leads'])
  first.stop()
  await cluster.clock.advance('30s')
  const [, stopped, taken] = log
  equal(stopped, '60s a stops')
  ok(Number.parseFloat(taken ?? '') >= 60 + 13 && Number.parseFloat(taken ?? '') <= 60 + 20, String(taken))
  const found = await cluster.client.of(lease).get('tested', 'kube-system', ctx)
  deepEqual([found.spec.holderIdentity, found.spec.leaseTransitions, found.spec.leaseDurationSeconds], ['b', 1, 15])
  second.stop()
  await second.election.release(ctx.signal)
  candidate(cluster, transport, 'c', log)
  await cluster.clock.advance('1s')
  deepEqual(log.slice(-1), ['90s c leads'], 'a released lease is free')
})

test('a gauge shows whether a candidate leads', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const transport = transportOf(cluster.client)
  const gauges = ['a', 'b'].map(() => {
    const metrics = new Metrics()
    return { gauge: leaderGauge(metrics), shown: () => metrics.text().split('\n').at(-2) }
  })
  const [first, second] = gauges
  const leader = candidate(cluster, transport, 'a', [], { gauge: first?.gauge })
  await cluster.clock.advance('1s')
  candidate(cluster, transport, 'b', [], { gauge: second?.gauge })
  await cluster.clock.advance('1s')
  const lines = [0, 1].map((value) => `leader_election_master_status{name="tested"} ${value}`)
  deepEqual([first?.shown(), second?.shown()], lines.toReversed())
  leader.stop()
  await cluster.clock.advance('30s')
  deepEqual([first?.shown(), second?.shown()], lines)
})

test('with coordinated election, a leader that is replaced stops, and leads again when it is elected again', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const log: string[] = []
  const first = candidate(cluster, transportOf(cluster.client), 'a', log, { isCoordinated: true })
  const leases = cluster.client.of(lease)
  const elect = async (holderIdentity: string, preferredHolder?: string) => {
    const known = await leases.find('tested', 'kube-system', ctx)
    const renewTime = rfc3339Micro(cluster.clock.nowMs())
    const spec = {
      holderIdentity,
      leaseDurationSeconds: 15,
      renewTime,
      strategy: 'OldestEmulationVersion',
      ...(preferredHolder === undefined ? {} : { preferredHolder }),
    }
    if (known === undefined) await leases.create({ metadata: { name: 'tested' }, spec }, 'kube-system', ctx)
    else await leases.update({ ...known, spec }, ctx)
    await cluster.clock.advance('10s')
  }
  await cluster.clock.advance('10s')
  deepEqual([log, first.election.isLeader], [[], false], 'no candidate takes a lease')
  await elect('a')
  equal(first.election.isLeader, true)
  await elect('a', 'b')
  deepEqual(
    [log.map((line) => line.split(' ').slice(1).join(' ')), first.election.isLeader],
    [['a leads', 'a stops'], false],
  )
  equal((await leases.get('tested', 'kube-system', ctx)).spec.holderIdentity, '', 'the lease was released')
  await elect('a')
  equal(first.election.isLeader, true)
  // What fails while it is replaced ends nothing: its lease expires.
  first.cut()
  await cluster.clock.advance('1m')
  equal(first.election.isLeader, false)
  await rejects(first.running, /could not be renewed/)
})

test('a leader that cannot renew stops before another leads', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const log: string[] = []
  const transport = transportOf(cluster.client)
  const first = candidate(cluster, transport, 'a', log)
  await cluster.clock.advance('3s')
  candidate(cluster, transport, 'b', log)
  first.cut()
  await cluster.clock.advance('1m')
  deepEqual(
    log.map((line) => line.split(' ').slice(1).join(' ')),
    ['a leads', 'a stops', 'b leads'],
  )
  const [, stopped = '', taken = ''] = log
  ok(Number.parseFloat(taken) - Number.parseFloat(stopped) >= 3, `${stopped} before ${taken}`)
  await rejects(first.running, /could not be renewed/)
})

test('a lease counts from the request of its renewal, because others may see the renewal before the leader does', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const log: string[] = []
  const transport = transportOf(cluster.client)
  const first = candidate(cluster, transport, 'a', log)
  await cluster.clock.advance('1s')
  candidate(cluster, transport, 'b', log)
  // The renewal at 2 s takes effect at once; its response takes 7 s. Later ones do not reach the server.
  first.delay(7_000)
  await cluster.clock.advance('5s')
  first.cut()
  await cluster.clock.advance('1m')
  const [, stopped = '', taken = ''] = log
  deepEqual([stopped, taken.split(' ').slice(1).join(' ')], ['12s a stops', 'b leads'])
  ok(Number.parseFloat(taken) >= 17, taken)
  await rejects(first.running, /could not be renewed/)
})

test('a lease that is acquired with a slow response is not led', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const log: string[] = []
  const slow = candidate(cluster, transportOf(cluster.client), 'a', log)
  slow.delay(11_000)
  await cluster.clock.advance('20s')
  slow.delay(0)
  await cluster.clock.advance('20s')
  equal(log.length, 1)
  ok(Number.parseFloat(log[0] ?? '') > 20, String(log[0]))
  slow.stop()
})

test('a lease is released although the last renewal was not answered', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const log: string[] = []
  const transport = transportOf(cluster.client)
  const first = candidate(cluster, transport, 'a', log)
  await cluster.clock.advance('1s')
  first.delay(5_000)
  await cluster.clock.advance('2s')
  first.stop()
  first.delay(0)
  await cluster.clock.settle()
  await first.election.release(ctx.signal)
  equal((await cluster.client.of(lease).get('tested', 'kube-system', ctx)).spec.holderIdentity, '')
})
