// Flow 11: one of two controller managers leads; when it is killed the other takes over; both never act at the same
// time.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339Micro } from '../../src/base/time/clock.ts'
import { context, lease, namespace, serviceAccount, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder, since } from './page.ts'

const ctx = context(new AbortController().signal)
const aboutLease = /leases? kube-controller-manager/
const start = () => startCluster({ nodes: 0, controllerManagers: 2, seed: 2 })
const held = async ({ client }: TestCluster) =>
  (await client.of(lease).get('kube-controller-manager', 'kube-system', ctx)).spec
const flowOfLease = (cluster: TestCluster) => cluster.flow(lease, 'kube-controller-manager', 'kube-system')

/** The leader and the standby. */
async function roles(cluster: TestCluster): Promise<[leader: string, standby: string]> {
  const { holderIdentity } = await held(cluster)
  return holderIdentity === 'controllers_1' ? ['controllers', 'controllers-1'] : ['controllers-1', 'controllers']
}

async function dies(): Promise<string> {
  await using cluster = await start()
  const { clock } = cluster
  await clock.advance('7s')
  const [leader, standby] = await roles(cluster)
  await cluster.kill(leader)
  await clock.advance('9s')
  equal((await held(cluster)).holderIdentity, `${leader}_1`, 'the standby waits')
  await clock.advance('20s')
  const taken = await held(cluster)
  deepEqual([taken.holderIdentity, taken.leaseTransitions], [`${standby}_1`, 1])
  const flow = flowOfLease(cluster)
  inOrder(
    flow,
    new RegExp(`${leader} ──► API Server: create leases kube-controller-manager → 201`),
    new RegExp(`${leader} ──► API Server: update leases kube-controller-manager → 200`),
    new RegExp(`${standby} ──► API Server: update leases kube-controller-manager → 200`),
  )
  return flow
}

/**
 * Every write takes half a minute during this time; a namespace that is created meanwhile shows which manager acts, and
 * when.
 */
async function storeIsSlow(): Promise<{ leases: string; work: string }> {
  await using cluster = await start()
  const { clock, client } = cluster
  await clock.advance('7s')
  await roles(cluster)
  cluster.faults.slowStore(30_000)
  await clock.advance('14s')
  cluster.faults.heal()
  await client.of(namespace).create({ metadata: { name: 'team' } }, '', ctx)
  await clock.advance('1s')
  equal(await client.of(serviceAccount).find('default', 'team', ctx), undefined, 'no manager acts without the lease')
  await clock.advance('1m')
  equal((await client.of(serviceAccount).list({ namespace: 'team' }, ctx)).items.length, 1)
  return { leases: flowOfLease(cluster), work: cluster.flow(namespace, 'team') }
}

/** A holder whose clock is an hour slow renews in time by its own clock. */
async function clocksDiffer(): Promise<string> {
  await using cluster = await start()
  const { clock, client } = cluster
  await clock.advance('7s')
  const [leader, standby] = await roles(cluster)
  const elsewhere = async () => {
    const renewTime = rfc3339Micro(clock.nowMs() - 3_600_000)
    const spec = { holderIdentity: 'elsewhere', renewTime }
    await client.of(lease).patch('kube-controller-manager', 'kube-system', { spec }, 'merge', ctx)
  }
  await cluster.kill(leader)
  for (let beat = 0; beat < 15; beat++) {
    await elsewhere()
    await clock.advance('2s')
  }
  equal((await held(cluster)).holderIdentity, 'elsewhere')
  await clock.advance('20s')
  equal((await held(cluster)).holderIdentity, `${standby}_1`)
  return since(flowOfLease(cluster), 'test ──► API Server: patch leases')
}

test('11 leader election', async () => {
  const slow = await storeIsSlow()
  await comparePage(
    '11-leader-election',
    'Leader election',
    [
      {
        heading: 'A leader dies',
        text: 'The leader renews its lease every two seconds. After it dies, the standby sees no renewal for fifteen seconds by its own clock and acquires the lease. It then handles what happened in between: [Controller crash](25-controller-crash.md).',
        diagram: excerpt(await dies(), aboutLease),
      },
      {
        heading: 'The store is slow',
        text: "The leader's renewal gets no response. Ten seconds after the last one it stops acting, five seconds before another may start. It restarts and tries to acquire the lease, but the standby is faster (409). A namespace that is created without a leader waits until then; the second diagram starts with it.",
        diagram: `${excerpt(slow.leases, aboutLease)}\n\n${excerpt(slow.work, /serviceaccounts? default/)}`,
      },
      {
        heading: 'Clock skew',
        text: 'A leader whose clock is an hour slow writes old times every two seconds. The standby does not compare them with its own clock; it waits for fifteen seconds without a change.',
        diagram: excerpt(await clocksDiffer(), aboutLease),
      },
    ],
    [
      [
        'the leader cannot reach the API server',
        'it stops at least three seconds before another starts',
        'src/client/leader-election.test.ts',
      ],
    ],
  )
})
