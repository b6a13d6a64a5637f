// Workloads of upstream's scheduler_perf at 5,000 nodes: the scheduler alone with its decisions applied in memory, and
// through the API server to the bound pod.
import { seededRandom } from '../src/base/random.ts'
import { TaskGroup } from '../src/base/task-group.ts'
import { VirtualClock } from '../src/base/virtual-clock.ts'
import { silentLog } from '../src/base/log.ts'
import type { Pod } from '../src/api/core/v1/pod.ts'
import { node } from '../src/api/core/v1/node.ts'
import { persistentVolumeClaim } from '../src/api/core/v1/persistent-volume-claim.ts'
import { persistentVolume } from '../src/api/core/v1/persistent-volume.ts'
import { pod } from '../src/api/core/v1/pod.ts'
import type { Kind } from '../src/api/kind.ts'
import type { ApiObject } from '../src/api/object.ts'
import { csiNode } from '../src/api/storage/v1/csi-node.ts'
import { Client } from '../src/client/client.ts'
import { Informers } from '../src/client/informers.ts'
import { context, startCluster } from '../src/cluster/index.ts'
import { makeProfiles } from '../src/scheduler/configuration.ts'
import { filterNodes } from '../src/scheduler/filtering.ts'
import type { FilterRun } from '../src/scheduler/framework.ts'
import { Nominator } from '../src/scheduler/nominator.ts'
import { schedulerPlugins } from '../src/scheduler/plugins.ts'
import { made, standing } from '../src/scheduler/scheduler.harness.ts'
import { bestOf, scoreNodes } from '../src/scheduler/scoring.ts'
import { SharedVerdicts } from '../src/scheduler/shared-verdicts.ts'
import { podFacts } from '../src/scheduler/snapshot/pod-facts.ts'
import { Snapshot } from '../src/scheduler/snapshot/snapshot.ts'
import type { Bench } from './bench.ts'

const nodeCount = 5_000
const zoneKey = 'topology.kubernetes.io/zone'
const hostKey = 'kubernetes.io/hostname'
const ctx = context(new AbortController().signal)

