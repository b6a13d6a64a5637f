import { deepEqual, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { EtcdMember } from '../../store/etcd/etcd-admin-messages.ts'
import { addMember, nextJoinStep, promoteMember, type JoinDeps } from './etcd-join.ts'
import { parseMemberName, parsePeerUrl } from './initial-cluster.ts'

const { signal } = new AbortController()
const peerUrl = (host: number) => parsePeerUrl(`https://10.0.0.${host}:2380`)
const member = (host: number, name = `m${host}`, isLearner = false): EtcdMember => ({
  id: BigInt(host),
  name,
  peerUrls: [peerUrl(host)],
  clientUrls: name === '' ? [] : [`https://10.0.0.${host}:2379`],
  isLearner,
})
const own = { name: parseMemberName('new'), peerUrl: peerUrl(3) }

const steps: readonly [name: string, members: readonly EtcdMember[], kind: string, detail?: string][] = [
  ['is added', [member(1), member(2)], 'add'],
  ['waits for a learner', [member(1), member(2, 'm2', true)], 'wait', 'the member m2 is being added'],
  [
    'waits for a member that has not started',
    [member(1), member(2, '')],
    'wait',
    'the member https://10.0.0.2:2380 is being added',
  ],
  ['replaces a member that was lost', [member(1), member(3)], 'replace', 'm3'],
  ['replaces a learner that was lost', [member(1), member(3, 'm3', true)], 'replace', 'm3'],
  [
    'starts when it was added',
    [member(1), member(3, '', true)],
    'start',
    'm1=https://10.0.0.1:2380,new=https://10.0.0.3:2380',
  ],
]
for (const [name, members, kind, detail] of steps)
  test(`a machine without data ${name}`, () => {
    const step = nextJoinStep(members, own)
    const shown =
      step.kind === 'wait'
        ? step.why
        : step.kind === 'replace'
          ? step.lost.name
          : step.kind === 'start'
            ? step.initial.members.map((each) => `${each.name}=${each.peerUrl}`).join(',')
            : undefined
    deepEqual([step.kind, shown], [kind, detail])
  })

test('names and addresses of members cannot contain others', () => {
  const hostile = { ...member(1), name: 'a=https://10.9.9.9:2380,b' }
  throws(() => nextJoinStep([hostile, member(3, '', true)], own), /is not the name of a member/)
  for (const url of [
    'https://10.0.0.1:2380,b=https://10.9.9.9:2380',
    'http://10.0.0.1:2380',
    'https://name:2380',
    'https://10.0.0.1:2380/x',
    '--force',
  ])
    throws(() => parsePeerUrl(url), /is not the address of a member/)
  deepEqual(parsePeerUrl('https://[fd00::1]:2380'), 'https://[fd00::1]:2380')
})

/** A cluster in memory. */
class FakeCluster {
  members: EtcdMember[]
  calls: string[] = []
  failures = new Map<string, Error[]>()
  running = new Set<string>()

  constructor(...members: EtcdMember[]) {
    this.members = members
  }

  deps(clock: VirtualClock): JoinDeps {
    const act = async <T>(call: string, run: () => T): Promise<T> => {
      this.calls.push(call)
      const failure = this.failures.get(call)?.shift()
      if (failure !== undefined) throw failure
      return run()
    }
    return {
      clock,
      log: silentLog,
      admin: {
        members: async () => this.members,
        addLearner: (url) =>
          act('add', () => {
            const added = member(Number(/(\d+):2380/.exec(url)?.[1]), '', true)
            this.members.push(added)
            return added
          }),
        promote: (id) =>
          act(`promote ${id}`, () => {
            this.members = this.members.map((each) => (each.id === id ? { ...each, isLearner: false } : each))
          }),
        remove: (id) =>
          act(`remove ${id}`, () => {
            this.members = this.members.filter((each) => each.id !== id)
          }),
        status: async (url) => {
          if (!this.running.has(url)) throw new Error('connection refused')
          return undefined as never
        },
      },
    }
  }
}

async function inTime<T>(clock: VirtualClock, result: Promise<T>): Promise<T> {
  result.catch(() => {})
  await clock.advance(300_000)
  return result
}

test('a lost member is removed, and the machine is added in its place', async () => {
  const clock = new VirtualClock()
  const cluster = new FakeCluster(member(1), member(3, 'lost'))
  const initial = await inTime(clock, addMember(own, cluster.deps(clock), signal))
  deepEqual(cluster.calls, ['remove 3', 'add'])
  deepEqual(
    initial.members.map(({ name }) => name),
    ['m1', 'new'],
  )
})

test('a member that runs is not replaced', async () => {
  const clock = new VirtualClock()
  const cluster = new FakeCluster(member(1), member(3, 'alive'))
  cluster.running.add('https://10.0.0.3:2379')
  await rejects(inTime(clock, addMember(own, cluster.deps(clock), signal)), /the member alive of etcd runs at/)
  deepEqual(cluster.calls, [])
})

test('a machine is added when the others are healthy again, and gives up when they do not get so', async () => {
  const clock = new VirtualClock()
  const cluster = new FakeCluster(member(1))
  const unhealthy = () => new Error('etcdserver: unhealthy cluster')
  cluster.failures.set('add', [unhealthy(), unhealthy()])
  await inTime(clock, addMember(own, cluster.deps(clock), signal))
  deepEqual(cluster.calls, ['add', 'add', 'add'])
  const never = new FakeCluster(member(1))
  never.failures.set('add', Array.from({ length: 1_000 }, unhealthy))
  await rejects(inTime(clock, addMember(own, never.deps(clock), signal)), /unhealthy cluster/)
})

test('a machine waits until the one before it votes', async () => {
  const clock = new VirtualClock()
  const cluster = new FakeCluster(member(1), member(2, 'm2', true))
  const added = addMember(own, cluster.deps(clock), signal)
  await clock.advance(60_000)
  deepEqual(cluster.calls, [])
  cluster.members = [member(1), member(2)]
  await inTime(clock, added)
  deepEqual(cluster.calls, ['add'])
})

test('a learner is promoted once it has caught up', async () => {
  const clock = new VirtualClock()
  const cluster = new FakeCluster(member(1), member(3, 'new', true))
  const behind = () => new Error('etcdserver: can only promote a learner member which is in sync with leader')
  cluster.failures.set('promote 3', [behind(), behind()])
  await inTime(clock, promoteMember(peerUrl(3), cluster.deps(clock), signal))
  deepEqual(cluster.calls, ['promote 3', 'promote 3', 'promote 3'])
  deepEqual(
    cluster.members.map(({ isLearner }) => isLearner),
    [false, false],
  )
  // Again: nothing to do.
  await promoteMember(peerUrl(3), cluster.deps(clock), signal)
  deepEqual(cluster.calls.length, 3)
})

test('the error of a member that was removed says how to join again', async () => {
  const cluster = new FakeCluster(member(1))
  await rejects(
    promoteMember(peerUrl(3), cluster.deps(new VirtualClock()), signal),
    /was removed from the cluster; to join again: coxswain reset/,
  )
})
