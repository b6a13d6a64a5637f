// Workloads of upstream's scheduler_perf: the nodes, the pods that are placed on them, and the pods to schedule.
import type { Pod } from '../../src/api/core/v1/pod/pod.ts'
import { node, type Node } from '../../src/api/core/v1/node/node.ts'
import { persistentVolumeClaim } from '../../src/api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../src/api/core/v1/volume/persistent-volume.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import type { ApiObject } from '../../src/api/meta/object.ts'
import { csiNode } from '../../src/api/storage/v1/csi-node.ts'
import { made } from '../../src/scheduler/scheduler.harness.ts'

export const nodeCount = 5_000
const zoneKey = 'topology.kubernetes.io/zone'
const hostKey = 'kubernetes.io/hostname'

export interface Workload {
  readonly name: string
  /** The threshold of upstream's CI, in pods per second. */
  readonly floor: number
  /** Measured on this type of machine with upstream's scheduler, through the API. */
  readonly reference?: number
  readonly nodeLabels?: (index: number) => Record<string, string>
  readonly allocatable?: object
  /** Pods that are placed before the clock starts. */
  readonly initial?: (index: number) => { spec?: object; labels?: object; priority?: number; namespace?: string }
  readonly initialCount?: number
  readonly measured: (index: number) => { spec?: object; labels?: object; requests?: object; namespace?: string }
  readonly claims?: boolean
  /** Unschedulable pods that are tried in between. */
  readonly hopelessEvery?: number
}

const small = { cpu: '100m', memory: '500Mi' }
const colour = { matchLabels: { color: 'blue' } }
const near = (topologyKey: string, extra: object = {}) => ({ labelSelector: colour, topologyKey, ...extra })
const spread = (whenUnsatisfiable: string) => ({
  topologySpreadConstraints: [{ maxSkew: 5, topologyKey: zoneKey, whenUnsatisfiable, labelSelector: colour }],
})
const away = (term: object) => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
})
const zones = (index: number) => ({ [zoneKey]: `zone-${index % 3}` })

export const workloads: readonly Workload[] = [
  { name: 'basic', floor: 270, reference: 217, initial: () => ({}), initialCount: 1_000, measured: () => ({}) },
  {
    name: 'node affinity',
    floor: 220,
    nodeLabels: () => ({ [zoneKey]: 'zone1' }),
    measured: () => ({
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: zoneKey, operator: 'In', values: ['zone1', 'zone2'] }] }],
            },
          },
        },
      },
    }),
  },
  {
    name: 'preferred spread',
    floor: 125,
    nodeLabels: zones,
    initial: () => ({ labels: { color: 'blue' } }),
    initialCount: 5_000,
    measured: () => ({ spec: spread('ScheduleAnyway'), labels: { color: 'blue' } }),
  },
  {
    name: 'spread',
    floor: 85,
    reference: 78,
    nodeLabels: zones,
    initial: () => ({ labels: { color: 'blue' } }),
    initialCount: 5_000,
    measured: () => ({ spec: spread('DoNotSchedule'), labels: { color: 'blue' } }),
  },
  {
    name: 'pod anti-affinity',
    floor: 60,
    reference: 176,
    initial: () => ({ spec: away(near(hostKey)), labels: { color: 'blue' } }),
    initialCount: 500,
    measured: (index) => (index % 10 === 0 ? { spec: away(near(hostKey)), labels: { color: 'blue' } } : {}),
  },
  {
    name: 'pod affinity',
    floor: 35,
    nodeLabels: () => ({ [zoneKey]: 'zone1' }),
    initial: () => ({
      spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near(zoneKey)] } } },
      labels: { color: 'blue' },
    }),
    initialCount: 5_000,
    measured: () => ({
      spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near(zoneKey)] } } },
      labels: { color: 'blue' },
    }),
  },
  {
    name: 'preemption',
    floor: 160,
    initial: () => ({ priority: 0 }),
    initialCount: 20_000,
    measured: () => ({ spec: { priority: 10 }, requests: { cpu: '3', memory: '500Mi' } }),
  },
  { name: 'unschedulable', floor: 140, hopelessEvery: 2, measured: () => ({}) },
  { name: 'CSI volumes', floor: 48, claims: true, measured: () => ({}) },
  {
    name: 'anti-affinity by namespace selector',
    floor: 24,
    initial: (index) => ({
      spec: away(near(hostKey, { namespaceSelector: { matchLabels: { team: 'devops' } } })),
      labels: { color: 'blue' },
      namespace: `init-${index % 100}`,
    }),
    initialCount: 2_000,
    measured: () => ({
      spec: away(near(hostKey, { namespaceSelector: { matchLabels: { team: 'devops' } } })),
      labels: { color: 'blue' },
      namespace: 'measure-0',
    }),
  },
]

const requestsOf = (workload: Workload, requests: object | undefined) =>
  requests ?? (workload.name === 'preemption' ? { cpu: '900m', memory: '500Mi' } : small)

export function podOf(
  workload: Workload,
  name: string,
  { spec = {}, labels = {}, requests, namespace = 'default' }: ReturnType<Workload['measured']>,
  priority = 0,
): Pod {
  const volumes = workload.claims
    ? { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: `claim-${name}` } }] }
    : {}
  const containers = [{ name: 'pause', image: 'pause', resources: { requests: requestsOf(workload, requests) } }]
  return made(pod, name, { metadata: { labels, namespace }, spec: { priority, ...volumes, ...spec, containers } })
}

export const nodesOf = (workload: Workload): Node[] =>
  Array.from({ length: nodeCount }, (_, index) =>
    made(node, `node-${index}`, {
      metadata: { labels: { [hostKey]: `node-${index}`, ...workload.nodeLabels?.(index) } },
      status: { allocatable: workload.allocatable ?? { cpu: '4', memory: '32Gi', pods: '110' } },
    }),
  )

export function storageOf(workload: Workload, names: readonly string[]): ApiObject[] {
  if (!workload.claims) return []
  const limits = Array.from({ length: nodeCount }, (_, index) =>
    made(csiNode as Kind, `node-${index}`, {
      spec: { drivers: [{ name: 'csi', nodeID: 'x', allocatable: { count: 39 } }] },
    }),
  )
  return [
    ...limits,
    ...names.flatMap((name) => [
      made(persistentVolume as Kind, `pv-${name}`, {
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadOnlyMany'],
          csi: { driver: 'csi', volumeHandle: name },
        },
      }),
      made(persistentVolumeClaim as Kind, `claim-${name}`, {
        metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'true' } },
        spec: { volumeName: `pv-${name}`, accessModes: ['ReadOnlyMany'], resources: { requests: { storage: '1Gi' } } },
        status: { phase: 'Bound' },
      }),
    ]),
  ]
}
