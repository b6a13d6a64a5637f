// HorizontalPodAutoscaler v1 and v2 are the same objects: annotations preserve what v1 has no fields for.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, errorsOf, objectFrom } from '../../kind/kind.harness.ts'
import type { ApiObject } from '../../meta/object.ts'
import { horizontalPodAutoscaler as v2, type HorizontalPodAutoscaler } from '../v2/horizontal-pod-autoscaler.ts'
import { horizontalPodAutoscalerV1 as v1 } from './horizontal-pod-autoscaler.ts'

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const spec = { scaleTargetRef, maxReplicas: 3 }
const toStored = (object: ApiObject) => v1.storedAs?.toStored(object as never) as HorizontalPodAutoscaler
const fromStored = (object: ApiObject) => v1.storedAs?.fromStored(object)

test('CPU is a field, and a metric in v2', () => {
  const stored = toStored(objectFrom(v1, { spec: { ...spec, targetCPUUtilizationPercentage: 50 } }))
  deepEqual(stored.spec.metrics, [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  ])
  const shown = fromStored(stored)
  deepEqual(
    [shown?.apiVersion, shown?.spec.targetCPUUtilizationPercentage, shown?.metadata.annotations],
    ['autoscaling/v1', 50, undefined],
  )
})

test('without a target it is 80 % of the CPU', () => {
  equal(fromStored(toStored(objectFrom(v1, { spec })))?.spec.targetCPUUtilizationPercentage, 80)
})

const selector = { matchLabels: { a: 'b' } }
const metrics = [
  { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
  {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 7 } },
  },
  { type: 'Pods', pods: { metric: { name: 'rps', selector }, target: { type: 'AverageValue', averageValue: '10' } } },
  {
    type: 'Object',
    object: { describedObject: scaleTargetRef, metric: { name: 'q' }, target: { type: 'Value', value: '5' } },
  },
  { type: 'External', external: { metric: { name: 'e', selector }, target: { type: 'Value', value: '2' } } },
]
const behavior = { scaleDown: { stabilizationWindowSeconds: 60, selectPolicy: 'Min' } }
const status = {
  desiredReplicas: 2,
  conditions: [{ type: 'AbleToScale', status: 'True', reason: 'R', lastTransitionTime: null }],
  currentMetrics: [
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 30, averageValue: '300m' } } },
    { type: 'External', external: { metric: { name: 'e' }, current: { value: '4' } } },
  ],
}

test('what v1 has no fields for is preserved in its annotations', () => {
  const whole = objectFrom(v2, { spec: { ...spec, metrics, behavior }, status })
  const shown = fromStored(whole)
  const annotations = shown?.metadata.annotations ?? {}
  deepEqual(
    Object.keys(annotations).map((name) => name.slice('autoscaling.alpha.kubernetes.io/'.length)),
    ['metrics', 'current-metrics', 'behavior', 'conditions'],
  )
  equal(shown?.status.currentCPUUtilizationPercentage, 30)
  deepEqual(JSON.parse(annotations['autoscaling.alpha.kubernetes.io/metrics'] ?? '')[2], {
    type: 'Pods',
    pods: { metricName: 'rps', selector, targetAverageValue: '10' },
  })
  const back = toStored(shown)
  deepEqual(back.spec, whole.spec)
  deepEqual([back.status.conditions, back.status.currentMetrics], [status.conditions, status.currentMetrics])
  equal(back.metadata.annotations, undefined)
})

test('an annotation that cannot be parsed is ignored', () => {
  const metadata = { name: 'x', annotations: { 'autoscaling.alpha.kubernetes.io/metrics': '{', own: 'kept' } }
  const stored = toStored(objectFrom(v1, { metadata, spec: { ...spec, targetCPUUtilizationPercentage: 1 } }))
  deepEqual([stored.spec.metrics?.length, stored.metadata.annotations], [1, { own: 'kept' }])
})

test('errors and columns are those of v2', () => {
  deepEqual(errorsOf(v1, { spec: { ...spec, targetCPUUtilizationPercentage: 0 } }), [
    'spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0',
  ])
  deepEqual(cellsOf(v1, { spec, status: { currentReplicas: 1 } }).slice(0, 2), ['x', 'Deployment/web'])
})
