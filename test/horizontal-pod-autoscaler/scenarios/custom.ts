// Pods and Object metrics, from custom.metrics.k8s.io.
import type { Scenario } from '../scenario.ts'
import { objectMetric, pods, podsMetric } from './metric-specs.ts'

const service = (value: string) => ({ objects: { 'services/web/requests': value } })
const unready = { ready: false, startedAgo: 60, changedAgo: 60 }

export const customScenarios: readonly Scenario[] = [
  {
    name: 'a pods metric above its target',
    spec: { metrics: [podsMetric('queue', '10')] },
    pods: pods(3),
    measures: { pods: { queue: ['20', '10', '30'] } },
  },
  {
    name: 'a pods metric in binary units',
    spec: { metrics: [podsMetric('queue', '1Ki')] },
    pods: pods(2),
    measures: { pods: { queue: ['2Ki', '2Ki'] } },
  },
  {
    name: 'an object metric in binary units',
    spec: { metrics: [objectMetric('Service', 'requests', { value: '1Ki' })] },
    pods: pods(2),
    measures: service('2Ki'),
  },
  {
    name: 'an object average in binary units',
    spec: { metrics: [objectMetric('Service', 'requests', { averageValue: '1Ki' })] },
    pods: pods(2),
    measures: service('4Ki'),
  },
  {
    name: 'a pods metric below its target',
    spec: { metrics: [podsMetric('queue', '10')] },
    pods: pods(4),
    measures: { pods: { queue: ['1', '2', '3', '2500m'] } },
  },
  {
    name: 'a pods metric at its target',
    spec: { metrics: [podsMetric('queue', '10')] },
    pods: pods(2),
    measures: { pods: { queue: ['10', '10500m'] } },
  },
  {
    name: 'a pods metric that one pod does not have, above',
    spec: { metrics: [podsMetric('queue', '10')] },
    pods: pods(3),
    measures: { pods: { queue: ['20', '30', null] } },
  },
  {
    name: 'a pods metric that one pod does not have, below',
    spec: { metrics: [podsMetric('queue', '10')] },
    pods: pods(3),
    measures: { pods: { queue: ['2', '3', null] } },
  },
  {
    name: 'a pods metric of unready pods',
    spec: { metrics: [podsMetric('queue', '10')] },
    pods: [{}, unready],
    measures: { pods: { queue: ['20', '30'] } },
  },
  {
    name: 'a pods metric of pending pods',
    spec: { metrics: [podsMetric('queue', '10')] },
    pods: [{}, { phase: 'Pending', ready: null }],
    measures: { pods: { queue: ['20', '30'] } },
  },
  {
    name: 'a pods metric that no pod has',
    spec: { metrics: [podsMetric('queue', '10')] },
    pods: pods(2),
    measures: {},
  },
  {
    name: 'a pods metric of an API that fails',
    spec: { metrics: [podsMetric('queue', '10')] },
    pods: pods(2),
    measures: { failing: { custom: 503 } },
  },
  {
    name: 'a pods metric with a selector',
    spec: {
      metrics: [
        {
          type: 'Pods',
          pods: {
            metric: { name: 'queue', selector: { matchLabels: { verb: 'GET' } } },
            target: { type: 'AverageValue', averageValue: '10' },
          },
        },
      ],
    },
    pods: pods(2),
    measures: { pods: { queue: ['20', '30'] } },
  },
  {
    name: 'an object value above its target',
    spec: { metrics: [objectMetric('Service', 'requests', { value: '100' })] },
    pods: pods(3),
    measures: service('150'),
  },
  {
    name: 'an object value below its target',
    spec: { metrics: [objectMetric('Service', 'requests', { value: '100' })] },
    pods: pods(3),
    measures: service('10'),
  },
  {
    name: 'an object value within the tolerance',
    spec: { metrics: [objectMetric('Service', 'requests', { value: '100' })] },
    pods: pods(3),
    measures: service('109'),
  },
  {
    name: 'an object value counts ready pods',
    spec: { metrics: [objectMetric('Service', 'requests', { value: '100' })] },
    pods: [{}, {}, unready],
    measures: service('200'),
  },
  {
    name: 'an object value without ready pods',
    spec: { metrics: [objectMetric('Service', 'requests', { value: '100' })] },
    pods: [unready],
    measures: service('200'),
  },
  {
    name: 'an object value without pods',
    target: { replicas: 2 },
    spec: { metrics: [objectMetric('Service', 'requests', { value: '100' })] },
    measures: service('200'),
  },
  {
    name: 'an object average above its target',
    spec: { metrics: [objectMetric('Service', 'requests', { averageValue: '30' })] },
    pods: pods(3),
    measures: service('150'),
  },
  {
    name: 'an object average below its target',
    spec: { metrics: [objectMetric('Service', 'requests', { averageValue: '30' })] },
    pods: pods(3),
    measures: service('25'),
  },
  {
    name: 'an object average within the tolerance',
    spec: { metrics: [objectMetric('Service', 'requests', { averageValue: '30' })] },
    pods: pods(3),
    measures: service('92500m'),
  },
  {
    name: 'an object average uses the replicas of the status',
    target: { replicas: 3, statusReplicas: 5 },
    spec: { metrics: [objectMetric('Service', 'requests', { averageValue: '30' })] },
    pods: pods(3),
    measures: service('150'),
  },
  {
    name: 'a metric of a Deployment',
    spec: { metrics: [objectMetric('Deployment', 'requests', { value: '100' }, 'apps/v1')] },
    pods: pods(2),
    measures: { objects: { 'deployments.apps/web/requests': '200' } },
  },
  {
    name: 'a metric of the namespace',
    spec: { metrics: [objectMetric('Namespace', 'requests', { value: '100' })] },
    pods: pods(2),
    measures: { objects: { 'namespace/requests': '200' } },
  },
  {
    name: 'a metric of an unknown kind',
    spec: { metrics: [objectMetric('Unknown', 'requests', { value: '100' })] },
    pods: pods(2),
    measures: service('1'),
  },
  {
    name: 'an object metric that does not exist',
    spec: { metrics: [objectMetric('Service', 'other', { value: '100' })] },
    pods: pods(2),
    measures: service('1'),
  },
  {
    name: 'an object average that does not exist',
    spec: { metrics: [objectMetric('Service', 'other', { averageValue: '100' })] },
    pods: pods(2),
    measures: service('1'),
  },
  {
    name: 'an object metric of an API that fails',
    spec: { metrics: [objectMetric('Service', 'requests', { value: '100' })] },
    pods: pods(2),
    measures: { failing: { custom: 500 } },
  },
]
