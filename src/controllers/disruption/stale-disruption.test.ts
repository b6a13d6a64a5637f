// A pod whose eviction was granted and that was not deleted.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { event } from '../../api/core/v1/event.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { podDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import { context, startCluster } from '../../cluster/index.ts'

test('DisruptionTarget is reset on a pod that was not deleted, and an event is recorded', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const { client, clock } = cluster
  const ctx = context(new AbortController().signal)
  const labels = { app: 'web' }
  const pods = client.of(pod)
  const budgets = client.of(podDisruptionBudget)
  await pods.create(
    { metadata: { name: 'p', labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    'default',
    ctx,
  )
  await budgets.create(
    { metadata: { name: 'b' }, spec: { minAvailable: 0, selector: { matchLabels: labels } } },
    'default',
    ctx,
  )
  await clock.advance('5s')
  const now = rfc3339(clock.nowMs())
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'x',
    lastTransitionTime: now,
  }
  await pods.patch('p', 'default', { status: { conditions: [condition] } }, 'strategic', ctx, 'status')
  await budgets.patch('b', 'default', { status: { disruptedPods: { p: now } } }, 'merge', ctx, 'status')
  const target = async () => {
    const { status } = await pods.get('p', 'default', ctx)
    return status.conditions
      ?.filter(({ type }) => type === 'DisruptionTarget')
      .map(({ status: is, reason }) => [is, reason])
  }
  await clock.advance('1m')
  deepEqual(await target(), [['True', 'EvictionByEvictionAPI']])
  await clock.advance('70s')
  deepEqual(await target(), [['False', undefined]])
  deepEqual((await budgets.get('b', 'default', ctx)).status.disruptedPods, undefined)
  const { items } = await client.of(event).list({ namespace: 'default' }, ctx)
  deepEqual(
    items
      .filter(({ reason }) => reason === 'NotDeleted')
      .map(({ type, message, involvedObject }) => [type, message, involvedObject.name]),
    [['Warning', "Pod was expected by PDB default/b to be deleted but it wasn't", 'p']],
  )
})
