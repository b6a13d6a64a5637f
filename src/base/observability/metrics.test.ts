import { deepEqual, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { labelCharsMax } from './metric-series.ts'
import { Metrics } from './metrics.ts'

test('the text format', () => {
  const metrics = new Metrics()
  const requests = metrics.counter('requests_total', 'Requests by verb.', ['verb', 'code'])
  requests.add({ verb: 'GET', code: '200' })
  requests.add({ verb: 'GET', code: '200' }, 2)
  requests.add({ verb: 'say "hi"\n', code: '500' })
  metrics.gauge('depth', 'Keys that wait.').set({}, 4)
  const seconds = metrics.histogram('seconds', 'Time.', [0.1, 1], ['verb'])
  for (const value of [0.05, 0.1, 0.5, 7]) seconds.observe({ verb: 'GET' }, value)
  equal(
    metrics.text(),
    `# HELP depth Keys that wait.
# TYPE depth gauge
depth 4
# HELP requests_total Requests by verb.
# TYPE requests_total counter
requests_total{verb="GET",code="200"} 3
requests_total{verb="say \\"hi\\"\\n",code="500"} 1
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{verb="GET",le="0.1"} 2
seconds_bucket{verb="GET",le="1"} 3
seconds_bucket{verb="GET",le="+Inf"} 4
seconds_sum{verb="GET"} 7.65
seconds_count{verb="GET"} 4
`,
  )
})

test('a series that is removed starts again at 0', () => {
  const metrics = new Metrics()
  const counted = metrics.counter('c', 'help', ['a'])
  counted.add({ a: 'x' }, 2)
  counted.add({ a: 'y' })
  counted.remove({ a: 'x' })
  match(metrics.text(), /\nc{a="y"} 1\n$/)
  equal(metrics.text().includes('a="x"'), false)
  counted.add({ a: 'x' })
  match(metrics.text(), /\nc{a="x"} 1\n/)
})

test('the series of a subject are removed from all metrics that have its labels', () => {
  const metrics = new Metrics()
  const ofBoth = metrics.counter('both', '', ['verb', 'group', 'resource'])
  const seconds = metrics.histogram('seconds', '', [1], ['group', 'resource'])
  const ofOne = metrics.gauge('one', '', ['resource'])
  for (const resource of ['a', 'b']) {
    for (const verb of ['GET', 'PUT']) ofBoth.add({ verb, group: 'g', resource })
    ofBoth.add({ verb: 'GET', group: 'h', resource })
    seconds.observe({ group: 'g', resource }, 2)
    ofOne.set({ resource }, 1)
  }
  metrics.removeWhere(['group', 'resource'], ([group, resource]) => group === 'g' && resource === 'a')
  deepEqual(metrics.text().match(/^\w+\{.*resource="a".*$/gm), [
    'both{verb="GET",group="h",resource="a"} 1',
    'one{resource="a"} 1',
  ])
  equal(metrics.text().match(/^\w+\{.*resource="b".*$/gm)?.length, 8)
  seconds.observe({ group: 'g', resource: 'a' }, 2)
  match(metrics.text(), /^seconds_count\{group="g",resource="a"\} 1$/m)
})

test('values can be computed when the metrics are read', () => {
  const metrics = new Metrics()
  const gauge = metrics.gauge('g', '')
  let value = 1
  const stop = metrics.beforeText(() => gauge.set({}, value))
  match(metrics.text(), /\ng 1\n$/)
  value = 2
  match(metrics.text(), /\ng 2\n$/)
  stop()
  value = 3
  match(metrics.text(), /\ng 2\n$/)
})

test('a name is unique', () => {
  const metrics = new Metrics()
  metrics.counter('a', '')
  throws(() => metrics.gauge('a', ''), /metric a is defined twice/)
})

test('the number of series is bounded', () => {
  const metrics = new Metrics()
  const counter = metrics.counter('c', '', ['id'])
  for (let i = 0; i < 10_100; i++) counter.add({ id: String(i) })
  equal(metrics.text().split('\n').length, 10_000 + 2 + 1)
})

test('a label value that is too long is replaced, so that a scrape stays short', () => {
  const metrics = new Metrics()
  const counter = metrics.counter('requests_total', 'Requests.', ['verb', 'path'])
  for (let index = 0; index < 10; index++) counter.add({ verb: 'get', path: `${index}`.padEnd(labelCharsMax + 1, 'x') })
  counter.add({ verb: 'get', path: '/' })
  deepEqual(metrics.text().split('\n').slice(2, 4), [
    'requests_total{verb="get",path="too long"} 10',
    'requests_total{verb="get",path="/"} 1',
  ])
})
