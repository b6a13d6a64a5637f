// Coordinated leader election among the processes of one store, in virtual time: the components of the oldest version lead, a
// leader yields to an older one, and ends are noticed.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { seededRandom } from '../../base/random/random.ts'
import type { VirtualClock } from '../../base/time/virtual-clock.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { lease } from '../../api/coordination/v1/lease.ts'
import { leaseCandidate } from '../../api/coordination/v1beta1/lease-candidate.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { leaseElectionsName } from '../../client/coordinated-election/lease-elections.ts'
import type { Cluster } from './cluster.ts'
import { clientOf, Processes } from './processes.harness.ts'

const ctx = context(new AbortController().signal)
const ofVersion = (identity: string, version: string) => ({
  identity,
  coordinatedElection: { binaryVersion: version, emulationVersion: version },
})
const coordinated = ['kube-controller-manager', 'kube-scheduler'] as const

async function leaders(cluster: Cluster): Promise<readonly (string | undefined)[]> {
  const found = coordinated.map((name) => clientOf(cluster).of(lease).get(name, 'kube-system', ctx))
  return (await Promise.all(found)).map(({ spec }) => spec.holderIdentity)
}

/** The leases that a process shows as held in its metrics. */
const shown = ({ metrics }: Cluster): readonly string[] =>
  Array.from(
    metrics.text().matchAll(/^leader_election_master_status\{name="(kube-[^"]+)"\} 1$/gm),
    ([, name = '']) => name,
  ).toSorted()

const both = (identity: string) => [`${identity}_controllers`, `${identity}_scheduler`]

async function becomesReady(cluster: Cluster, name: string, clock: VirtualClock): Promise<void> {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  await clientOf(cluster).of(deployment).create({ metadata: { name }, spec }, 'default', ctx)
  await clock.advance('1m')
  const { items } = await clientOf(cluster)
    .of(pod)
    .list({ namespace: 'default', labelSelector: `app=${name}` }, ctx)
  deepEqual(
    items.map(({ status }) => status.phase),
    ['Running'],
  )
}

test('the components of the oldest version lead, also when they join later', async () => {
  await using processes = new Processes()
  const { clock } = processes
  const newer = await processes.start(ofVersion('newer', '1.37.0'))
  await clock.advance('20s')
  deepEqual([await leaders(newer), shown(newer)], [both('newer'), coordinated])
  const { spec } = await clientOf(newer).of(lease).get('kube-scheduler', 'kube-system', ctx)
  equal(spec.strategy, 'OldestEmulationVersion')

  const older = await processes.start(ofVersion('older', '1.36.0'))
  await clock.advance('30s')
  deepEqual([await leaders(newer), shown(newer), shown(older)], [both('older'), [], coordinated])
  const yielded = await clientOf(newer).of(lease).get('kube-scheduler', 'kube-system', ctx)
  equal(yielded.spec.preferredHolder, undefined)
  equal(newer.component('scheduler').isRunning, true, 'it is a candidate again')
  await becomesReady(newer, 'web', clock)
})

for (const [how, takeOverMs] of [
  // The election itself moves to another process, too.
  ['stop', 12_000],
  ['crash', 45_000],
] as const)
  test(`after a ${how} of the leader's process, the next oldest version leads`, async () => {
    await using processes = new Processes()
    const { clock } = processes
    const first = await processes.start(ofVersion('a', '1.36.0'))
    const [second, third] = [
      await processes.start(ofVersion('b', '1.37.0')),
      await processes.start(ofVersion('c', '1.36.1')),
    ]
    await clock.advance('40s')
    deepEqual([first, second, third].map(shown), [coordinated, [], []])
    await processes.end(first, how)
    await clock.advance(takeOverMs)
    deepEqual([await leaders(second), shown(second), shown(third)], [both('c'), [], coordinated])
    await becomesReady(second, 'late', clock)
  })

test('at no time do two processes lead while versions come and go', async () => {
  await using processes = new Processes()
  const { clock } = processes
  const running = new Map<string, Cluster>()
  const random = seededRandom(7)
  let leads = 0
  for (let round = 0; round < 6; round++) {
    const identity = `p${round}`
    running.set(identity, await processes.start({ ...ofVersion(identity, `1.${30 + random.below(8)}.0`), nodes: 0 }))
    for (let second = 0; second < 25; second++) {
      await clock.advance('1s')
      for (const name of coordinated) {
        const holders = [...running].filter(([, cluster]) => shown(cluster).includes(name))
        ok(holders.length <= 1, `${name} at ${round}: ${holders.map(([each]) => each).join(' and ')}`)
        leads += holders.length
      }
    }
    if (running.size < 3) continue
    const [gone = ''] = [...running.keys()].toSorted(() => random.fraction() - 0.5)
    await processes.end(running.get(gone) as Cluster, random.below(2) === 0 ? 'stop' : 'crash')
    running.delete(gone)
  }
  ok(leads > 100, `components were led for ${leads} seconds`)
})

test('candidates that have ended are deleted', async () => {
  await using processes = new Processes()
  const { clock } = processes
  const first = await processes.start({ ...ofVersion('a', '1.36.0'), nodes: 0 })
  const second = await processes.start({ ...ofVersion('b', '1.36.0'), nodes: 0 })
  await clock.advance('10s')
  const names = async () =>
    (await clientOf(second).of(leaseCandidate).list({ namespace: 'kube-system' }, ctx)).items.map(
      ({ metadata }) => metadata.name,
    )
  deepEqual(await names(), ['a', 'b'].flatMap(both))
  await processes.end(first, 'crash')
  await clock.advance('70m')
  deepEqual(await names(), both('b'))
  equal((await clientOf(second).of(lease).get(leaseElectionsName, 'kube-system', ctx)).spec.holderIdentity, 'b')
})

test('without the feature, LeaseCandidates do not exist', async () => {
  await using processes = new Processes()
  const cluster = await processes.start({ identity: 'a', nodes: 0 })
  await rejects(clientOf(cluster).of(leaseCandidate).list({ namespace: 'kube-system' }, ctx), {
    code: 404,
    message: 'the server could not find the requested resource',
  })
})
