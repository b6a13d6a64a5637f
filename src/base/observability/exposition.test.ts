import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { labelPairs, negotiateExposition, openMetricsFormat, textFormat } from './exposition.ts'
import { Metrics } from './metrics.ts'

const negotiations: readonly [accept: string, isOpenMetrics: boolean][] = [
  ['', false],
  ['*/*', false],
  ['text/plain', false],
  ['application/openmetrics-text', true],
  ['application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5', true],
  ['application/openmetrics-text; version=1.0.0; q=0.2, text/plain; q=0.5', false],
  ['application/openmetrics-text;q=0', false],
  ['application/openmetrics-text;version=9.0.0', false],
]

for (const [accept, isOpenMetrics] of negotiations)
  test(`Accept ${JSON.stringify(accept)} gets ${isOpenMetrics ? 'OpenMetrics' : 'the text format'}`, () => {
    equal(negotiateExposition(accept), isOpenMetrics ? openMetricsFormat : textFormat)
  })

test('OpenMetrics: counters end in _total, bounds are decimal, exemplars name their trace, and the text has an end', () => {
  const metrics = new Metrics()
  metrics.counter('attempts', 'Counted.', ['result']).add({ result: 'success' })
  metrics.counter('requests_total', 'Counted with "quotes".').add({}, 2)
  metrics.gauge('low', 'Measured.').set({}, -Infinity)
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const series = metrics.histogram('seconds', 'Time.', [0.5, 1], ['verb']).with({ verb: 'GET' })
  series.observe(0.7, { traceId, timestampMs: 1_500 })
  series.observe(2)
  equal(
    metrics.text(openMetricsFormat),
    `# HELP attempts Counted.
# TYPE attempts counter
attempts_total{result="success"} 1
# HELP low Measured.
# TYPE low gauge
low -Inf
# HELP requests Counted with \\"quotes\\".
# TYPE requests counter
requests_total 2
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{verb="GET",le="0.5"} 0
seconds_bucket{verb="GET",le="1.0"} 1 # {trace_id="${traceId}"} 0.7 1.5
seconds_bucket{verb="GET",le="+Inf"} 2
seconds_sum{verb="GET"} 2.7
seconds_count{verb="GET"} 2
# EOF
`,
  )
})

test('timestamps are milliseconds in the text format and seconds in OpenMetrics', () => {
  const sample = { suffix: '', labels: labelPairs([['pod', 'a"b\\']]), value: 3, timestampMs: 1_250 } as const
  const families = [{ name: 'used', type: 'gauge', help: 'Used.', samples: [sample] }] as const
  const head = '# HELP used Used.\n# TYPE used gauge\n'
  equal(textFormat.write(families), `${head}used{pod="a\\"b\\\\"} 3 1250\n`)
  equal(openMetricsFormat.write(families), `${head}used{pod="a\\"b\\\\"} 3 1.25\n# EOF\n`)
})

test('no families are an empty text', () => {
  equal(textFormat.write([]), '')
})