interface Workload {
  readonly name: string
  /** Upstream's CI floor, in pods per second. */
  readonly floor: number
  /** What is measured on this kind of machine with upstream's scheduler, through the API. */
  readonly reference?: number
  readonly nodeLabels?: (index: number) => Record<string, string>
  readonly allocatable?: object
  /** Pods that have a node before the clock starts. */
  readonly initial?: (index: number) => { spec?: object; labels?: object; priority?: number; namespace?: string }
  readonly initialCount?: number
  readonly measured: (index: number) => { spec?: object; labels?: object; requests?: object; namespace?: string }
  readonly claims?: boolean
  /** Pods that fit nowhere, tried in between. */
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

const workloads: readonly Workload[] = [
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

function podOf(
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

const nodesOf = (workload: Workload) =>
  Array.from({ length: nodeCount }, (_, index) =>
    made(node, `node-${index}`, {
      metadata: { labels: { [hostKey]: `node-${index}`, ...workload.nodeLabels?.(index) } },
      status: { allocatable: workload.allocatable ?? { cpu: '4', memory: '32Gi', pods: '110' } },
    }),
  )

function storageOf(workload: Workload, names: readonly string[]): ApiObject[] {
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

/** Time that this process computed: other processes on the machine do not count. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Pods per second that are decided and applied, one after the other, without an API server. */
async function alone(workload: Workload, count: number): Promise<number> {
  const snapshot = new Snapshot()
  for (const each of nodesOf(workload)) snapshot.setNode(each)
  for (const name of ['default', 'measure-0', ...Array.from({ length: 100 }, (_, index) => `init-${index}`)])
    snapshot.setNamespace(name, { team: 'devops' })
  for (let index = 0; index < (workload.initialCount ?? 0); index++) {
    const { priority, ...shape } = workload.initial?.(index) ?? {}
    snapshot.place(podOf(workload, `init-${index}`, shape, priority), `node-${index % nodeCount}`)
  }
  const pods = Array.from({ length: count }, (_, index) => podOf(workload, `p-${index}`, workload.measured(index)))
  const hopeless = podOf(workload, 'hopeless', { requests: { cpu: '1000' } })
  await using tasks = new TaskGroup()
  const clock = new VirtualClock()
  const nominator = new Nominator()
  const shared = new SharedVerdicts()
  const random = seededRandom(1)
  const client = new Client(
    standing(
      storageOf(
        workload,
        pods.map(({ metadata }) => metadata.name),
      ),
    ),
  )
  const informers = new Informers(client, { clock, log: silentLog }, tasks)
  const removals: { run: FilterRun; nodeName: string }[] = []
  const parts = {
    schedulerName: 'default-scheduler',
    ...{ client, informers, clock, random, snapshot, nominator, log: silentLog, extenders: [] },
    tell: () => Promise.resolve(),
    letIn: () => {},
    startTask: () => {},
  }
  const [profile] = makeProfiles({}, schedulerPlugins, (plugin, args) => ({
    ...plugin,
    ...plugin.configure?.(args, parts),
  }))
  if (profile === undefined) throw new Error('there is no profile')
  for (const kind of profile.plugins.flatMap(({ watches = [] }) => watches)) informers.of(kind)
  await clock.settle()
  await informers.synced()
  let start = 0
  const decide = (target: Pod): string | undefined => {
    const cycle = { pod: target, facts: podFacts(target), snapshot }
    const filtered = filterNodes(cycle, profile, nominator, start, shared)
    if (filtered.kind === 'rejected') return undefined
    start = (start + filtered.lookedAt) % snapshot.size
    if (filtered.fitting.length > 0) {
      const slot =
        filtered.fitting.length === 1
          ? (filtered.fitting[0] as number)
          : bestOf(scoreNodes(cycle, profile, filtered.fitting), random)
      return snapshot.nameAt(slot)
    }
    for (const plugin of profile.at.postFilter) {
      const result = plugin.postFilter(filtered.run, ctx)
      if (!(result instanceof Promise) && result.kind === 'nominated') {
        removals.push({ run: filtered.run, nodeName: result.nodeName })
        return undefined
      }
    }
    return undefined
  }
  const begin = cpuMs()
  for (const [index, target] of pods.entries()) {
    if (workload.hopelessEvery !== undefined && index % workload.hopelessEvery === 0) decide(hopeless)
    let nodeName = decide(target)
    const removal = removals.pop()
    if (removal !== undefined) {
      // The victims leave, and the pod comes again.
      nominator.set(target, removal.nodeName)
      const slot = snapshot.slotOf(removal.nodeName) ?? -1
      for (const { pod: victim, facts } of [...snapshot.podsOn(slot)]) if (facts.priority < 10) snapshot.remove(victim)
      nodeName = decide(target)
      nominator.set(target, undefined)
    }
    if (nodeName === undefined) throw new Error(`${workload.name}: no node for ${target.metadata.name}`)
    snapshot.place(target, nodeName)
  }
  return (count * 1000) / (cpuMs() - begin)
}

/** Pods per second from their creation through the API to their binding, and how long each takes at a steady rate. */
async function throughApi(workload: Workload, count: number): Promise<number> {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  await cluster.kill('controllers')
  for (const { metadata, status } of nodesOf(workload))
    await client.of(node).create({ metadata: { name: metadata.name, labels: metadata.labels ?? {} }, status }, '', ctx)
  await clock.advance('10s')
  const bound = Promise.withResolvers<void>()
  const seen = new Set<string>()
  const stop = new AbortController()
  const watching = (async () => {
    for await (const event of client.of(pod).watch({}, context(stop.signal)))
      if (
        event.type !== 'BOOKMARK' &&
        event.object.spec.nodeName &&
        seen.add(event.object.metadata.name).size === count
      )
        bound.resolve()
  })().catch(() => {})
  const pods = Array.from({ length: count }, (_, index) => podOf(workload, `p-${index}`, workload.measured(index)))
  const begin = cpuMs()
  for (const { metadata, spec } of pods)
    await client
      .of(pod)
      .create({ metadata: { name: metadata.name, labels: metadata.labels ?? {} }, spec }, 'default', ctx)
  await clock.settle()
  await bound.promise
  const seconds = (cpuMs() - begin) / 1000
  stop.abort()
  await watching
  return count / seconds
}

const ratio = (value: number, base: number): string =>
  `${value.toFixed(0)}/s (${(value / base).toFixed(1)} times ${base})`

export const schedulerBench: Bench = {
  name: 'scheduler',
  async run() {
    const lines: string[] = []
    for (const workload of workloads) {
      await alone(workload, 300)
      const rate = await alone(workload, workload.name === 'preemption' ? 1_000 : 2_000)
      lines.push(`${workload.name}, ${nodeCount} nodes, scheduler alone: ${ratio(rate, workload.floor)}`)
    }
    for (const workload of workloads)
      if (workload.reference !== undefined) {
        const rate = await throughApi(workload, 3_000)
        lines.push(
          `${workload.name}, ${nodeCount} nodes, through the API to the bound pod: ${ratio(rate, workload.reference)}`,
        )
      }
    return lines
  },
}
