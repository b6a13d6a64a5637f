// Extenders over real HTTP: one filters and scores and binds, a broken one is left out or holds pods up.
import { deepEqual, equal, match } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { context, pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'

const ctx = context(new AbortController().signal)

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return text
}

/** A program that answers each verb with a function of the body. */
async function extender(answers: Record<string, (body: never) => unknown>) {
  const asked: string[] = []
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const verb = (request.url ?? '').split('/').at(-1) ?? ''
    const text = await textOf(request)
    asked.push(verb)
    const answer = answers[verb]
    response.statusCode = answer === undefined ? 500 : 200
    response.end(answer === undefined ? 'broken' : JSON.stringify(answer(JSON.parse(text) as never)))
  }
  const server = createServer((request, response) => void respond(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    asked,
    urlPrefix: `http://127.0.0.1:${port}/scheduler`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const create = ({ client }: TestCluster, name: string, resources: object = {}) =>
  client
    .of(pod)
    .create({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'x', resources }] } }, 'default', ctx)

test('an extender takes nodes away and gives points', async () => {
  await using program = await extender({
    filter: ({ NodeNames }: { NodeNames: string[] }) => ({
      nodenames: NodeNames.filter((name) => name !== 'node-0'),
      failedNodes: { 'node-0': 'too cold' },
    }),
    prioritize: () => [{ host: 'node-2', score: 10 }],
  })
  const { urlPrefix } = program
  const asked = { urlPrefix, filterVerb: 'filter', prioritizeVerb: 'prioritize', weight: 5, nodeCacheCapable: true }
  await using cluster = await startCluster({ nodes: 3, schedulerConfiguration: { extenders: [asked] } })
  await cluster.clock.advance('1s')
  await create(cluster, 'p')
  await cluster.clock.advance('5s')
  equal((await cluster.client.of(pod).get('p', 'default', ctx)).spec.nodeName, 'node-2')
  deepEqual(program.asked, ['filter', 'prioritize'])
})

test('an extender that lets nothing through is named in the reasons; one for other resources is not asked', async () => {
  await using program = await extender({
    filter: ({ Nodes }: { Nodes: { items: { metadata: { name: string } }[] } }) => ({
      Nodes: { items: [] },
      FailedNodes: Object.fromEntries(Nodes.items.map(({ metadata }) => [metadata.name, 'no licence'])),
    }),
  })
  const managed = {
    urlPrefix: program.urlPrefix,
    filterVerb: 'filter',
    managedResources: [{ name: 'example.com/licence', ignoredByScheduler: true }],
  }
  await using cluster = await startCluster({
    nodes: 2,
    schedulerConfiguration: {
      extenders: [managed],
      profiles: [{ pluginConfig: [{ name: 'NodeResourcesFit', args: { ignoredResources: ['example.com/licence'] } }] }],
    },
  })
  await cluster.clock.advance('1s')
  await create(cluster, 'plain')
  await create(cluster, 'licensed', { limits: { 'example.com/licence': '1' } })
  await cluster.clock.advance('5s')
  const [plain, licensed] = await Promise.all(
    ['plain', 'licensed'].map((name) => cluster.client.of(pod).get(name, 'default', ctx)),
  )
  equal(plain?.spec.nodeName === undefined, false)
  match(licensed?.status.conditions?.[0]?.message ?? '', /^0\/2 nodes are available: 2 no licence\./)
})

for (const ignorable of [true, false])
  test(`a broken extender ${ignorable ? 'that may be ignored is left out' : 'holds the pod up'}`, async () => {
    await using program = await extender({})
    const broken = { urlPrefix: program.urlPrefix, filterVerb: 'filter', ignorable }
    await using cluster = await startCluster({ schedulerConfiguration: { extenders: [broken] } })
    await cluster.clock.advance('1s')
    await create(cluster, 'p')
    await cluster.clock.advance('5s')
    equal((await cluster.client.of(pod).get('p', 'default', ctx)).spec.nodeName, ignorable ? 'node-0' : undefined)
  })
