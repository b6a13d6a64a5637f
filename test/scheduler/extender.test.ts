// Extenders over real HTTP and HTTPS: they filter, score, choose victims and bind; a failing one is ignored or blocks
// pods.
import { deepEqual, equal, match } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { systemRandom } from '../../src/base/random/random.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { eventsEvent } from '../../src/api/events/v1/event.ts'
import { priorityClass } from '../../src/api/scheduling/v1/priority-class.ts'
import { context, pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { temporaryCertificates } from '../../src/cluster/certificates/cluster-certificates.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { podCondition } from '../../src/api/core/v1/pod/pod-readiness.ts'

const ctx = context(new AbortController().signal)

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return text
}

/** A server that answers each verb with a function of the body; with `tls` it requires a client certificate. */
async function extender(answers: Record<string, (body: never) => unknown>, tls?: ServerOptions) {
  const asked: string[] = []
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const verb = (request.url ?? '').split('/').at(-1) ?? ''
    const text = await textOf(request)
    asked.push(verb)
    const answer = answers[verb]
    response.statusCode = answer === undefined ? 500 : 200
    response.end(answer === undefined ? 'broken' : JSON.stringify(await answer(JSON.parse(text) as never)))
  }
  const listen = (request: IncomingMessage, response: ServerResponse) => void respond(request, response)
  const server = tls === undefined ? createServer(listen) : createSecureServer({ ...tls, requestCert: true }, listen)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    asked,
    urlPrefix: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/scheduler`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const create = ({ client }: TestCluster, name: string, resources: object = {}, spec: object = {}) =>
  client
    .of(pod)
    .create(
      { metadata: { name }, spec: { containers: [{ name: 'c', image: 'x', resources }], ...spec } },
      'default',
      ctx,
    )
const podNow = ({ client }: TestCluster, name: string) => client.of(pod).get(name, 'default', ctx)

test('an extender filters nodes and adds scores', async () => {
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

test('an extender that rejects all nodes is named in the reasons; one for other resources is not called', async () => {
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
  // No node has licences: the scheduler ignores that resource and leaves it to the extender.
  await using cluster = await startCluster({ nodes: 2, schedulerConfiguration: { extenders: [managed] } })
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
  test(`a failing extender ${ignorable ? 'that is ignorable is skipped' : 'blocks the pod'}`, async () => {
    await using program = await extender({})
    const broken = { urlPrefix: program.urlPrefix, filterVerb: 'filter', ignorable }
    await using cluster = await startCluster({ schedulerConfiguration: { extenders: [broken] } })
    await cluster.clock.advance('1s')
    await create(cluster, 'p')
    await cluster.clock.advance('5s')
    equal((await cluster.client.of(pod).get('p', 'default', ctx)).spec.nodeName, ignorable ? 'node-0' : undefined)
  })

test('an extender over TLS binds, and requires a client certificate', async () => {
  const deps = { clock: realClock, random: systemRandom, platform: nodePlatform, hosts: ['scheduler.example'] }
  const { authority, serving, admin } = temporaryCertificates(deps)
  const tls = { key: serving.key, cert: serving.certificate, ca: authority, rejectUnauthorized: true }
  const running: { cluster?: TestCluster } = {}
  await using program = await extender(
    {
      async bind({
        PodName,
        PodNamespace,
        PodUID,
        Node,
      }: Record<'PodName' | 'PodNamespace' | 'PodUID' | 'Node', string>) {
        const body = {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: PodName, uid: PodUID, labels: { bound: 'elsewhere' } },
          target: { kind: 'Node', name: Node },
        }
        await running.cluster?.client.of(pod).createSubresource(PodName, PodNamespace, 'binding', body, ctx)
        return {}
      },
    },
    tls,
  )
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const tlsConfig = {
    serverName: 'scheduler.example',
    caData: base64(authority),
    certData: base64(admin.certificate),
    keyData: base64(admin.key),
  }
  const { urlPrefix } = program
  const binder = { urlPrefix, bindVerb: 'bind', enableHTTPS: true, tlsConfig }
  await using started = await startCluster({ schedulerConfiguration: { extenders: [binder] } })
  running.cluster = started
  await started.clock.advance('1s')
  await create(started, 'p')
  await started.clock.advance('5s')
  const { metadata, spec } = await podNow(started, 'p')
  deepEqual([spec.nodeName, metadata.labels], ['node-0', { bound: 'elsewhere' }])
  deepEqual(program.asked, ['bind'])
})

for (const ignorable of [true, false])
  test(`an extender that fails to bind ${ignorable ? 'and is ignorable leaves the binding to the scheduler' : 'is reported on the pod, which is retried'}`, async () => {
    const failures = [{ Error: 'no power' }]
    await using program = await extender({ bind: () => (ignorable ? { Error: 'no power' } : (failures.pop() ?? {})) })
    const { urlPrefix } = program
    const schedulerConfiguration = { extenders: [{ urlPrefix, bindVerb: 'bind', ignorable }] }
    await using cluster = await startCluster({ schedulerConfiguration })
    await cluster.clock.advance('1s')
    await create(cluster, 'p')
    await cluster.clock.advance('500ms')
    if (ignorable) {
      equal((await podNow(cluster, 'p')).spec.nodeName, 'node-0')
      return
    }
    const condition = podCondition(await podNow(cluster, 'p'), 'PodScheduled')
    deepEqual([condition?.reason, condition?.message], ['SchedulerError', 'no power'])
    const { items } = await cluster.client.of(eventsEvent).list({ namespace: 'default' }, ctx)
    equal(items.find(({ reason }) => reason === 'FailedScheduling')?.note, 'no power')
    await cluster.clock.advance('5s')
    deepEqual(program.asked, ['bind', 'bind'])
  })

interface Proposal {
  readonly Pod: { readonly metadata: { readonly name: string } }
  readonly NodeNameToVictims?: Record<
    string,
    { Pods: { metadata: { uid: string; name: string } }[]; NumPDBViolations: number }
  >
  readonly NodeNameToMetaVictims?: Record<string, { Pods: { UID: string }[]; NumPDBViolations: number }>
}

/** Three nodes full of low-priority pods, and a pod that preempts one of them. */
async function crowded(extenders: object[]) {
  const cluster = await startCluster({ nodes: 3, schedulerConfiguration: { extenders } as never })
  await cluster.clock.advance('1s')
  for (const name of ['a', 'b', 'c']) await create(cluster, name, { requests: { cpu: '6' } })
  await cluster.clock.advance('5s')
  await cluster.client.of(priorityClass).create({ metadata: { name: 'high' }, value: 1000 }, '', ctx)
  await create(cluster, 'vip', { requests: { cpu: '6' } }, { priorityClassName: 'high' })
  await cluster.clock.advance('60s')
  return cluster
}

for (const nodeCacheCapable of [true, false])
  test(`an extender chooses among the candidates for preemption, given ${nodeCacheCapable ? 'uids' : 'whole pods'}`, async () => {
    const proposals: Proposal[] = []
    await using program = await extender({
      preempt(proposal: Proposal) {
        proposals.push(proposal)
        const uids = Object.entries(proposal.NodeNameToVictims ?? {}).map(([node, { Pods, NumPDBViolations }]) => [
          node,
          { Pods: Pods.map(({ metadata }) => ({ UID: metadata.uid })), NumPDBViolations },
        ])
        const byNode = proposal.NodeNameToMetaVictims ?? (Object.fromEntries(uids) as object)
        return { NodeNameToMetaVictims: { 'node-1': (byNode as Record<string, object>)['node-1'] } }
      },
    })
    const { urlPrefix } = program
    await using cluster = await crowded([{ urlPrefix, preemptVerb: 'preempt', nodeCacheCapable }])
    equal((await podNow(cluster, 'vip')).spec.nodeName, 'node-1')
    const [first] = proposals
    equal(first?.Pod.metadata.name, 'vip')
    const given = nodeCacheCapable ? first?.NodeNameToMetaVictims : first?.NodeNameToVictims
    deepEqual(Object.keys(given ?? {}).toSorted(), ['node-0', 'node-1', 'node-2'])
    deepEqual(
      [first?.NodeNameToVictims === undefined, first?.NodeNameToMetaVictims === undefined],
      [nodeCacheCapable, !nodeCacheCapable],
    )
    const left = (await cluster.client.of(pod).list({ namespace: 'default' }, ctx)).items
    equal(left.length, 3)
  })

const badAnswers: readonly (readonly [why: string, answer: object, ignorable: boolean, where: RegExp | undefined])[] = [
  ['returns no candidates', {}, false, undefined],
  ['returns a node without victims', { 'node-1': { Pods: [] } }, false, undefined],
  ['returns a node without victims and is ignorable', { 'node-1': { Pods: [] } }, true, undefined],
  ['returns unknown pods', { 'node-1': { Pods: [{ UID: 'x' }] } }, false, undefined],
  ['returns unknown pods and is ignorable', { 'node-1': { Pods: [{ UID: 'x' }] } }, true, /^node-\d$/],
]
for (const [why, answer, ignorable, where] of badAnswers)
  test(`an extender that ${why} ${where === undefined ? 'prevents the preemption' : 'is skipped'}`, async () => {
    await using program = await extender({ preempt: () => ({ NodeNameToMetaVictims: answer }) })
    const { urlPrefix } = program
    await using cluster = await crowded([{ urlPrefix, preemptVerb: 'preempt', ignorable }])
    const { spec } = await podNow(cluster, 'vip')
    if (where === undefined) equal(spec.nodeName, undefined)
    else match(spec.nodeName ?? '', where)
  })

test('a pod that an extender rejected is retried after any change', async () => {
  let isOpen = false
  await using program = await extender({
    filter: ({ NodeNames }: { NodeNames: string[] }) =>
      isOpen
        ? { NodeNames }
        : { NodeNames: [], FailedAndUnresolvableNodes: Object.fromEntries(NodeNames.map((name) => [name, 'closed'])) },
  })
  const { urlPrefix } = program
  await using cluster = await startCluster({
    schedulerConfiguration: { extenders: [{ urlPrefix, filterVerb: 'filter', nodeCacheCapable: true }] },
  })
  await cluster.clock.advance('1s')
  await create(cluster, 'p')
  await cluster.clock.advance('20s')
  match(
    podCondition(await podNow(cluster, 'p'), 'PodScheduled')?.message ?? '',
    /^0\/1 nodes are available: 1 closed\./,
  )
  isOpen = true
  await create(cluster, 'q')
  await cluster.clock.advance('5s')
  equal((await podNow(cluster, 'p')).spec.nodeName, 'node-0')
})
