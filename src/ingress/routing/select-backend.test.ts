import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random/random.ts'
import type { WeightedBackend } from './route.ts'
import { selectBackend } from './select-backend.ts'

const backend = (service: string, weight: number): WeightedBackend => ({
  backend: { namespace: 'default', service, port: 80, protocol: 'http1' },
  weight,
  filters: [],
})

test('backends get requests in proportion to their weights', () => {
  const counts = new Map<string | undefined, number>()
  const random = seededRandom(1)
  const backends = [backend('a', 70), backend('b', 30), backend('c', 0)]
  for (let index = 0; index < 10_000; index++) {
    const name = selectBackend(backends, random)?.backend?.service
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  deepEqual([...counts.keys()].toSorted(), ['a', 'b'])
  equal(Math.round((counts.get('a') ?? 0) / 500), 14)
})

test('no backend is selected if all weights are 0', () => {
  equal(selectBackend([backend('a', 0)], seededRandom(1)), undefined)
  equal(selectBackend([backend('a', 0), backend('b', 0)], seededRandom(1)), undefined)
  equal(selectBackend([backend('a', 1)], seededRandom(1))?.backend?.service, 'a')
})
