// What the overview shows: recent changes and amounts.
import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { cpuText, memoryText, percent } from './amounts.ts'
import { recentChanges } from './recent-changes.ts'

const call = (id: number, from: string, what: string, name: string, more: Partial<FlowEvent> = {}): FlowEvent =>
  ({
    id,
    arrow: 'call',
    from,
    what,
    outcome: '200',
    object: { resource: what.split(/[ /]/)[1], namespace: 'default', name },
    ...more,
  }) as unknown as FlowEvent

suite('recent changes', () => {
  /** Each call with the write that it led to. */
  const written = (calls: readonly FlowEvent[]): FlowEvent[] =>
    calls.flatMap((each) => [
      each,
      {
        ...each,
        id: each.id + 0.5,
        arrow: 'persist',
        revision: each.id * 10,
        cause: { event: each.id },
      } as unknown as FlowEvent,
    ])
  const shown = (calls: readonly FlowEvent[], namespace = '', max = 10): string[] =>
    recentChanges(written(calls), namespace, max).map(
      ({ sender, verb, object, count }) => `${sender} ${verb} ${object.name} ×${count}`,
    )

  test('the newest are first; similar ones are together', () => {
    const events = [
      call(1, 'kubectl', 'create deployments', 'web'),
      call(2, 'controller/replica-set', 'create pods', 'web-1'),
      call(3, 'controller/replica-set', 'create pods', 'web-2'),
      call(4, 'kubectl', 'delete deployments', 'web'),
    ]
    deepEqual(shown(events), [
      'kubectl deleted web ×1',
      'controller/replica-set created web-2 ×2',
      'kubectl created web ×1',
    ])
    // Each has the revision of its newest write.
    deepEqual(
      recentChanges(written(events), '', 10).map(({ revision }) => revision),
      [40, 30, 10],
    )
    deepEqual(shown(events, '', 1), ['kubectl deleted web ×1'])
    deepEqual(shown(events, 'other'), [])
    deepEqual(shown(events, 'default').length, 3)
  })

  for (const [what, text] of [
    ['patch deployments/scale', 'kubectl scaled web ×1'],
    ['create pods/eviction', 'kubectl evicted web ×1'],
    ['patch pods/ephemeralcontainers', 'kubectl added a container to web ×1'],
  ] as const)
    test(`${what} is a change`, () => deepEqual(shown([call(1, 'kubectl', what, 'web')]), [text]))

  for (const [what, event] of [
    ['a read of a scale', call(1, 'controller', 'get deployments/scale', 'a')],
    ['a binding', call(1, 'scheduler', 'create pods/binding', 'a')],
    ['a read', call(1, 'kubectl', 'get pods', 'a')],
    ['a failed request', call(1, 'kubectl', 'create pods', 'a', { outcome: '409' })],
    ['a request that has not ended', call(1, 'kubectl', 'create pods', 'a', { outcome: undefined })],
    ['a status', call(1, 'kubelet/a', 'patch pods/status', 'a')],
    ['a lease', call(1, 'kubelet/a', 'update leases', 'a')],
    ['a delivery', call(1, 'API Server', 'ADDED pods', 'a', { arrow: 'watch' })],
    ['a review', call(1, 'browser', 'create selfsubjectreviews', '')],
    ['a request without an object', call(1, 'kubectl', 'create pods', 'a', { object: undefined })],
  ] as const)
    test(`${what} is no change`, () => deepEqual(shown([event]), []))
})

test('a dry run is no change', () => deepEqual(recentChanges([call(1, 'browser', 'delete pods', 'a')], '', 10), []))

suite('amounts', () => {
  for (const [text, expected] of [
    [cpuText(250), '0.3 CPUs'],
    [cpuText(8_000), '8 CPUs'],
    [cpuText(640_400), '640 CPUs'],
    [memoryText(512 << 20), '512 MiB'],
    [memoryText(1536 * 1024 * 1024), '1.5 GiB'],
  ] as const)
    test(expected, () => equal(text, expected))

  test('a share has bounds', () => {
    deepEqual([percent(1, 4), percent(9, 4), percent(1, 0)], [25, 100, 0])
  })
})
