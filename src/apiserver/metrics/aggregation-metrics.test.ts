// The series of APIServices: the gauge ends with the object, the counter does not.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { AggregationMetrics } from './aggregation-metrics.ts'

test('an APIService that is not available is reported and counted', () => {
  const metrics = new Metrics()
  const own = new AggregationMetrics(metrics)
  const series = () =>
    metrics
      .text()
      .split('\n')
      .filter((line) => line.startsWith('aggregator_'))
  own.set('v1.apps', true)
  own.set('v1.example.com', false)
  own.becameUnavailable('v1.example.com', 'FailedDiscoveryCheck')
  const counted = 'aggregator_unavailable_apiservice_total{name="v1.example.com",reason="FailedDiscoveryCheck"} 1'
  deepEqual(series(), [
    'aggregator_unavailable_apiservice{name="v1.apps"} 0',
    'aggregator_unavailable_apiservice{name="v1.example.com"} 1',
    counted,
  ])
  own.remove('v1.example.com')
  deepEqual(series(), ['aggregator_unavailable_apiservice{name="v1.apps"} 0', counted])
})
