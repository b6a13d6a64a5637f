// Resource metrics: utilization and average values of the pods' CPU and memory, with missing and unready pods.
import type { PodState, Scenario } from '../scenario.ts'
import { averageUsage, each, pods, utilization } from './metric-specs.ts'

type UtilizationRow = [name: string, target: number, usage: readonly (string | null)[], states?: readonly PodState[]]

const starting: PodState = { startedAgo: 60, changedAgo: 50 }
const unready: PodState = { ready: false, startedAgo: 60, changedAgo: 60 }

/** Pods request 100m of CPU. */
const utilizations: readonly UtilizationRow[] = [
  ['is at the target', 50, ['50m', '50m', '50m']],
  ['is above the target', 50, ['100m', '100m', '100m']],
  ['is below the target', 50, ['10m', '10m', '10m']],
  ['is within the tolerance above', 50, ['55m', '55m', '55m']],
  ['is beyond the tolerance above', 50, ['56m', '56m', '56m']],
  ['is within the tolerance below', 50, ['45m', '45m', '45m']],
  ['is beyond the tolerance below', 50, ['44m', '44m', '44m']],
  ['is truncated to a whole percentage', 50, ['55900u', '55900u', '55900u']],
  ['differs between pods', 30, ['5m', '20m', '110m']],
  ['is above all requests', 100, ['350m', '250m']],
  ['has a target above the request', 150, ['300m', '300m', '100m']],
  ['is zero', 50, ['0', '0', '0', '0']],
  ['rounds up to whole replicas', 60, ['70m', '70m', '70m']],
  ['would scale up and one pod has no metrics', 50, ['100m', '100m', null]],
  ['would scale down and one pod has no metrics', 50, ['10m', '10m', null]],
  ['would scale down far and one pod has no metrics', 80, ['10m', '10m', '10m', '10m', null]],
  ['has a high target and one pod has no metrics', 200, ['10m', '10m', '10m', '10m', null]],
  ['is at the target and one pod has no metrics', 50, ['50m', '50m', null]],
  ['of all pods is missing', 50, [null, null, null]],
  ['would scale up with a pod that starts', 30, ['30m', '50m', '100m'], [{}, {}, unready]],
  ['would scale up with unready pods only', 30, ['100m', '100m'], [unready, unready]],
  ['would scale down with unready pods', 50, ['10m', '10m', '100m'], [{}, {}, unready]],
  ['would scale up with pending pods', 30, ['80m', '80m', null], [{}, {}, { phase: 'Pending', ready: null }]],
  [
    'would scale up a little with pending pods',
    50,
    ['80m', '80m', null, null, null],
    [{}, {}, ...pods(3, { phase: 'Pending', ready: false })],
  ],
  ['counts a pod that was measured before it was ready', 50, ['100m', '100m', '100m'], [{}, {}, starting]],
  ['ignores failed pods', 50, ['100m', '100m', '100m'], [{}, {}, { phase: 'Failed', ready: false }]],
  ['counts pods that have succeeded', 50, ['100m', '100m', '10m'], [{}, {}, { phase: 'Succeeded', ready: false }]],
  ['ignores pods that are being deleted', 50, ['100m', '100m', '100m'], [{}, {}, { deleting: true }]],
  ['does not count a pod without a Ready condition', 50, ['100m', '100m', '100m'], [{}, {}, { ready: null }]],
  ['does not count a pod without a start time', 50, ['100m', '100m', '100m'], [{}, {}, { startedAgo: null }]],
  [
    'counts a pod that became unready after its start',
    50,
    ['100m', '100m', '0'],
    [{}, {}, { ready: false, startedAgo: 900, changedAgo: 600 }],
  ],
  [
    'does not count a pod that was never ready',
    50,
    ['100m', '100m', '0'],
    [{}, {}, { ready: false, startedAgo: 900, changedAgo: 895 }],
  ],
  [
    'counts a pod that became unready long after its start',
    50,
    ['100m', '100m', '0'],
    [{}, {}, { ready: false, startedAgo: 900, changedAgo: 860 }],
  ],
  ['has missing and unready pods', 50, ['100m', '90m', null, '10m'], [{}, {}, {}, unready]],
  ['has more missing pods than measured ones', 50, ['60m', null, null, null, null]],
]

