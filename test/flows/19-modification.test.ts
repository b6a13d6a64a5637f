// Flow 19: a change, the components that react to it, and rejected changes.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { StatusError } from '../../src/cluster/index.ts'
import { context, deployment, pod, startCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder, since } from './page.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }

test('19 modification', async () => {
  await using cluster = await startCluster()
  const deployments = cluster.client.of(deployment)
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  const made = await deployments.create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  await cluster.clock.advance('5s')
  await deployments.patch('web', 'default', { spec: { replicas: 2 } }, 'merge', ctx)
  await cluster.clock.advance('5s')
  equal((await deployments.get('web', 'default', ctx)).status.readyReplicas, 2)

  const other = { spec: { selector: { matchLabels: { app: 'other' } } } }
  await rejects(deployments.patch('web', 'default', other, 'merge', ctx), (error: Error) => {
    equal((error as StatusError).code, 422)
    return error.message.includes('spec.selector') && error.message.includes('field is immutable')
  })
  await rejects(deployments.update({ ...made, metadata: { ...made.metadata, labels } }, ctx), (error: Error) => {
    equal((error as StatusError).code, 409)
    return error.message.includes('the object has been modified')
  })
  const flow = since(cluster.flow(deployment, 'web'), 'patch deployments web')
  inOrder(
    flow,
    /test ──► API Server: patch deployments web → 200/,
    /API Server ══► Store: put deployment web/,
    /API Server --► controller\/deployment: MODIFIED deployments web/,
    /controller\/deployment ──► API Server: update replicasets web-\w+ → 200/,
    /controller\/replica-set ──► API Server: create pods web-\w+-\* → 201/,
    /test ──► API Server: patch deployments web → 422 Invalid/,
    /test ──► API Server: update deployments web → 409 Conflict/,
  )
  const pods = cluster.client.of(pod)
  const small = { requests: { cpu: '100m' }, limits: { cpu: '200m' } }
  const alone = { containers: [{ name: 'c', image: 'i', resources: small }] }
  await pods.create({ metadata: { name: 'alone' }, spec: alone }, 'default', ctx)
  await cluster.clock.advance('5s')
  const larger = { spec: { containers: [{ name: 'c', resources: { limits: { cpu: '400m' } } }] } }
  await pods.patch('alone', 'default', larger, 'strategic', ctx, 'resize')
  await cluster.clock.advance('5s')
  const [status] = (await pods.get('alone', 'default', ctx)).status.containerStatuses ?? []
  deepEqual([status?.resources?.limits?.['cpu'], status?.restartCount], ['400m', 0], 'in place')
  const resized = since(cluster.flow(pod, 'alone'), 'patch pods/resize alone')

  await comparePage('19-modification', 'Modification', [
    {
      heading: 'A scaling and two rejected changes',
      text: 'The Deployment is scaled and its ReplicaSet creates one more pod. A selector cannot be changed (422: `spec.selector: Invalid value: …: field is immutable`), and an update of an old version gets a conflict (409).',
      diagram: excerpt(
        flow,
        /test ──► API Server/,
        /controller\/deployment ──► API Server: update replicasets web/,
        /controller\/replica-set ──► API Server: create pods/,
      ),
    },
    {
      heading: 'In-place resize',
      text: 'The limit of a running container is raised. The kubelet applies it through the runtime without a restart.',
      diagram: excerpt(resized, /patch pods\/resize/, /──► Runtime/, /patch pods\/status/, /put pod/),
    },
  ])
})
