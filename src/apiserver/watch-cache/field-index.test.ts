// Lists by an indexed field are the same as those by a scan of all objects, also after changes.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { StoredObject } from '../storage/stored-object.ts'
import { storedBytes } from '../storage/stored-json.ts'
import { Selection } from './selection.ts'
import { WatchCache } from './watch-cache.ts'

const onNode = (name: string, nodeName: string, revision: number): StoredObject => {
  const metadata = { name, namespace: 'default' } as ApiObject['metadata']
  return StoredObject.ofBytes(
    storedBytes({ kind: 'Pod', apiVersion: 'v1', metadata, spec: { nodeName } } as ApiObject),
    revision,
  )
}

const key = (name: string): string => `default/${name}`

/** A cache of twenty pods on twenty nodes, enough for an index to be used. */
function newCache(): WatchCache {
  const clock = new VirtualClock()
  const cache = new WatchCache(pod, { clock, flow: new FlowRecorder(clock) })
  const names = Array.from({ length: 20 }, (_, index) => `p-${index + 10}`)
  cache.reset(
    1,
    names.map((name) => [key(name), onNode(name, `n-${name}`, 1)]),
  )
  return cache
}

const changes = [
  ['a pod is added', [['a', undefined, 'n']], ['a']],
  [
    'pods are found in the order of their keys',
    [
      ['b', undefined, 'n'],
      ['a', undefined, 'n'],
    ],
    ['a', 'b'],
  ],
  [
    'a pod is bound',
    [
      ['a', undefined, ''],
      ['a', '', 'n'],
    ],
    ['a'],
  ],
  [
    'a pod is deleted',
    [
      ['a', undefined, 'n'],
      ['a', 'n', undefined],
    ],
    [],
  ],
  ['a pod of another node is not found', [['a', undefined, 'm']], []],
] as const

for (const isQueriedBefore of [false, true])
  for (const [name, steps, found] of changes)
    test(`${name}, the field ${isQueriedBefore ? 'was queried before' : 'is queried afterwards'}`, () => {
      const cache = newCache()
      const selection = new Selection(pod, '', '', 'spec.nodeName=n')
      const ask = () => Array.from(cache.candidates(selection, '', ''), ([, { object }]) => object.metadata.name)
      if (isQueriedBefore) ask()
      for (const [index, [podName, before, now]] of steps.entries()) {
        const at = (node: string | undefined) => (node === undefined ? undefined : onNode(podName, node, index + 2))
        cache.apply([{ revision: index + 2, key: key(podName), now: at(now), before: at(before) }])
      }
      deepEqual(ask(), found)
    })

test('all objects are scanned when most are selected, and a reset clears the index', () => {
  const cache = newCache()
  const selected = (nodeName: string) =>
    Array.from(cache.candidates(new Selection(pod, '', '', `spec.nodeName=${nodeName}`), '', '')).length
  deepEqual([selected('n-p-10'), selected('n')], [1, 0])
  cache.reset(5, [[key('a'), onNode('a', 'n', 5)]])
  deepEqual([selected('n-p-10'), selected('n')], [0, 1])
})
