// Tables for HorizontalPodAutoscaler.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, objectFrom, testInvalidObjects, type InvalidCase } from '../../kind/kind.harness.ts'
import { horizontalPodAutoscaler } from './horizontal-pod-autoscaler.ts'

const spec = { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } }
const target = { type: 'Value', value: '1' }
const average = { type: 'AverageValue', averageValue: '500m' }
const metric = { name: 'requests' }
const described = { kind: 'Service', name: 'web', apiVersion: 'v1' }
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }
const measuring = (...metrics: object[]) => ({ spec: { ...spec, metrics } })
const scaling = (scaleDown: object) => ({ spec: { ...spec, behavior: { scaleDown } } })

test('an autoscaler without metrics uses the CPU', () => {
  const { minReplicas, metrics, behavior } = objectFrom(horizontalPodAutoscaler, { spec }).spec
  deepEqual(
    [minReplicas, metrics, behavior],
    [
      1,
      [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }],
      undefined,
    ],
  )
})

test('a partial behavior gets defaults in both directions', () => {
  deepEqual(objectFrom(horizontalPodAutoscaler, scaling({ stabilizationWindowSeconds: 60 })).spec.behavior, {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [
        { type: 'Pods', value: 4, periodSeconds: 15 },
        { type: 'Percent', value: 100, periodSeconds: 15 },
      ],
    },
    scaleDown: {
      stabilizationWindowSeconds: 60,
      selectPolicy: 'Max',
      policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
    },
  })
})

const invalidCases: readonly InvalidCase[] = [
  ['valid', { spec }, []],
  [
    'no bound',
    { spec: { ...spec, maxReplicas: 0 } },
    [
      'spec.maxReplicas: Required value: must be set and greater than 0',
      'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
    ],
  ],
  [
    'bounds in the wrong order',
    { spec: { ...spec, minReplicas: 4 } },
    ['spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`'],
  ],
  [
    'no target',
    { spec: { maxReplicas: 3 } },
    [
      'spec.scaleTargetRef.kind: Required value',
      'spec.scaleTargetRef.name: Required value',
      'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
    ],
  ],
  [
    'a target with a version too many',
    { spec: { ...spec, scaleTargetRef: { ...spec.scaleTargetRef, apiVersion: 'a/b/c' } } },
    ['spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
  ],
  [
    'a target of the core group',
    { spec: { ...spec, scaleTargetRef: { apiVersion: 'v1', kind: 'ReplicationController', name: 'web' } } },
    [],
  ],
  [
    'a metric of every type',
    measuring(
      cpu,
      { type: 'Pods', pods: { metric, target: average } },
      { type: 'Object', object: { describedObject: described, metric, target } },
      { type: 'External', external: { metric, target } },
      { type: 'ContainerResource', containerResource: { name: 'memory', container: 'c', target: average } },
    ),
    [],
  ],
  [
    'a metric without type is reported where its source should be, too',
    measuring({}),
    [
      'spec.metrics[0].type: Required value: must specify a metric source type',
      'spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
      'spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
    ],
  ],
  [
    'a source of another type',
    measuring({ ...cpu, type: 'Pods' }),
    ['spec.metrics[0].pods: Required value: must populate information for the given metric source'],
  ],
  [
    'two sources',
    measuring({ ...cpu, pods: { metric, target: average } }),
    ['spec.metrics[0].pods: Forbidden: must populate the given metric source only'],
  ],
  [
    'a target without type and value',
    measuring({ type: 'Resource', resource: { name: 'cpu' } }),
    [
      'spec.metrics[0].resource.target.type: Required value: must specify a metric target type',
      'spec.metrics[0].resource.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
      'spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization',
    ],
  ],
  [
    'a target that is not positive',
    measuring({ type: 'External', external: { metric, target: { type: 'Value', value: '0' } } }),
    ['spec.metrics[0].external.target.value: Invalid value: "0": must be positive'],
  ],
  [
    'a metric whose name is no path segment',
    measuring({ type: 'Pods', pods: { metric: { name: 'a/b' }, target: average } }),
    [`spec.metrics[0].pods.metric.name: Invalid value: "a/b": may not contain '/'`],
  ],
]
testInvalidObjects(horizontalPodAutoscaler, invalidCases)

testInvalidObjects(horizontalPodAutoscaler, [
  [
    'a behavior out of bounds',
    scaling({ stabilizationWindowSeconds: 3601, selectPolicy: 'Median', tolerance: '-1' }),
    [
      'spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
      'spec.behavior.scaleDown.selectPolicy: Unsupported value: "Median": supported values: "Disabled", "Max", "Min"',
      'spec.behavior.scaleDown.tolerance: Invalid value: "-1": must be greater than or equal to 0',
    ],
  ],
  [
    'a policy out of bounds',
    scaling({ policies: [{ type: 'Nodes', value: 0, periodSeconds: 1801 }] }),
    [
      'spec.behavior.scaleDown.policies[0].type: Unsupported value: "Nodes": supported values: "Percent", "Pods"',
      'spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero',
      'spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
    ],
  ],
])

test('the columns show two metrics, measured or not', () => {
  const current = { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 30 } } }
  const external = { type: 'External', external: { metric, target: average } }
  const shown = (metrics: object[], status: object) =>
    cellsOf(horizontalPodAutoscaler, { ...measuring(...metrics), status })
  deepEqual(
    [
      shown([cpu], {}),
      shown([cpu, external], { currentReplicas: 2, currentMetrics: [current] }),
      shown([external, { type: 'Pods', pods: { metric, target: average } }, cpu], {}),
    ],
    [
      ['x', 'Deployment/web', 'cpu: <unknown>/50%', '1', 3, 0, '60s'],
      ['x', 'Deployment/web', 'cpu: 30%/50%, <unknown>/500m (avg)', '1', 3, 2, '60s'],
      ['x', 'Deployment/web', '<unknown>/500m (avg), <unknown>/500m + 1 more...', '1', 3, 0, '60s'],
    ],
  )
})
