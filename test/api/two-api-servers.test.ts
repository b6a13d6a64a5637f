// Two API servers on one etcd: changes through one are visible at the other, in order, exactly once; so are changes of
// permissions.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { startGuarded } from '../../src/apiserver/server-policies.harness.ts'
import type { Harness } from '../../src/apiserver/server.harness.ts'
import { nodeCrypto } from '../../src/platform/node/crypto.ts'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { until } from '../until.ts'

async function twoServers() {
  const etcd = await EtcdCluster.start(newestEtcd(), 1)
  const key = nodeCrypto.generateKey()
  const stores: { close(): Promise<void> }[] = []
  const start = async () => {
    const store = await etcd.openStore()
    stores.push(store)
    return startGuarded({}, { store, key })
  }
  const first = await start()
  const second = await start()
  return {
    first,
    second,
    start,
    async [Symbol.asyncDispose]() {
      await Promise.all([first, second].map((server) => server[Symbol.asyncDispose]()))
      await Promise.all(stores.map((store) => store.close()))
      await etcd[Symbol.asyncDispose]()
    },
  }
}

const maps = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const created = async (server: Harness, target: string, body: object) => {
  const answer = await server.call('POST', target, body)
  equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}
type Named = { readonly metadata: { readonly name: string } }
const namesIn = (items: readonly Named[]) => items.map(({ metadata }) => metadata.name)
const namesOf = (events: readonly { readonly object: Named }[]) => namesIn(events.map(({ object }) => object))

test('writes through both servers are observed through both, in one order, each once', async () => {
  await using cluster = await twoServers()
  const { first, second } = cluster
  const start = (await second.call('GET', maps)).body.metadata.resourceVersion as string
  const writes = 200
  const watching = [first, second].map((server) => server.watch(`${maps}?watch=1&resourceVersion=${start}`, writes))
  const write = async (server: Harness, prefix: string) => {
    for (let index = 0; index < writes / 2; index++) await created(server, maps, configMap(`${prefix}-${index}`))
  }
  await Promise.all([write(first, 'a'), write(second, 'b')])
  const [byFirst = [], bySecond = []] = await Promise.all(watching)
  deepEqual(namesOf(byFirst), namesOf(bySecond))
  equal(new Set(namesOf(bySecond)).size, writes)
  for (const prefix of ['a', 'b'])
    deepEqual(
      namesOf(bySecond).filter((name) => name.startsWith(prefix)),
      Array.from({ length: writes / 2 }, (_, index) => `${prefix}-${index}`),
    )
  // A third server, which has just started, resumes where a client of another stopped.
  await using third = await cluster.start()
  const middle = bySecond[writes / 2 - 1].object.metadata.resourceVersion as string
  const rest = await third.watch(`${maps}?watch=1&resourceVersion=${middle}`, writes / 2)
  deepEqual(namesOf(rest), namesOf(bySecond).slice(writes / 2))

  // A read through one server returns what was just written through the other, and a stale write is rejected there.
  for (let index = 0; index < 20; index++) {
    const made = await created(first, maps, configMap(`read-${index}`))
    const read = await second.call('GET', `${maps}/read-${index}`)
    equal(read.status, 200)
    const list = await second.call('GET', maps)
    equal(namesIn(list.body.items).includes(`read-${index}`), true)
    const changed = { ...made, data: { by: 'second' } }
    equal((await second.call('PUT', `${maps}/read-${index}`, changed)).status, 200)
    equal((await first.call('PUT', `${maps}/read-${index}`, changed)).status, 409)
  }
})

test('permissions granted or revoked through one server take effect at the other', async () => {
  await using cluster = await twoServers()
  const { first, second } = cluster
  await created(first, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/shop'
  const typed = (kind: string, rest: object) => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, ...rest })
  const statusAt = async (headers: Record<string, string>) =>
    (await second.call('GET', '/api/v1/namespaces/shop/configmaps', undefined, headers)).status

  const jane = { as: 'jane' }
  equal(await statusAt(jane), 403)
  const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }]
  await created(first, `${rbac}/roles`, typed('Role', { metadata: { name: 'reader' }, rules }))
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' }
  const subjects = [
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' },
    { kind: 'ServiceAccount', name: 'robot', namespace: 'shop' },
  ]
  const binding = typed('RoleBinding', { metadata: { name: 'readers' }, roleRef, subjects })
  await created(first, `${rbac}/rolebindings`, binding)
  await until(async () => (await statusAt(jane)) === 200)

  const accounts = '/api/v1/namespaces/shop/serviceaccounts'
  await created(first, accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } })
  const { status } = await created(first, `${accounts}/robot/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  })
  const robot = { anonymous: 'true', authorization: `Bearer ${status.token as string}` }
  await until(async () => (await statusAt(robot)) === 200)
  equal((await first.call('DELETE', `${accounts}/robot`)).status, 200)
  await until(async () => (await statusAt(robot)) === 401)

  equal((await first.call('DELETE', `${rbac}/rolebindings/readers`)).status, 200)
  await until(async () => (await statusAt(jane)) === 403)
})
