// Scale targets of all kinds, targets that cannot be scaled, selectors, and several metrics.
import type { Scenario } from '../scenario.ts'
import { each, externalMetric, pods, podsMetric, utilization } from './metric-specs.ts'

const busy = { spec: { metrics: [utilization(50)] }, pods: pods(2), measures: { cpu: each(2, '100m') } }
const broken = podsMetric('none', '1')
const queue = podsMetric('queue', '10')

export const targetScenarios: readonly Scenario[] = [
  { name: 'a missing target', target: 'none', next: [{}] },
  ...(['ReplicaSet', 'ReplicationController', 'StatefulSet'] as const).map((kind): Scenario => ({
    name: `a ${kind}`,
    target: { kind },
    ...busy,
  })),
  { name: 'a custom resource', target: { kind: 'Widget', selector: 'app=web' }, ...busy },
  { name: 'a custom resource without a selector', target: { kind: 'Widget' }, ...busy },
  { name: 'a custom resource with an invalid selector', target: { kind: 'Widget', selector: 'app=(' }, ...busy },
  { name: 'a custom resource with a set selector', target: { kind: 'Widget', selector: 'app in (web,x)' }, ...busy },
  {
    name: 'a kind that does not exist',
    spec: { ...busy.spec, scaleTargetRef: { kind: 'Gadget', name: 'web', apiVersion: 'example.com/v1' } },
    pods: pods(1),
  },
  {
    name: 'a kind of another group',
    spec: { ...busy.spec, scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'extensions/v1beta1' } },
    pods: pods(1),
  },
  {
    name: 'a version that does not exist',
    ...busy,
    spec: { ...busy.spec, scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v9' } },
  },
  {
    name: 'a kind without replicas',
    spec: { ...busy.spec, scaleTargetRef: { kind: 'Job', name: 'web', apiVersion: 'batch/v1' } },
    pods: pods(1),
  },
  {
    name: 'a target with zero replicas',
    target: { replicas: 0 },
    spec: busy.spec,
    next: [{ replicas: 2 }, { replicas: 0 }],
  },
  { name: 'a target that others scale', ...busy, next: [{ replicas: 1, statusReplicas: 1 }, { replicas: 9 }] },
  { name: 'two autoscalers of the same pods', ...busy, rivals: ['other'], next: [{}] },
  { name: 'three autoscalers of the same pods', ...busy, rivals: ['other', 'third'], next: [{}] },
  {
    name: 'several metrics, of which the highest decides',
    spec: { metrics: [utilization(50), queue, externalMetric('jobs', { averageValue: '10' })] },
    pods: pods(2),
    measures: { cpu: each(2, '60m'), pods: { queue: ['15', '15'] }, external: { jobs: [{ value: '45' }] } },
    next: [{ measures: { cpu: each(2, '90m'), pods: { queue: ['15', '15'] }, external: { jobs: [{ value: '10' }] } } }],
  },
  {
    name: 'several metrics that are all below their targets',
    spec: { metrics: [utilization(50), queue] },
    pods: pods(4),
    measures: { cpu: each(4, '10m'), pods: { queue: each(4, '5') } },
    next: [{}, {}, {}],
  },
  {
    name: 'one of two metrics is broken and the other scales up',
    spec: { metrics: [broken, utilization(50)] },
    pods: pods(2),
    measures: { cpu: each(2, '100m') },
  },
  {
    name: 'one of two metrics is broken and the other keeps',
    spec: { metrics: [utilization(50), broken] },
    pods: pods(2),
    measures: { cpu: each(2, '50m') },
  },
  {
    name: 'one of two metrics is broken and the other scales down',
    spec: { metrics: [utilization(50), broken] },
    pods: pods(4),
    measures: { cpu: each(4, '10m') },
  },
  {
    name: 'all metrics are broken',
    spec: { metrics: [broken, externalMetric('none', { value: '1' })] },
    pods: pods(2),
    measures: {},
  },
  {
    name: 'a broken metric is repaired',
    spec: { metrics: [utilization(50), queue] },
    pods: pods(4),
    measures: { cpu: each(4, '10m') },
    next: [{ measures: { cpu: each(4, '10m'), pods: { queue: each(4, '20') } } }],
  },
  {
    name: 'the spec changes',
    ...busy,
    next: [{ spec: { maxReplicas: 3 } }, { spec: { minReplicas: 2, maxReplicas: 20, metrics: [utilization(20)] } }],
  },
  {
    name: 'the replicas of the status differ from the desired ones',
    target: { replicas: 4, statusReplicas: 2 },
    ...busy,
  },
]
