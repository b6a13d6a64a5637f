// What the authenticators and authorizers of a server count.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { issuer, startGuarded, type GuardedHarness } from '../server-policies.harness.ts'

const linesOf = ({ policyMetrics }: GuardedHarness, name: RegExp): string[] =>
  policyMetrics
    .text()
    .split('\n')
    .filter((line) => name.test(line) && !line.startsWith('#'))

test('the decision that ends the chain is counted for its authorizer', async () => {
  await using server = await startGuarded()
  const pods = '/api/v1/namespaces/default/pods'
  equal((await server.call('GET', pods, undefined, { as: 'bob' })).status, 403)
  equal((await server.call('GET', pods)).status, 200) // system:masters is asked of no authorizer
  deepEqual(linesOf(server, /^apiserver_authorization_decisions_total/), [])
  const node = 'system:node:a,system:nodes'
  equal((await server.call('GET', '/api/v1/services', undefined, { as: node })).status, 200)
  equal((await server.call('GET', '/version', undefined, { as: 'bob,system:authenticated' })).status, 200)
  const decided = (type: string) =>
    `apiserver_authorization_decisions_total{decision="allowed",name="${type.toLowerCase()}",type="${type}"} 1`
  deepEqual(linesOf(server, /^apiserver_authorization_decisions_total/), [decided('Node'), decided('RBAC')])
})

test('the remaining time of a client certificate is observed at each request', async () => {
  await using server = await startGuarded()
  const counted = () =>
    Number(/_count (\d+)$/m.exec(linesOf(server, /^apiserver_client_certificate.*_count/).join())?.[1])
  const before = counted()
  await server.call('GET', '/version')
  await server.call('GET', '/version', undefined, { anonymous: '' })
  equal(counted(), before + 1)
  const [beyond] = linesOf(server, /^apiserver_client_certificate_expiration_seconds_bucket\{le="31104000"\}/)
  match(beyond ?? '', / 0$/)
})

test('an extended token is counted as valid, and as stale once its holder should have renewed it', async () => {
  await using server = await startGuarded()
  const { metadata } = (await server.call('GET', '/api/v1/namespaces/default/serviceaccounts/default')).body
  const account = { name: 'default', uid: metadata.uid as string }
  const holder = { namespace: 'default', account }
  const use = async (token: string) =>
    (await server.call('GET', '/version', undefined, { anonymous: '', authorization: `Bearer ${token}` })).status
  const counts = () =>
    linesOf(server, /^serviceaccount_(stale|valid)_tokens_total/).map((line) => Number(line.split(' ')[1]))
  equal(await use(server.accountTokens.issue({ holder, audiences: [issuer], seconds: 7200 })), 200)
  deepEqual(counts(), [0, 0])
  const extended = server.accountTokens.issue({ holder, audiences: [issuer], seconds: 7200, warnAfterSeconds: 3607 })
  equal(await use(extended), 200)
  deepEqual(counts(), [0, 1])
  await server.clock.advance('61m')
  equal(await use(extended), 200)
  deepEqual(counts(), [1, 1])
})
