import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { causeOf, FlowRecorder, type FlowEvent, type FlowId } from '../../base/observability/flow-recorder.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { spanOf } from '../../base/observability/span.ts'
import { flowEventsPath } from '../../api/coxswain/v1/flow-protocol.ts'
import { handleFlowEvents } from '../../apiserver/flow-endpoints/flow-events.ts'
import { ownRecord, type FlowReading } from '../../apiserver/flow-endpoints/flow-records.ts'
import { userWithName } from '../../apiserver/request/request.ts'
import { flowTreesOf } from '../../flows/flow-graph.ts'
import { textDiagram } from '../../flows/text-diagram.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { PeerFlowRecords } from './peer-flow-records.ts'
import type { PeerServer } from './peer-servers.ts'

const web = { resource: 'deployments', namespace: 'default', name: 'web' }
const minuteMs = 60_000

/** The record of another server, as it answers requests. */
class Peer {
  readonly server: PeerServer
  readonly flow: FlowRecorder
  failure: Error | undefined
  requests = 0

  constructor(name: string, clock: VirtualClock) {
    this.server = { holder: `${name}_1`, name: `${name} on machine-${name}`, origin: `https://${name}:6443` }
    this.flow = new FlowRecorder(clock)
  }

  async *read(target: string, clock: VirtualClock, signal: AbortSignal): AsyncGenerator<string> {
    this.requests++
    if (this.failure !== undefined) throw this.failure
    const url = new URL(target, 'https://peer')
    const user = userWithName('system:apiserver')
    const request = {
      context: context(signal),
      credentials: { kind: 'asserted', user } as const,
      user,
      sender: '',
      agent: '',
      target: { kind: 'path', verb: 'get', path: flowEventsPath, accept: '' } as const,
      query: url.searchParams,
      body: { kind: 'none' } as const,
    }
    // A server that asked all others in turn would never end.
    const records = { read: () => Promise.reject(new Error('only the own record was asked for')) }
    const response = await handleFlowEvents(request, { flow: this.flow, records, clock })
    ok(response.kind === 'wire')
    for await (const text of response.response.body as AsyncIterable<string>) {
      if (this.failure !== undefined) throw this.failure
      yield text
    }
  }
}

class Servers implements AsyncDisposable {
  readonly clock = new VirtualClock(1_000_000)
  readonly own = new FlowRecorder(this.clock)
  readonly peers: readonly Peer[]
  readonly records: PeerFlowRecords
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  listFailure: Error | undefined

  constructor(...names: string[]) {
    this.peers = names.map((name) => new Peer(name, this.clock))
    this.records = new PeerFlowRecords({
      own: this.own,
      events: 1_024,
      peers: {
        list: async () => {
          if (this.listFailure !== undefined) throw this.listFailure
          return this.peers.map(({ server }) => server)
        },
        read: ({ name }, target, signal) => {
          const peer = this.peers.find(({ server }) => server.name === name)
          ok(peer !== undefined)
          return peer.read(target, this.clock, signal)
        },
      },
      clock: this.clock,
      random: seededRandom(1),
      crypto: nodeCrypto,
    })
    this.#running = this.records.run(this.#stop.signal).catch(() => undefined)
  }

  peer(index = 0): Peer {
    const peer = this.peers[index]
    ok(peer !== undefined)
    return peer
  }

  async read(): Promise<FlowReading> {
    const reading = this.records.read(this.#stop.signal)
    await this.clock.advance(0)
    return reading
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('stopped'))
    await this.#running
  }
}

const whats = ({ flow }: FlowReading): readonly string[] => Array.from(flow.events(), ({ what }) => what)

/** The own server writes a Deployment; the controller, at the other server, creates a ReplicaSet. */
async function record(own: FlowRecorder, other: FlowRecorder, clock: VirtualClock): Promise<void> {
  const call = own.record('call', 'kubectl', 'apiserver', 'create deployments web', web)
  own.record('persist', 'apiserver', 'store', 'put deployment web', web, 7, causeOf(call))
  own.finish(call, '201')
  await clock.advance(10)
  other.record('watch', 'apiserver', 'controllers', 'ADDED deployments web', web, 7)
  const cause = { event: 0 as FlowId, also: [], revisions: [7] }
  const woken = other.record(
    'call',
    'controller/deployment',
    'apiserver',
    'create replicasets web-1',
    undefined,
    0,
    cause,
  )
  other.explain(woken, { reason: () => 'ClusterRole deployment-controller' })
  other.startStages(woken, clock.monotonicMs())
  other.passStage(woken, 'authorization')
  const rs = { resource: 'replicasets', namespace: 'default', name: 'web-1' }
  other.record('persist', 'apiserver', 'store', 'put replicaset web-1', rs, 8, causeOf(woken))
  other.passStage(woken, 'store')
  await clock.advance(10)
  own.record('watch', 'apiserver', 'controllers', 'ADDED replicasets web-1', rs, 8)
}

