// Two moments compared: what was added, removed and changed.
import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { RequestError } from '../source/requests.ts'
import type { ClusterObject, ListOptions, Resource } from '../source/source.ts'
import { Comparison, differing } from './comparison.ts'

const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', isNamespaced: true, verbs: [] }
const object = (name: string, resourceVersion: string): ClusterObject => ({
  metadata: { name, namespace: 'default', resourceVersion },
})
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

suite('comparison', () => {
  test('objects of one moment only, and those of another version, differ', () => {
    const before = [object('b', '1'), object('gone', '1'), object('same', '1')]
    const after = [object('same', '1'), object('b', '2'), object('a', '3')]
    deepEqual(
      differing(before, after).map((each) => [each.before?.metadata.name, each.after?.metadata.name]),
      [
        [undefined, 'a'],
        ['b', 'b'],
        ['gone', undefined],
      ],
    )
    equal(differing([{ metadata: { name: 'x' } }], [{ metadata: { name: 'x' } }]).length, 1)
  })

  test('both moments are read once, and again on request', async () => {
    const asked: ListOptions[] = []
    const list = async (_: Resource, options: ListOptions) => {
      asked.push(options)
      return options.revision === undefined ? [object('a', '2')] : [object('a', '1')]
    }
    const comparison = new Comparison({ source: { list }, changed: () => undefined })
    comparison.follow(pods, 'default', 5, undefined)
    const count = (): number | undefined => comparison.objects?.length
    equal(count(), undefined)
    comparison.follow(pods, 'default', 5, undefined)
    await settled()
    equal(count(), 1)
    deepEqual(
      asked.map(({ revision }) => revision),
      [5, undefined],
    )
    comparison.again()
    comparison.follow(pods, 'default', 5, 7)
    await settled()
    deepEqual([asked.length, count()], [4, 0])
  })

  test('a moment that is not retained is said so; a late answer about another one is dropped', async () => {
    const late = Promise.withResolvers<readonly ClusterObject[]>()
    const list = (_: Resource, { revision }: ListOptions) =>
      revision === 1 ? Promise.reject(new RequestError(410, 'Expired', [])) : late.promise
    const comparison = new Comparison({ source: { list }, changed: () => undefined })
    comparison.follow(pods, '', 2, 3)
    comparison.follow(pods, '', 1, 3)
    late.resolve([])
    await settled()
    deepEqual(
      [comparison.objects, comparison.failure],
      [undefined, 'The earlier moment is no longer retained. Choose a later one.'],
    )
    const failing = new Comparison({
      source: { list: () => Promise.reject(new Error('gone')) },
      changed: () => undefined,
    })
    failing.follow(pods, '', 2, 3)
    await settled()
    equal(failing.failure, 'gone')
  })
})
