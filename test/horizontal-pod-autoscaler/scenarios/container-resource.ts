// ContainerResource metrics: one container of each pod decides.
import type { PodState, Scenario } from '../scenario.ts'
import { containerAverage, containerUtilization, pods } from './metric-specs.ts'

const two: PodState = { containers: { app: { cpu: '200m', memory: '64Mi' }, log: { cpu: '50m' } } }
const usage = (app: string, log: string) => ({ app: { cpu: app, memory: '32Mi' }, log: { cpu: log } })
const busyApp = { containers: { 'web-0': usage('300m', '1m'), 'web-1': usage('200m', '1m') } }

export const containerResourceScenarios: readonly Scenario[] = [
  {
    name: 'a busy container',
    spec: { metrics: [containerUtilization('app', 50)] },
    pods: pods(2, two),
    measures: busyApp,
  },
  {
    name: 'an idle container',
    spec: { metrics: [containerUtilization('log', 50)] },
    pods: pods(2, two),
    measures: busyApp,
  },
  {
    name: 'an average usage of a container',
    spec: { metrics: [containerAverage('app', '100m')] },
    pods: pods(2, two),
    measures: busyApp,
  },
  {
    name: 'the memory of a container',
    spec: { metrics: [containerUtilization('app', 25, 'memory')] },
    pods: pods(2, two),
    measures: busyApp,
  },
  {
    name: 'an average memory usage of a container',
    spec: { metrics: [containerAverage('app', '16Mi', 'memory')] },
    pods: pods(2, two),
    measures: busyApp,
  },
  {
    name: 'a container that does not exist',
    spec: { metrics: [containerUtilization('none', 50)] },
    pods: pods(2, two),
    measures: busyApp,
  },
  {
    name: 'a container without the requested resource',
    spec: { metrics: [containerUtilization('log', 50, 'memory')] },
    pods: pods(2, two),
    measures: busyApp,
  },
  {
    name: 'a container that is not measured in one pod',
    spec: { metrics: [containerUtilization('app', 50)] },
    pods: pods(2, two),
    measures: { containers: { 'web-0': usage('300m', '1m'), 'web-1': { log: { cpu: '1m' } } } },
  },
  {
    name: 'a container of a pod without metrics',
    spec: { metrics: [containerUtilization('app', 50)] },
    pods: pods(3, two),
    measures: busyApp,
  },
  {
    name: 'a sidecar container',
    spec: { metrics: [containerUtilization('s', 50)] },
    pods: pods(2, { sidecars: { s: { cpu: '100m' } } }),
    measures: {
      containers: {
        'web-0': { c: { cpu: '1m' }, s: { cpu: '90m' } },
        'web-1': { c: { cpu: '1m' }, s: { cpu: '90m' } },
      },
    },
  },
  {
    name: 'the container metrics API fails',
    spec: { metrics: [containerUtilization('app', 50)] },
    pods: pods(1, two),
    measures: { failing: { resource: 503 } },
  },
]
