import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Selector } from '../../api/selectors/selectors.ts'
import { parseLabelSelector } from '../../api/selectors/label-selector-text.ts'
import { AutoscaledPods, type Selected } from './autoscaled-pods.ts'

const podOf = (name: string, app: string): Pod =>
  ({ metadata: { namespace: 'n', name, labels: { app } } }) as unknown as Pod
const web = podOf('1', 'web')
const db = podOf('2', 'db')
const namesOf = ({ pods }: Selected) => pods.map(({ metadata }) => metadata.name)
const ofWeb = parseLabelSelector('app=web')
const ofAll = parseLabelSelector('')

test('only autoscalers that exist control pods', () => {
  const autoscaled = new AutoscaledPods()
  const controllersOf = (key: string, selector: Selector) =>
    autoscaled.select(key, selector, () => [web, db]).controllers
  deepEqual(controllersOf('n/b', ofAll), ['n/b'])
  deepEqual(controllersOf('n/a', ofWeb), ['n/a', 'n/b'])
  deepEqual(controllersOf('n/b', ofAll), ['n/a', 'n/b'])
  deepEqual(controllersOf('n/c', parseLabelSelector('app=other')), [])
  deepEqual(autoscaled.sizeOf('n'), { autoscalers: 3, pods: 2 })
  autoscaled.delete('n/a')
  deepEqual(controllersOf('n/b', ofAll), ['n/b'])
  for (const key of ['n/b', 'n/b', 'n/c']) autoscaled.delete(key)
  deepEqual(autoscaled.sizeOf('n'), { autoscalers: 0, pods: 0 })
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
  const autoscaled = new AutoscaledPods()
  const select = (key: string, text: string) => autoscaled.select(key, parseLabelSelector(text), () => [web, db])
  select('n/a', 'app=web')
  deepEqual(select('n/b', 'app=web').controllers, ['n/a', 'n/b'])
  deepEqual(select('n/a', 'app=db').controllers, ['n/a'])
  deepEqual(select('n/b', 'app=web').controllers, ['n/b'])
})
