// How long pods tolerate taints, as a table; and evictions that are cancelled or carried out.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/observability/context.ts'
import { event } from '../api/core/v1/event.ts'
import { node } from '../api/core/v1/node/node.ts'
import { pod } from '../api/core/v1/pod/pod.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'
import type { ReconcileController, ReconcileTools } from './runtime/controller.ts'
import { aPod } from './runtime/plan.harness.ts'
import { stayMs, taintEvictionController } from './taint-eviction.ts'

const [a, b] = ['a', 'b'].map((key) => ({ key, value: 'v', effect: 'NoExecute' as const }))
const under = [a, b].flatMap((taint) => taint ?? [])
const forSeconds = (key: string, tolerationSeconds?: number) => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
})

const stays: [why: string, tolerations: object[], stayMs: number][] = [
  ['nothing is tolerated', [], 0],
  ['one of two is tolerated', [forSeconds('a')], 0],
  ['both are tolerated without a limit', [forSeconds('a'), forSeconds('b')], Infinity],
  ['everything is tolerated without a limit', [{ operator: 'Exists' }], Infinity],
  ['the shortest time applies', [forSeconds('a', 60), forSeconds('b', 30)], 30_000],
  ['a limit applies beside a toleration without one', [forSeconds('a', 60), forSeconds('b')], 60_000],
  ['a negative time counts as 0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: -1 }], 0],
]
for (const [why, tolerations, wanted] of stays)
  test(`a pod stays ${wanted} ms: ${why}`, () => equal(stayMs(aPod('p', { spec: { tolerations } }), under), wanted))

const ctx = context(new AbortController().signal)

test('an eviction is cancelled when the taint is removed in time, and carried out otherwise', async () => {
  await using cluster = await startCluster()
  const { client, clock } = cluster
  const containers = [{ name: 'c', image: 'i' }]
  const tolerations = [{ key: 'k', operator: 'Exists' as const, effect: 'NoExecute' as const, tolerationSeconds: 30 }]
  for (const [name, spec] of [
    ['patient', { containers, tolerations, terminationGracePeriodSeconds: 1 }],
    ['plain', { containers, terminationGracePeriodSeconds: 1 }],
  ] as const)
    await client.of(pod).create({ metadata: { name }, spec }, 'default', ctx)
  await clock.advance('5s')
  const taint = (taints: object[]) => client.of(node).patch('node-0', '', { spec: { taints } }, 'merge', ctx)
  const names = async () =>
    (await client.of(pod).list({ namespace: 'default' }, ctx)).items.map(({ metadata }) => metadata.name)

  await taint([{ key: 'k', value: 'v', effect: 'NoExecute' }])
  await clock.advance('20s')
  deepEqual(await names(), ['patient'])
  await taint([])
  await clock.advance('1m')
  deepEqual(await names(), ['patient'])
  await taint([{ key: 'k', value: 'v', effect: 'NoExecute' }])
  await clock.advance('29s')
  deepEqual(await names(), ['patient'])
  await clock.advance('10s')
  deepEqual(await names(), [])
  const recorded = (await client.of(event).list({ namespace: 'default' }, ctx)).items
  deepEqual(
    recorded
      .filter(({ reason }) => reason === 'TaintManagerEviction')
      .map(({ message }) => message)
      .toSorted(),
    [
      'Cancelling deletion of Pod default/patient',
      'Marking for deletion Pod default/patient',
      'Marking for deletion Pod default/plain',
    ],
  )
})

test('a pod is evicted once, also if the cache has its condition before its deletion; a failed eviction is repeated', async () => {
  const { reconcile, enqueues, state } = taintEvictionController as ReconcileController<{ evicted: Set<string> }>
  const object = aPod('web', { spec: { nodeName: 'n' } })
  const tainted = { spec: { taints: under } }
  const events: string[] = []
  let deletions = 0
  const tools = {
    state: state?.(),
    nowMs: 0,
    cached: (kind: unknown) => (kind === pod ? object : tainted),
    recordEvent: (_: unknown, { message }: { message: string }) => events.push(message),
    metrics: { taintEvictions: { add() {} }, taintEvictionSeconds: { observe() {} } },
    client: {
      of: () => ({
        patch: () => Promise.resolve(),
        delete: () => (++deletions === 1 ? Promise.reject(new Error('the server is down')) : Promise.resolve()),
      }),
    },
  } as unknown as ReconcileTools<{ evicted: Set<string> }>
  const evict = async () => reconcile('default/web', tools, ctx)
  await rejects(evict(), /the server is down/)
  await evict()
  await evict()
  equal(deletions, 2)
  equal(events.length, 2, 'of the failed one and of the other')
  enqueues(pod, { key: 'default/web', before: object, now: undefined } as never, tools)
  equal(tools.state.evicted.size, 0)
})
