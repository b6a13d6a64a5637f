// Flow 21: watches that break: who goes on where it was, who lists again, and that nothing is missed.
import { equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { context, deployment, pod, startCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, since } from './page.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }

test('21 watch and resync', async () => {
  await using cluster = await startCluster()
  const deployments = cluster.client.of(deployment)
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  await deployments.create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  await cluster.clock.advance('5s')
  for (const [index, how] of (['gone', 'reset', 'silence'] as const).entries()) {
    ok(cluster.faults.breakWatches(how) > 0)
    // Nobody is back before the change is made.
    for (const verb of ['list', 'watch'] as const) cluster.faults.refuse({ verb, code: 503, times: 1_000 })
    await deployments.patch('web', 'default', { spec: { replicas: index + 2 } }, 'merge', ctx)
    if (how !== 'silence') cluster.faults.heal()
    await cluster.clock.advance('5s')
    cluster.faults.heal()
    await cluster.clock.advance('5s')
    equal((await cluster.client.of(pod).list({ namespace: 'default' }, ctx)).items.length, index + 2, how)
  }
  const flow = since(cluster.flow(deployment, 'web'), 'patch deployments web')
  match(flow, /controller\/replica-set ──► API Server: create pods web-\w+-\* → 201/)
  await comparePage('21-watch-and-resync', 'Watch and resync', [
    {
      heading: 'Three scalings over broken watches',
      text: 'Before the first all watches end with 410: their clients list again. Before the second they end without a word and are resumed. Both times nobody is let in again before the change is made. Before the third they fall silent: nobody acts for five seconds, until the connections are found dead.',
      diagram: excerpt(flow, /test ──► API Server: patch/, /controller\/replica-set ──► API Server: create pods/),
    },
  ])
})