const several = { a: { cpu: '100m' }, b: { cpu: '300m' } }

export const resourceScenarios: readonly Scenario[] = [
  ...utilizations.map(([name, target, cpu, states = pods(cpu.length)]): Scenario => ({
    name: `cpu utilization ${name}`,
    spec: { metrics: [utilization(target)] },
    pods: states,
    measures: { cpu },
  })),
  {
    name: 'cpu utilization was measured after the pod was ready',
    spec: { metrics: [utilization(50)] },
    pods: [{}, {}, { startedAgo: 60, changedAgo: 50 }],
    measures: { cpu: each(3, '100m'), window: '10s' },
  },
  {
    name: 'cpu utilization scales up, is stable, and then has no metrics',
    spec: { metrics: [utilization(50)] },
    pods: pods(3),
    measures: { cpu: each(3, '100m') },
    next: [{}, { measures: {} }, { measures: { cpu: each(3, '100m') } }],
  },
  {
    name: 'cpu utilization without a request',
    spec: { metrics: [utilization(50)] },
    pods: [{}, { containers: { c: { memory: '1Mi' } } }],
    measures: { cpu: each(2, '100m') },
  },
  {
    name: 'cpu utilization of pods with several containers',
    spec: { metrics: [utilization(50)] },
    pods: pods(2, { containers: several }),
    measures: {
      containers: {
        'web-0': { a: { cpu: '200m' }, b: { cpu: '100m' } },
        'web-1': { a: { cpu: '300m' }, b: { cpu: '100m' } },
      },
    },
  },
  {
    name: 'cpu utilization with a container that is not measured',
    spec: { metrics: [utilization(50)] },
    pods: pods(2, { containers: several }),
    measures: {
      containers: {
        'web-0': { a: { cpu: '200m' }, b: { memory: '1Mi' } },
        'web-1': { a: { cpu: '300m' }, b: { cpu: '100m' } },
      },
    },
  },
  {
    name: 'cpu utilization with a sidecar',
    spec: { metrics: [utilization(50)] },
    pods: pods(2, { sidecars: { s: { cpu: '100m' } } }),
    measures: {
      containers: {
        'web-0': { c: { cpu: '100m' }, s: { cpu: '60m' } },
        'web-1': { c: { cpu: '100m' }, s: { cpu: '60m' } },
      },
    },
  },
  {
    name: 'cpu utilization with a request of the whole pod',
    spec: { metrics: [utilization(50)] },
    pods: pods(2, { requests: { cpu: '400m' }, containers: { c: { cpu: '100m' } } }),
    measures: { cpu: each(2, '300m') },
  },
  {
    name: 'memory utilization',
    spec: { metrics: [utilization(60, 'memory')] },
    pods: pods(2),
    measures: { memory: ['100Mi', '50Mi'] },
  },
  {
    name: 'memory utilization counts unready pods',
    spec: { metrics: [utilization(60, 'memory')] },
    pods: [{}, {}, unready],
    measures: { memory: ['100Mi', '100Mi', '100Mi'] },
  },
  {
    name: 'an average cpu usage',
    spec: { metrics: [averageUsage('100m')] },
    pods: pods(3),
    measures: { cpu: ['150m', '250m', '133m'] },
  },
  {
    name: 'an average cpu usage without requests',
    spec: { metrics: [averageUsage('100m')] },
    pods: pods(2, { containers: { c: {} } }),
    measures: { cpu: ['10m', '20m'] },
  },
  {
    name: 'an average cpu usage would scale down and one pod has no metrics',
    spec: { metrics: [averageUsage('100m')] },
    pods: pods(4),
    measures: { cpu: ['10m', '20m', '30m', null] },
  },
  {
    name: 'an average cpu usage would scale up and one pod has no metrics',
    spec: { metrics: [averageUsage('100m')] },
    pods: pods(3),
    measures: { cpu: ['300m', '200m', null] },
  },
  {
    name: 'an average cpu usage with unready pods',
    spec: { metrics: [averageUsage('100m')] },
    pods: [{}, {}, unready],
    measures: { cpu: ['300m', '200m', '500m'] },
  },
  {
    name: 'an average cpu usage of unready pods only',
    spec: { metrics: [averageUsage('100m')] },
    pods: [unready],
    measures: { cpu: ['300m'] },
  },
  {
    name: 'an average memory usage',
    spec: { metrics: [averageUsage('64Mi', 'memory')] },
    pods: pods(3),
    measures: { memory: ['100Mi', '65Mi', '70001Ki'] },
  },
  {
    name: 'an exact average memory usage',
    spec: { metrics: [averageUsage('64Mi', 'memory')] },
    pods: pods(2),
    measures: { memory: ['64Mi', '32Mi'] },
  },
  {
    name: 'memory utilization that is measured in decimal units',
    spec: { metrics: [utilization(60, 'memory')] },
    pods: pods(2),
    measures: { memory: ['100M', '50M'] },
  },
  {
    name: 'memory utilization with a fraction of a byte',
    spec: { metrics: [utilization(60, 'memory')] },
    pods: pods(2),
    measures: { memory: ['100Mi', '104857601'] },
  },
  {
    name: 'memory utilization of very small amounts',
    spec: { metrics: [utilization(60, 'memory')] },
    pods: pods(2, { containers: { c: { memory: '1000' } } }),
    measures: { memory: ['512', '512'] },
  },
  {
    name: 'memory utilization in binary units first and decimal ones later',
    spec: { metrics: [utilization(60, 'memory')] },
    pods: pods(3),
    measures: { memory: ['64Mi', '67108864', '64Mi'] },
  },
  {
    name: 'memory utilization in decimal units first and binary ones later',
    spec: { metrics: [utilization(60, 'memory')] },
    pods: pods(3),
    measures: { memory: ['67108864', '64Mi', '67108864'] },
  },
  {
    name: 'memory utilization in bytes',
    spec: { metrics: [utilization(60, 'memory')] },
    pods: pods(3),
    measures: { memory: ['67108864', '67108864', '67108864'] },
  },
  {
    name: 'memory utilization in multiples of 1000 Ki',
    spec: { metrics: [utilization(60, 'memory')] },
    pods: pods(3),
    measures: { memory: ['64000Ki', '64000Ki', '64000Ki'] },
  },
  {
    name: 'memory utilization in bytes and once in binary units',
    spec: { metrics: [utilization(60, 'memory')] },
    pods: pods(6),
    measures: { memory: ['67108864', '67108864', '67108864', '64Mi', '67108864', '67108864'] },
  },
  { name: 'no pods', target: { replicas: 3 }, spec: { metrics: [utilization(50)] } },
  {
    name: 'no pods that match, with metrics of others',
    target: { replicas: 3 },
    spec: { metrics: [utilization(50)] },
    pods: [{ labels: { app: 'other' } }],
    measures: { cpu: ['100m'] },
  },
  {
    name: 'metrics of pods that do not exist',
    spec: { metrics: [utilization(50)] },
    pods: pods(2, { phase: 'Pending', ready: null }),
    measures: { cpu: each(2, '100m') },
  },
  ...[500, 503, 403].map((resource): Scenario => ({
    name: `the resource metrics API fails with ${resource}`,
    spec: { metrics: [utilization(50)] },
    pods: pods(1),
    measures: { failing: { resource } },
    next: [{ measures: { cpu: ['50m'] } }],
  })),
  { name: 'no metric in the spec', pods: pods(2), measures: { cpu: each(2, '160m') } },
]
