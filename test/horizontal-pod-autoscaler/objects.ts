// The API objects of a scenario.
import { deployment } from '../../src/api/apps/v1/deployment.ts'
import { replicaSet } from '../../src/api/apps/v1/replica-set.ts'
import { statefulSet } from '../../src/api/apps/v1/stateful-set.ts'
import { replicationController } from '../../src/api/core/v1/workload/replication-controller.ts'
import { bareKind } from '../../src/api/kind/bare-kind.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import { rfc3339 } from '../../src/base/time/clock.ts'
import type { Amounts, PodState, Scenario, Target } from './scenario.ts'

export const widget = bareKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  singular: 'widget',
  namespaced: true,
})

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

export const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
      },
    ],
  },
}

const targetKinds = {
  Deployment: deployment,
  ReplicaSet: replicaSet,
  ReplicationController: replicationController,
  StatefulSet: statefulSet,
  Widget: widget,
} as unknown as Readonly<Record<NonNullable<Target['kind']>, Kind>>

export const targetOf = ({ target = {} }: Scenario): Target | undefined => (target === 'none' ? undefined : target)
export const targetKind = ({ kind = 'Deployment' }: Target): Kind => targetKinds[kind]

export const replicasOf = ({ replicas }: Target, { pods = [] }: Scenario): number => replicas ?? pods.length

const labels = { app: 'web' }

export function targetObject(target: Target, scenario: Scenario): object {
  const { kind = 'Deployment' } = target
  const replicas = replicasOf(target, scenario)
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const selector = kind === 'ReplicationController' ? labels : { matchLabels: labels }
  const spec = kind === 'Widget' ? { replicas } : { replicas, selector, template }
  return { metadata: { name: 'web' }, spec: kind === 'StatefulSet' ? { ...spec, serviceName: 'web' } : spec }
}

export function targetStatus(target: Target, replicas: number): object {
  const { kind, selector } = target
  return kind === 'Widget' && selector !== undefined ? { replicas, selector } : { replicas }
}

export const podName = ({ name }: PodState, index: number): string => name ?? `web-${index}`

const requested = (containers: Readonly<Record<string, Amounts>>): object[] =>
  Object.entries(containers).map(([name, requests]) => ({ name, image: 'i', resources: { requests } }))

export function podObject(state: PodState, index: number): object {
  const { containers = { c: { cpu: '100m', memory: '100Mi' } }, sidecars = {}, requests, deleting = false } = state
  return {
    metadata: {
      name: podName(state, index),
      labels: state.labels ?? labels,
      ...(deleting ? { finalizers: ['example.com/keep'] } : {}),
    },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      ...(requests === undefined ? {} : { resources: { requests } }),
      initContainers: requested(sidecars).map((container) => ({ ...container, restartPolicy: 'Always' })),
      containers: requested(containers),
    },
  }
}

export function podStatus(state: PodState, startMs: number): object {
  const { phase = 'Running', ready = true, startedAgo = 3600, changedAgo = 3590 } = state
  const condition = {
    type: 'Ready',
    status: ready === true ? 'True' : 'False',
    lastTransitionTime: rfc3339(startMs - changedAgo * 1000),
  }
  return {
    phase,
    ...(startedAgo === null ? {} : { startTime: rfc3339(startMs - startedAgo * 1000) }),
    ...(ready === null ? {} : { conditions: [condition] }),
  }
}
