// The history of a report: what is kept when not everything fits.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { recordHistory } from './recorded-history.ts'

const flow = new FlowRecorder(new VirtualClock())
const version = (name: string, revision: number): ApiObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    data: { at: String(revision) },
    metadata: { name, namespace: 'default', resourceVersion: String(revision), managedFields: [{ manager: 'm' }] },
  }) as unknown as ApiObject

const source = {
  flow,
  nowMs: 0,
  retained: { oldest: 1, newest: 9 },
  lists: [{ kind: configMap, objects: [version('a', 8), version('b', 2)] }],
  changes: () => [
    { revision: 3, key: 'default/a', before: undefined, now: version('a', 3) },
    { revision: 5, key: 'default/a', before: version('a', 3), now: version('a', 5) },
    { revision: 6, key: 'default/c', before: version('c', 1), now: undefined },
    { revision: 8, key: 'default/a', before: version('a', 5), now: version('a', 8) },
  ],
}

const revisionsIn = ({ history }: ReturnType<typeof recordHistory>): unknown =>
  Object.fromEntries(
    history.flatMap(([, objects]) =>
      objects.map(([key, revisions]) => [key, revisions.map((each) => `${each.revision} ${each.state}`)]),
    ),
  )

test('every state of an object is kept, and the one before its first change', () => {
  const recorded = recordHistory(source)
  deepEqual(revisionsIn(recorded), {
    'configmaps/default/a': ['3 past', '5 past', '8 present'],
    'configmaps/default/b': ['2 present'],
    'configmaps/default/c': ['1 past', '6 deleted'],
  })
  equal(recorded.revisions.oldest, 1)
  const [, objects = []] = recorded.history[0] ?? []
  const [first] = objects[0]?.[1] ?? []
  deepEqual(first?.state === 'past' && [first.cells.slice(0, 2), first.object.metadata.managedFields], [
    ['a', 1],
    undefined,
  ])
})

test('the oldest revisions are dropped beyond the bound; the cluster can be shown from then on', () => {
  const chars = JSON.stringify(version('a', 8)).length
  const recorded = recordHistory(source, chars * 1.5)
  deepEqual(revisionsIn(recorded), {
    'configmaps/default/a': ['5 past', '8 present'],
    'configmaps/default/b': ['2 present'],
    'configmaps/default/c': ['1 past', '6 deleted'],
  })
  equal(recorded.revisions.oldest, 5)
})
