// The lists of a summary: when they are read, and read again.
import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { RequestError } from '../source/requests.ts'
import type { ListOptions, Resource } from '../source/source.ts'
import { RelatedObjects } from './related-objects.ts'

const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', isNamespaced: true, verbs: [] }
const query = { resource: 'pods', namespace: 'default', labelSelector: 'app=web' }
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}
const persist = (resource: string): FlowEvent =>
  ({ arrow: 'persist', object: { resource, namespace: 'default', name: 'a' } }) as FlowEvent

function related(list: (options: ListOptions) => Promise<readonly { metadata: { name: string } }[]>) {
  const asked: ListOptions[] = []
  const slept: number[] = []
  let nowMs = 0
  const objects = new RelatedObjects({
    source: {
      isLive: true,
      list: (_resource, options) => {
        asked.push(options)
        return list(options)
      },
    },
    resourceOf: (id) => (id === 'pods' ? pods : undefined),
    nowMs: () => nowMs,
    sleep: async (ms) => void slept.push(ms),
    changed: () => undefined,
  })
  return { objects, asked, slept, passTime: (ms: number) => (nowMs += ms) }
}

suite('related objects', () => {
  test('they are read once for what is shown, and again when they, the object or time have changed', async () => {
    const { objects, asked, slept, passTime } = related(async () => [{ metadata: { name: 'a' } }])
    objects.follow([query], '1', undefined)
    equal(objects.isLoaded, false)
    await settled()
    objects.follow([query], '1', undefined)
    await settled()
    deepEqual([objects.isLoaded, objects.lists('pods').length, asked.length], [true, 1, 1])
    deepEqual(asked[0], { namespace: 'default', labelSelector: 'app=web', revision: undefined })

    objects.observe([persist('secrets')])
    await settled()
    equal(asked.length, 1)
    objects.observe([persist('pods')])
    await settled()
    objects.follow([query], '2', undefined)
    await settled()
    deepEqual([asked.length, slept], [3, [1_000, 1_000]])
    passTime(16_000)
    objects.follow([query], '2', undefined)
    await settled()
    equal(asked.length, 4)
  })

  test('the past is read once', async () => {
    const { objects, asked } = related(async () => [])
    objects.follow([query], '1', 7)
    await settled()
    objects.observe([persist('pods')])
    objects.follow([query], '2', 7)
    await settled()
    deepEqual([asked.length, asked[0]?.revision], [1, 7])
  })

  test('what happens while they are read is read afterwards', async () => {
    const first = Promise.withResolvers<readonly []>()
    const { objects, asked } = related(() => (asked.length === 1 ? first.promise : Promise.resolve([])))
    objects.follow([query], '1', undefined)
    objects.observe([persist('pods')])
    await settled()
    equal(asked.length, 1)
    first.resolve([])
    await settled()
    equal(asked.length, 2)
  })

  test('kinds that the user may not list are named, those that the cluster does not have are empty', async () => {
    const { objects } = related(() => Promise.reject(new RequestError(403, 'forbidden', [])))
    objects.follow([query, { ...query, resource: 'widgets.example.com' }], '1', undefined)
    await settled()
    deepEqual([objects.forbidden, objects.failure, objects.lists('pods')], [['pods'], undefined, []])
  })

  test('another error is shown; what belongs to another object is dropped', async () => {
    const late = Promise.withResolvers<readonly { metadata: { name: string } }[]>()
    const { objects, asked } = related(() =>
      asked.length === 1 ? Promise.reject(new Error('no connection')) : late.promise,
    )
    objects.follow([query], '1', undefined)
    await settled()
    equal(objects.failure, 'no connection')
    objects.follow([{ ...query, labelSelector: 'app=other' }], '1', undefined)
    objects.close()
    late.resolve([{ metadata: { name: 'late' } }])
    await settled()
    deepEqual([objects.failure, objects.lists('pods')], [undefined, []])
  })
})
