import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from './metrics.ts'
import { RemovedSeries } from './removed-series.ts'

const stage = () => {
  const metrics = new Metrics()
  const counts = metrics.counter('counts', '', ['group', 'resource', 'code'])
  const seconds = metrics.histogram('seconds', '', [1], ['group', 'resource'])
  const others = metrics.counter('others', '', ['group'])
  const series = new RemovedSeries(metrics, ['group', 'resource'])
  const observe = (resource: string) => {
    counts.add({ group: 'g', resource, code: '200' })
    counts.add({ group: 'g', resource, code: '404' })
    seconds.observe({ group: 'g', resource }, 2)
    others.add({ group: 'g' })
  }
  const resources = () => [...new Set(metrics.text().match(/(?<=resource=")\w+/g) ?? [])].toSorted()
  const hasOthers = () => metrics.text().includes('others{group="g"}')
  return { series, observe, resources, hasOthers }
}

test('the series of a removed subject are removed from all metrics with its labels, also those of what ends later', () => {
  const { series, observe, resources, hasOthers } = stage()
  for (const resource of ['a', 'b']) observe(resource)
  series.removed('g', 'a')
  series.removeSeries()
  deepEqual([resources(), hasOthers()], [['b'], true])
  observe('a')
  series.removeSeries()
  deepEqual(resources(), ['b'])
})

test('a subject that is added again has series', () => {
  const { series, observe, resources } = stage()
  series.removed('g', 'a')
  series.added('g', 'a')
  observe('a')
  series.removeSeries()
  deepEqual(resources(), ['a'])
})

test('without a scrape, the series of every sixteen removed subjects are removed at once', () => {
  const { series, observe, resources } = stage()
  const names = Array.from({ length: 17 }, (_, index) => `r${index}`)
  for (const name of names) observe(name)
  for (const name of names) series.removed('g', name)
  deepEqual(resources(), ['r16'])
})
