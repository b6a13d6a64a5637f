import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { parseLabelSelector } from '../../api/selectors/label-selector-text.ts'
import { AutoscaledPods } from './autoscaled-pods.ts'

const podOf = (name: string, app: string): Pod =>
  ({ metadata: { namespace: 'n', name, labels: { app } } }) as unknown as Pod
const [web, db] = [podOf('1', 'web'), podOf('2', 'db')]
const namesOf = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name)
const [ofWeb, ofAll] = [parseLabelSelector('app=web'), parseLabelSelector('')]

test('only autoscalers that exist control pods', () => {
  const controlled = new AutoscaledPods()
  controlled.select('n/b', ofAll, () => [web, db])
  controlled.select('n/a', ofWeb, () => [])
  deepEqual(controlled.controlling([db, web]), ['n/a', 'n/b'])
  deepEqual(controlled.controlling([db]), ['n/b'])
  deepEqual(controlled.sizeOf('n'), { autoscalers: 2, pods: 2 })
  controlled.delete('n/a')
  deepEqual(controlled.controlling([web]), ['n/b'])
  controlled.delete('n/b')
  controlled.delete('n/b')
  deepEqual(controlled.controlling([web]), [])
  deepEqual(controlled.controlling([]), [])
  deepEqual(controlled.sizeOf('n'), { autoscalers: 0, pods: 0 })
})

test('the pods of a namespace follow their changes', () => {
  const selected = new AutoscaledPods()
  const select = () => namesOf(selected.select('n/a', ofWeb, () => [web, db]))
  deepEqual(select(), ['1'])
  const third = podOf('3', 'web')
  selected.podChanged(undefined, third)
  selected.podChanged(web, podOf('1', 'db'))
  deepEqual(select(), ['3'])
  selected.podChanged(third, undefined)
  deepEqual(select(), [])
  selected.podChanged(undefined, undefined)
})

test('an autoscaler whose target has another selector controls other pods', () => {
  const controlled = new AutoscaledPods()
  controlled.select('n/a', ofWeb, () => [web, db])
  controlled.select('n/a', parseLabelSelector('app=db'), () => [])
  deepEqual(controlled.controlling([web]), [])
  deepEqual(controlled.controlling([db]), ['n/a'])
})
