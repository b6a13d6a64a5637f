// Each group version with custom kinds has an APIService, as in upstream.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { startServer, type Harness } from '../server.harness.ts'

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const services = '/apis/apiregistration.k8s.io/v1/apiservices'

const definition = (plural: string, versions: readonly string[]) => ({
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural, kind: plural.toUpperCase() },
    versions: versions.map((name, index) => ({
      name,
      served: true,
      storage: index === 0,
      schema: { openAPIV3Schema: { type: 'object' } },
    })),
  },
})

const namesOf = async (server: Harness): Promise<string[]> => {
  const { body } = await server.call('GET', services)
  return body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
}

/** What the server does by itself takes turns of the event loop only. */
async function untilNames(server: Harness, wanted: readonly string[]): Promise<void> {
  for (let turns = 0; turns < 1_000; turns++) {
    if ((await namesOf(server)).join() === wanted.join()) return
    await eventLoopTurn()
  }
  deepEqual(await namesOf(server), wanted)
}

test('an APIService is registered for each version, and removed with the last definition that serves it', async () => {
  await using server = await startServer()
  await server.call('POST', definitions, definition('as', ['v1', 'v1beta1']))
  await server.call('POST', definitions, definition('bs', ['v1']))
  await untilNames(server, ['v1.example.com', 'v1beta1.example.com'])
  const { body } = await server.call('GET', `${services}/v1.example.com`)
  deepEqual(body.metadata.labels, { 'kube-aggregator.kubernetes.io/automanaged': 'true' })
  deepEqual(body.spec, { group: 'example.com', version: 'v1', groupPriorityMinimum: 1_000, versionPriority: 100 })
  const [condition] = body.status.conditions
  deepEqual(
    [condition.type, condition.status, condition.reason, condition.message],
    ['Available', 'True', 'Local', 'Local APIServices are always available'],
  )
  await server.call('DELETE', `${definitions}/as.example.com`)
  await untilNames(server, ['v1.example.com'])
  await server.call('DELETE', `${definitions}/bs.example.com`)
  await untilNames(server, [])
})

test('an APIService that a user removes is registered again', async () => {
  await using server = await startServer()
  await server.call('POST', definitions, definition('as', ['v1']))
  await untilNames(server, ['v1.example.com'])
  const uid = async () => (await server.call('GET', `${services}/v1.example.com`)).body.metadata?.uid as string
  const before = await uid()
  equal((await server.call('DELETE', `${services}/v1.example.com`)).status, 200)
  for (let turns = 0; turns < 1_000 && (await uid()) === undefined; turns++) await eventLoopTurn()
  equal((await uid()) !== undefined && (await uid()) !== before, true)
})

test('an APIService that outlived its definitions is removed at the start; that of a user stays', async () => {
  const { store } = await (async () => {
    await using first = await startServer()
    const spec = { group: 'gone.example.com', version: 'v1', groupPriorityMinimum: 1_000, versionPriority: 100 }
    const labels = { 'kube-aggregator.kubernetes.io/automanaged': 'true' }
    await first.call('POST', services, { metadata: { name: 'v1.gone.example.com', labels }, spec })
    await first.call('POST', services, {
      metadata: { name: 'v1.own.example.com' },
      spec: { ...spec, group: 'own.example.com' },
    })
    return first
  })()
  await using server = await startServer(undefined, { store })
  await untilNames(server, ['v1.own.example.com'])
})
