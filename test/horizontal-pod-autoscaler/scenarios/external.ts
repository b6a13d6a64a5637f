// External metrics, from external.metrics.k8s.io.
import type { Scenario } from '../scenario.ts'
import { externalMetric, pods } from './metric-specs.ts'

const value = { metrics: [externalMetric('jobs', { value: '100' })] }
const average = { metrics: [externalMetric('jobs', { averageValue: '50' })] }
const jobs = (...values: string[]) => ({ external: { jobs: values.map((each) => ({ value: each })) } })

export const externalScenarios: readonly Scenario[] = [
  { name: 'an external value above its target', spec: value, pods: pods(3), measures: jobs('150') },
  { name: 'an external value below its target', spec: value, pods: pods(3), measures: jobs('20') },
  { name: 'an external value within the tolerance', spec: value, pods: pods(3), measures: jobs('95') },
  { name: 'an external value in binary units', spec: value, pods: pods(3), measures: jobs('2Ki', '2Ki') },
  { name: 'an external average in binary units', spec: average, pods: pods(2), measures: jobs('2Ki', '2Ki') },
  { name: 'several external values', spec: value, pods: pods(3), measures: jobs('100', '60', '25500m') },
  { name: 'an external value of zero', spec: value, pods: pods(3), measures: jobs('0') },
  { name: 'an external value without pods', target: { replicas: 3 }, spec: value, measures: jobs('200') },
  { name: 'an external average above its target', spec: average, pods: pods(3), measures: jobs('400') },
  { name: 'an external average below its target', spec: average, pods: pods(3), measures: jobs('40') },
  { name: 'an external average within the tolerance', spec: average, pods: pods(3), measures: jobs('155') },
  {
    name: 'an external average of a target without running replicas',
    target: { replicas: 2, statusReplicas: 0 },
    spec: average,
    measures: jobs('400'),
  },
  { name: 'an external metric without values', spec: value, pods: pods(1), measures: {} },
  { name: 'an external average without values', spec: average, pods: pods(1), measures: {} },
  {
    name: 'an external metric of an API that fails',
    spec: value,
    pods: pods(1),
    measures: { failing: { external: 503 } },
  },
  {
    name: 'an external metric with a selector',
    spec: { metrics: [externalMetric('jobs', { value: '100' }, { queue: 'a', zone: 'b' })] },
    pods: pods(2),
    measures: {
      external: {
        jobs: [
          { value: '300', labels: { queue: 'a', zone: 'b' } },
          { value: '900', labels: { queue: 'c' } },
        ],
      },
    },
  },
  {
    name: 'an external metric with expressions',
    spec: {
      metrics: [
        {
          type: 'External',
          external: {
            metric: {
              name: 'jobs',
              selector: { matchExpressions: [{ key: 'queue', operator: 'In', values: ['a', 'b'] }] },
            },
            target: { type: 'AverageValue', averageValue: '100' },
          },
        },
      ],
    },
    pods: pods(2),
    measures: { external: { jobs: [{ value: '500', labels: { queue: 'a' } }] } },
  },
]
