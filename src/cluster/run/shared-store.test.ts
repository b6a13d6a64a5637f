// Several processes on one store, in virtual time: one of them runs the controllers, the scheduler and the simulated nodes.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { lease } from '../../api/coordination/v1/lease.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import type { Cluster } from './cluster.ts'
import { clientOf, Processes } from './processes.harness.ts'

/** What `up` has, too. */
const more = { hasVolumeSnapshots: true, localPath: true } as const
const ctx = context(new AbortController().signal)

/** The holders of all leases in kube-system, by name. */
async function holders(cluster: Cluster): Promise<Readonly<Record<string, string | undefined>>> {
  const { items } = await clientOf(cluster).of(lease).list({ namespace: 'kube-system' }, ctx)
  const elected = items.filter(({ metadata }) => !metadata.name.startsWith('apiserver-'))
  return Object.fromEntries(elected.map(({ metadata, spec }) => [metadata.name, spec.holderIdentity]))
}

const names = [
  'coxswain-simulated-nodes',
  'kube-controller-manager',
  'kube-scheduler',
  'snapshot-controller-leader',
] as const
const allBy = (identity: string) => Object.fromEntries(names.map((name) => [name, identity]))

/** Which leases a process shows as held in its metrics. */
const shown = ({ metrics }: Cluster): readonly string[] =>
  Array.from(
    metrics.text().matchAll(/^leader_election_master_status\{name="([^"]+)"\} 1$/gm),
    ([, name = '']) => name,
  ).toSorted()

async function create(cluster: Cluster, name: string): Promise<void> {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { replicas: 2, selector: { matchLabels: labels }, template }
  await clientOf(cluster).of(deployment).create({ metadata: { name }, spec }, 'default', ctx)
}

const podsOf = async (cluster: Cluster, app: string) =>
  (
    await clientOf(cluster)
      .of(pod)
      .list({ namespace: 'default', labelSelector: `app=${app}` }, ctx)
  ).items

for (const [how, takeOverMs] of [
  ['stop', 5_000],
  ['crash', 20_000],
] as const)
  test(`one of three processes acts; after its ${how} another one does`, async () => {
    await using processes = new Processes()
    const { clock } = processes
    const first = await processes.start({ identity: 'a', ...more })
    await clock.advance('1s')
    const others = [
      await processes.start({ identity: 'b', ...more }),
      await processes.start({ identity: 'c', ...more }),
    ]
    await clock.advance('10s')
    deepEqual(await holders(first), allBy('a'))
    deepEqual([first, ...others].map(shown), [names, [], []])
    await create(others[0] as Cluster, 'web')
    await clock.advance('20s')
    const before = await podsOf(first, 'web')
    deepEqual(
      before.map(({ spec, status }) => [spec.nodeName, status.phase]),
      [
        ['node-0', 'Running'],
        ['node-0', 'Running'],
      ],
    )

    await processes.end(first, how)
    const [left] = others as [Cluster]
    deepEqual(
      Object.values(await holders(left)),
      names.map(() => (how === 'stop' ? '' : 'a')),
    )
    await create(left, 'late')
    await clock.advance(takeOverMs)
    for (const name of names) equal(['b', 'c'].includes((await holders(left))[name] ?? ''), true, name)
    deepEqual(others.flatMap(shown).toSorted(), names)
    await clock.advance('1m')
    equal((await podsOf(left, 'late')).filter(({ status }) => status.phase === 'Running').length, 2)
    // Its machine started again, in another process, with the same pods.
    deepEqual(
      (await podsOf(left, 'web')).map(({ metadata, status }) => [metadata.uid, status.phase]),
      before.map(({ metadata }) => [metadata.uid, 'Running']),
    )
  })

test('a process that loses its leases stops acting and takes part in the next elections', async () => {
  await using processes = new Processes()
  const { clock } = processes
  const first = await processes.start({ identity: 'a', ...more })
  await clock.advance('1s')
  const second = await processes.start({ identity: 'b', ...more })
  await clock.advance('10s')
  // Another process has them, as after a pause of the first one.
  const leases = clientOf(second).of(lease)
  for (const name of names)
    await leases.patch(name, 'kube-system', { spec: { holderIdentity: 'elsewhere' } }, 'merge', ctx)
  await clock.advance('12s')
  deepEqual([first, second].flatMap(shown), [])
  equal(first.component('controllers').isRunning, true)
  await create(second, 'web')
  await clock.advance('1s')
  deepEqual(await podsOf(second, 'web'), [], 'no process acts without the lease')
  await clock.advance('1m')
  deepEqual([first, second].flatMap(shown).toSorted(), names)
  equal((await podsOf(second, 'web')).length, 2)
})

test('the elected process removes the simulated nodes that it does not run', async () => {
  await using processes = new Processes()
  const { clock } = processes
  const nodes = async (cluster: Cluster) =>
    (await clientOf(cluster).of(node).list({}, ctx)).items.map(({ metadata }) => metadata.name)
  const first = await processes.start({ identity: 'a', nodes: 3, ...more })
  await clock.advance('5s')
  const second = await processes.start({ identity: 'b', nodes: 1, ...more })
  await clock.advance('5s')
  deepEqual(await nodes(second), ['node-0', 'node-1', 'node-2'])
  await processes.end(first, 'stop')
  await clock.advance('10s')
  deepEqual(await nodes(second), ['node-0'])
})

test('without an identity there are no elections', async () => {
  await using processes = new Processes()
  const only = await processes.start(more)
  await processes.clock.advance('10s')
  deepEqual(await holders(only), {})
  deepEqual(shown(only), [])
})
