// Flow 09: who may do what: the rule that let a call through, the words of a refusal, and rights that nobody may give.
import { match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import {
  configMap,
  context,
  pod,
  role,
  roleBinding,
  serviceAccount,
  startCluster,
  StatusError,
} from '../../src/cluster/index.ts'
import { comparePage, excerpt } from './page.ts'

const ctx = context(new AbortController().signal)

test('09 access decision', async () => {
  await using cluster = await startCluster()
  const { client } = cluster
  const name = 'reader'
  await client.of(serviceAccount).create({ metadata: { name } }, 'default', ctx)
  await client
    .of(role)
    .create({ metadata: { name }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }, 'default', ctx)
  const subjects = [{ kind: 'ServiceAccount', name, namespace: 'default' }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
  await client.of(roleBinding).create({ metadata: { name }, subjects, roleRef }, 'default', ctx)
  const containers = [{ name: 'c', image: 'i' }]
  await client.of(pod).create({ metadata: { name: 'web' }, spec: { containers } }, 'default', ctx)
  await cluster.clock.advance('1s')

  const asReader = cluster.as(`system:serviceaccount:default:${name}`)
  await asReader.of(pod).get('web', 'default', ctx)
  const refused = (error: unknown) => error instanceof StatusError && error.code === 403
  await rejects(asReader.of(configMap).create({ metadata: { name: 'x' } }, 'default', ctx), (error: Error) => {
    match(
      error.message,
      /User "system:serviceaccount:default:reader" cannot create resource "configmaps" in API group "" in the namespace "default"/,
    )
    return refused(error)
  })
  await rejects(asReader.of(pod).delete('web', 'default', {}, ctx), refused)
  const flow = cluster.flow(configMap, 'x')
  match(flow, /create configmaps x → 403 Forbidden/)
  const mine = cluster.flow(pod, 'web', 'default')
  match(mine, /delete pods web → 403 Forbidden/)

  await comparePage('09-access-decision', 'Access decision', [
    {
      heading: 'Refused',
      text: 'A ServiceAccount that may read pods and nothing else: each call is answered before anything is stored.',
      diagram: [excerpt(flow, /configmaps x/), excerpt(mine, /delete pods web/)].join('\n'),
    },
  ])
})
