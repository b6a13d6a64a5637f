// Flow 25: the controllers crash, a Deployment is scaled meanwhile, and the next leader handles what was missed.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context, deployment, lease, pod, startCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder, since } from './page.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'web' }

test('25 controller crash', async () => {
  await using cluster = await startCluster({ controllerManagers: 2, seed: 2 })
  const { client, clock } = cluster
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  await clock.advance('5s')
  await client.of(deployment).create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  await clock.advance('5s')
  const { holderIdentity } = (await client.of(lease).get('kube-controller-manager', 'kube-system', ctx)).spec
  await cluster.kill(holderIdentity?.replace('_1', '') ?? '')
  await client.of(deployment).patch('web', 'default', { spec: { replicas: 2 } }, 'merge', ctx)
  const count = async () => (await client.of(pod).list({ namespace: 'default' }, ctx)).items.length
  await clock.advance('9s')
  equal(await count(), 1, 'no controller acts')
  await clock.advance('20s')
  equal(await count(), 2)
  const flow = cluster.flow(deployment, 'web')
  const gap = since(flow, 'patch deployments web')
  inOrder(
    gap,
    /controller\/deployment ──► API Server: update replicasets web-\w+ → 200/,
    /controller\/replica-set ──► API Server: create pods web-\w+-\* → 201/,
  )
  await comparePage('25-controller-crash', 'Controller crash', [
    {
      heading: 'Scaled without a leader',
      text: 'The controllers are down when the Deployment is scaled. The standby acquires the lease when it has expired, lists objects and finds what is to be done.',
      diagram: excerpt(
        gap,
        /patch deployments web/,
        /controller\/deployment ──► API Server: update replicasets web/,
        /controller\/replica-set ──► API Server: create pods/,
      ),
    },
  ])
})
