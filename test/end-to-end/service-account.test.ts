// The default account of a namespace: created with it, created again when it is deleted, and sufficient for a pod at
// once.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context, namespace, pod, serviceAccount, startCluster } from '../../src/cluster/index.ts'

const ctx = context(new AbortController().signal)

test('a pod can be created right after its namespace, and the default account is recreated', async () => {
  await using cluster = await startCluster()
  const { client, clock } = cluster
  const accounts = client.of(serviceAccount)
  await client.of(namespace).create({ metadata: { name: 'new' } }, '', ctx)
  const made = await client
    .of(pod)
    .create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, 'new', ctx)
  equal(made.spec.serviceAccountName, 'default')
  const first = await accounts.get('default', 'new', ctx)
  await accounts.delete('default', 'new', {}, ctx)
  await clock.advance('1s')
  const second = await accounts.get('default', 'new', ctx)
  equal(first.metadata.uid === second.metadata.uid, false)
})
