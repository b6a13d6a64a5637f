// The deletion of a namespace in a cluster.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/observability/context.ts'
import { deployment } from '../api/apps/v1/deployment.ts'
import { configMap } from '../api/core/v1/config-map.ts'
import { namespace } from '../api/core/v1/namespace.ts'
import { pod } from '../api/core/v1/pod/pod.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'
import { recheckMs } from './namespace.ts'
import { labels, template } from './runtime/plan.harness.ts'

const ctx = context(new AbortController().signal)

test('the content of a deleted namespace is terminated gracefully, then the namespace is removed', async () => {
  await using cluster = await startCluster()
  const { client, clock } = cluster
  await client.of(namespace).create({ metadata: { name: 'team' } }, '', ctx)
  await client.of(configMap).create({ metadata: { name: 'held', finalizers: ['test/hold'] } }, 'team', ctx)
  await client
    .of(deployment)
    .create(
      { metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: labels }, template: template('1') } },
      'team',
      ctx,
    )
  await clock.advance('5s')
  equal((await client.of(pod).list({ namespace: 'team' }, ctx)).items.length, 2)
  await client.of(namespace).delete('team', '', {}, ctx)
  await clock.advance('2m')
  const { status } = await client.of(namespace).get('team', '', ctx)
  equal(status.phase, 'Terminating', 'an object with a finalizer remains')
  deepEqual(
    status.conditions?.map(({ type, status: value, message }) => `${type} ${value}: ${message}`),
    [
      'NamespaceDeletionDiscoveryFailure False: All resources successfully discovered',
      'NamespaceDeletionGroupVersionParsingFailure False: All legacy kube types successfully parsed',
      'NamespaceDeletionContentFailure False: All content successfully deleted, may be waiting on finalization',
      'NamespaceContentRemaining True: Some resources are remaining: configmaps. has 1 resource instances',
      'NamespaceFinalizersRemaining True: Some content in the namespace has finalizers remaining: test/hold in 1 resource instances',
    ],
  )
  equal((await client.of(pod).list({ namespace: 'team' }, ctx)).items.length, 0)
  await client.of(configMap).patch('held', 'team', { metadata: { finalizers: null } }, 'merge', ctx)
  await clock.advance('8s')
  equal(await client.of(namespace).find('team', '', ctx), undefined)
})

const rechecks: [sinceMs: number, againMs: number, why: string][] = [
  [-5_000, 500, 'the deletion timestamp is in the future'],
  [0, 500, 'most content is deleted at once'],
  [2_000, 500, 'the minimum'],
  [10_000, 2_500, 'a quarter of the elapsed time'],
  [32_000, 8_000, 'the grace period of pods'],
  [3_600_000, 8_000, 'the maximum'],
]
for (const [sinceMs, againMs, why] of rechecks)
  test(`a namespace that has been terminating for ${sinceMs} ms is checked again after ${againMs} ms: ${why}`, () =>
    equal(recheckMs(sinceMs), againMs))