test('the records of two servers are one, in order of time, with the causes across servers', async () => {
  await using servers = new Servers('b')
  await record(servers.own, servers.peer().flow, servers.clock)
  const reading = await servers.read()
  deepEqual(reading.missing, [])
  deepEqual(whats(reading), [
    'create deployments web',
    'put deployment web',
    'ADDED deployments web',
    'create replicasets web-1',
    'put replicaset web-1',
    'ADDED replicasets web-1',
  ])
  const [tree] = flowTreesOf([...reading.flow.events()], web)
  ok(tree !== undefined)
  const drawn = textDiagram([tree], { fold: false, rules: true })
  const places = [
    'create deployments',
    'put deployment',
    'ADDED deployments',
    'create replicasets',
    'put replicaset',
  ].map((text) => drawn.indexOf(text))
  deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  )
  ok(places.every((place) => place >= 0))
  const call = [...reading.flow.events()].find(({ what }) => what === 'create replicasets web-1') as FlowEvent
  equal(call.allowedBy, 'ClusterRole deployment-controller')
  deepEqual(
    call.stages.map(({ stage, afterEvent }) => [stage, reading.flow.get(afterEvent)?.what]),
    [
      ['authorization', 'create replicasets web-1'],
      ['store', 'put replicaset web-1'],
    ],
  )
})

test('what happens later follows, also the end of a call', async () => {
  await using servers = new Servers('b')
  const { clock } = servers
  const call = servers.peer().flow.record('call', '', 'apiserver', 'create pods', undefined)
  const reading = await servers.read()
  servers.peer().flow.attribute(call, 'kubectl')
  servers.peer().flow.identify(call, web)
  servers.peer().flow.finish(call, '409')
  servers.own.record('step', 'scheduler', 'scheduler', 'queue')
  await clock.advance(1_000)
  deepEqual(
    Array.from(reading.flow.events(), ({ from, what, outcome, object }) => [from, what, outcome, object?.name]),
    [
      ['kubectl', 'create pods', '409', 'web'],
      ['scheduler', 'queue', undefined, undefined],
    ],
  )
})

test('a call that was denied to a user at another server is denied to the user in the common record', async () => {
  await using servers = new Servers('b')
  const { flow } = servers.peer()
  flow.deny(flow.record('call', 'eve', 'apiserver', 'list secrets'), 'eve')
  const reading = await servers.read()
  deepEqual(
    reading.flow.deniedTo('eve').map(({ what }) => what),
    ['list secrets'],
  )
})

test('an event that a kubelet has reported to one server causes calls at the other one', async () => {
  await using servers = new Servers('b')
  const span = spanOf('0af7651916cd43dd8448eb211c80319c', 5)
  const cause = { event: 0 as FlowId, also: [], revisions: [] }
  const reported = {
    arrow: 'step',
    from: 'kubelet/a',
    to: 'kubelet/a',
    what: 'started',
    revision: 0,
    outcome: undefined,
  } as const
  servers
    .peer()
    .flow.recordReported({ ...reported, atMs: servers.clock.nowMs(), endMs: undefined, object: web, cause, span })
  servers.own.record('call', 'kubelet/a', 'apiserver', 'patch pods/status', web, 0, { ...cause, span })
  const { flow } = await servers.read()
  const [tree] = flowTreesOf([...flow.events()], web)
  deepEqual([tree?.event.what, tree?.children.map(({ event }) => event.what)], ['started', ['patch pods/status']])
})

test('a server that cannot be read is named, and read again later without duplicates', async () => {
  await using servers = new Servers('b', 'c')
  servers.peer(0).flow.record('step', 'b', 'b', 'first')
  servers.peer(1).flow.record('step', 'c', 'c', 'of c')
  servers.peer(1).failure = new Error('connect ECONNREFUSED')
  const reading = await servers.read()
  deepEqual([reading.missing, whats(reading)], [['c on machine-c: connect ECONNREFUSED'], ['first']])
  servers.peer(1).failure = undefined
  servers.peer(0).failure = new Error('socket hang up')
  servers.peer(0).flow.record('step', 'b', 'b', 'second')
  await servers.clock.advance(4_000)
  deepEqual(reading.missing, ['c on machine-c: connect ECONNREFUSED', 'b on machine-b: socket hang up'])
  servers.peer(0).failure = undefined
  await servers.clock.advance(6_000)
  deepEqual([reading.missing, whats(reading).toSorted()], [[], ['first', 'of c', 'second']])
})

test('a server without an address for other machines is named', async () => {
  await using servers = new Servers('b')
  Object.assign(servers.peer().server, { origin: undefined })
  const reading = await servers.read()
  deepEqual(reading.missing, ['b on machine-b: it has no address that other machines can reach'])
})

test('without other servers, and while they are not known, the own record is read', async () => {
  await using servers = new Servers()
  equal((await servers.read()).flow, servers.own)
  await servers.clock.advance(10_000)
  servers.listFailure = new Error('etcd is down')
  const { flow, missing } = await servers.read()
  deepEqual([flow === servers.own, missing], [true, ['other API servers: etcd is down']])
})

test('a record that nothing reads is dropped, and nothing is asked of other servers any more', async () => {
  await using servers = new Servers('b')
  const peer = servers.peer()
  const { flow } = await servers.read()
  const unlisten = flow.listen(() => {})
  await servers.clock.advance(5 * minuteMs)
  equal((await servers.read()).flow, flow)
  unlisten()
  await servers.clock.advance(2 * minuteMs)
  equal(peer.requests, 1)
  equal(peer.flow.isFollowed, false)
  peer.flow.record('step', 'b', 'b', 'later')
  const again = await servers.read()
  notEqual(again.flow, flow)
  deepEqual(whats(again), ['later'])
  equal(ownRecord(flow).read(new AbortController().signal) instanceof Promise, false)
})
