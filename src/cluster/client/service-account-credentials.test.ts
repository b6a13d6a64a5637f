// Tokens of ServiceAccounts are shared, renewed in time and requested again when they are rejected.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { bindNetworkAgents } from '../bootstrap/network-agents.ts'
import { controllerTokens, nodeAgentTokens, ServiceAccountCredentials } from './service-account-credentials.ts'

const ctx = context(new AbortController().signal)
const { signal } = ctx

test('a token is requested once, again when it is old, and again when it was rejected', async () => {
  const clock = new VirtualClock()
  let count = 0
  let isFailing = false
  const request = () => (isFailing ? Promise.reject(new Error('unavailable')) : Promise.resolve(`token-${++count}`))
  const { headers, onUnauthorized } = new ServiceAccountCredentials(request, clock).of('agent')
  const shown = async () => (await headers?.(signal))?.['authorization']
  deepEqual(await Promise.all([shown(), shown()]), ['Bearer token-1', 'Bearer token-1'])
  await clock.advance('44m')
  equal(await shown(), 'Bearer token-1')
  await clock.advance('2m')
  equal(await shown(), 'Bearer token-2')
  onUnauthorized?.()
  isFailing = true
  await rejects(shown(), /unavailable/)
  isFailing = false
  equal(await shown(), 'Bearer token-3')
})

const boundTo = (token: string): unknown => {
  const claims = JSON.parse(atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'))) as object
  const own = (claims as Record<string, Record<string, { name: string }>>)['kubernetes.io'] ?? {}
  return [own['serviceaccount']?.name, own['node']?.name]
}

test('a node requests tokens of its agents, bound to itself; controllers create their missing accounts', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const { client } = cluster
  await cluster.clock.advance('5s')
  const [{ metadata } = { metadata: { name: '' } }] = (await client.of(node).list({}, ctx)).items
  const kubelet = cluster.as(`system:node:${metadata.name}`, ['system:nodes'])
  const ofNode = nodeAgentTokens(kubelet, metadata.name)
  await rejects(ofNode('coxswain-network', signal), { reason: 'NotFound' })
  await bindNetworkAgents(client, ctx)
  deepEqual(boundTo(await ofNode('coxswain-network', signal)), ['coxswain-network', metadata.name])
  await rejects(ofNode('default', signal), { reason: 'Forbidden' })
  await rejects(nodeAgentTokens(kubelet, 'other')('coxswain-network', signal), { reason: 'Forbidden' })

  const ofController = controllerTokens(client)
  deepEqual(boundTo(await ofController('own-controller', signal)), ['own-controller', undefined])
  equal((await client.of(serviceAccount).get('own-controller', 'kube-system', ctx)).metadata.name, 'own-controller')
})
