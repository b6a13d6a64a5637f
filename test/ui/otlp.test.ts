// --otlp-endpoint: a cluster exports its flow record to a collector, which decodes it as OTLP defines it.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { startUp } from '../process.ts'
import { until } from '../until.ts'
import { logIn } from './browser.ts'
import { freePort, startCollector, type Collector, type ReceivedSpan } from './otlp-collector.ts'

const batchSpansMax = 512
const pods = '/api/v1/namespaces/default/pods'
const web = { metadata: { name: 'web' }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }

const spansOf = ({ spans }: Collector, pod: string): readonly ReceivedSpan[] =>
  [...spans.values()].filter(({ attributes }) => attributes.get('k8s.pod.name') === pod)

const named = (spans: readonly ReceivedSpan[], name: string, service?: string): ReceivedSpan | undefined =>
  spans.find((span) => span.name.startsWith(name) && (service === undefined || span.service === service))

test('a collector gets what happened to a pod as one trace, with the components as services', async () => {
  // The first batches are sent again, because the collector is busy.
  await using collector = await startCollector(0, [503, 429])
  await using up = await startUp(
    ...['--nodes', '1', '--store', 'memory', '--otlp-endpoint', String(collector.endpoint)],
  )
  const user = await logIn(await readFile(up.kubeconfig, 'utf8'))
  // A pod that waits for a node is bound because of a change of the node, which is another trace.
  await until(async () => {
    const { status, body } = await user.call('GET', '/api/v1/nodes/node-0')
    return status === 200 && body.spec.podCIDR !== undefined && body.spec.taints === undefined
  })
  equal((await user.call('POST', pods, web)).status, 201)
  equal((await user.call('POST', pods, web)).status, 409)
  await collector.until(() => {
    const spans = spansOf(collector, 'web')
    const rejected = spans.some(({ attributes }) => String(attributes.get('coxswain.outcome')).startsWith('409'))
    return rejected && spans.some(({ service, name }) => service.startsWith('kubelet') && name === 'patch pods/status')
  })
  deepEqual(collector.problems, [])
  ok(collector.batches.every((size) => size > 0 && size <= batchSpansMax))

  const spans = spansOf(collector, 'web')
  const put = named(spans, 'put pod')
  const added = named(spans, 'ADDED', 'scheduler')
  const bind = named(spans, 'create pods/binding', 'scheduler')
  const create = collector.spans.get(put?.parentSpanId ?? '')
  deepEqual([create?.name, create?.status.code, create?.kind], ['create pods', 0, 3])
  equal(added?.parentSpanId, put?.spanId)
  deepEqual([...new Set([create, put, added, bind].map((span) => span?.traceId))], [create?.traceId])
  ok(create?.eventNames.includes('authorization'))
  equal(typeof put?.attributes.get('coxswain.revision'), 'bigint')

  // Every span of the binding is found by following parents from it.
  let root = bind
  while (root !== undefined && root.parentSpanId !== '') root = collector.spans.get(root.parentSpanId)
  equal(root?.spanId, create?.spanId)

  const rejected = spans.find(({ status }) => status.code === 2)
  match(rejected?.status.message ?? '', /^409/)
  for (const { links } of collector.spans.values())
    for (const link of links) match(`${link.traceId} ${link.spanId}`, /^[0-9a-f]{32} [0-9a-f]{16}$/)
})

test('a cluster starts and works while there is no collector, and exports once there is one', async () => {
  const port = await freePort()
  await using up = await startUp(
    ...['--nodes', '0', '--store', 'memory', '--otlp-endpoint', `http://127.0.0.1:${port}`],
  )
  const user = await logIn(await readFile(up.kubeconfig, 'utf8'))
  equal((await user.call('POST', pods, web)).status, 201)
  await using collector = await startCollector(port)
  await collector.until(() => named(spansOf(collector, 'web'), 'put pod') !== undefined)
  deepEqual(collector.problems, [])
})

test('what happened in the last second before the end is exported', async () => {
  await using collector = await startCollector()
  {
    await using up = await startUp(
      ...['--nodes', '0', '--store', 'memory', '--otlp-endpoint', String(collector.endpoint)],
    )
    const user = await logIn(await readFile(up.kubeconfig, 'utf8'))
    await collector.until(() => collector.spans.size > 0)
    equal((await user.call('POST', pods, web)).status, 201)
  }
  ok(named(spansOf(collector, 'web'), 'create pods') !== undefined)
  deepEqual(collector.problems, [])
})
