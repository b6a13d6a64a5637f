// Compares the scheduler with the reference implementation on random, changing clusters and random pods: the same
// verdicts with the same reasons, and the same scores of every plugin. COXSWAIN_LONG=1 compares 100,000 pods.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../base/observability/log.ts'
import { Metrics } from '../base/observability/metrics.ts'
import { seededRandom, type Random } from '../base/random/random.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import type { Node } from '../api/core/v1/node/node.ts'
import type { Pod } from '../api/core/v1/pod/pod.ts'
import { Client } from '../client/client.ts'
import { Informers } from '../client/informer/informers.ts'
import { defaultSchedulerName } from './framework/scheduler-configuration.ts'
import { filterNodes } from './cycle/filtering.ts'
import { schedulerMetrics } from './framework/scheduler-metrics.ts'
import { Nominator } from './framework/nominator.ts'
import { schedulerPlugins } from './plugins.ts'
import { profileOf, type Profile } from './framework/profile.ts'
import { objectsOf, pick, randomClaimed, randomClaimUse, sometimes } from './random-claims.harness.ts'
import { referenceProblem, type Claimed } from './reference-claims.harness.ts'
import { referenceScores, referenceVerdict, type World } from './reference.harness.ts'
import { aNode, aPod, cycleOf, standing } from './scheduler.harness.ts'
import { scoreNodes } from './cycle/scoring.ts'
import { EquivalenceCache } from './cycle/equivalence-cache.ts'
import { Snapshot } from './snapshot/snapshot.ts'

const podCount = process.env['COXSWAIN_LONG'] === undefined ? 4_000 : 100_000
const podsPerCluster = 100

const apps = ['web', 'db', 'cache']
const keys = ['zone', 'kubernetes.io/hostname', 'rack']
const selectorOf = (random: Random) => ({ matchLabels: { app: pick(random, apps) } })
const termOf = (random: Random) => ({
  topologyKey: pick(random, keys),
  labelSelector: selectorOf(random),
  ...(random.below(4) === 0 && { namespaces: [pick(random, ['default', 'other'])] }),
  ...(random.below(5) === 0 && { namespaceSelector: { matchLabels: { team: pick(random, ['a', 'b']) } } }),
  ...(random.below(6) === 0 && { matchLabelKeys: ['version'] }),
  ...(random.below(8) === 0 && { mismatchLabelKeys: ['version'] }),
})
const expressionOf = (random: Random) =>
  pick(random, [
    { key: 'zone', operator: 'In', values: ['a', pick(random, ['b', 'c'])] },
    { key: 'zone', operator: 'NotIn', values: [pick(random, ['a', 'b'])] },
    { key: 'rack', operator: pick(random, ['Exists', 'DoesNotExist']) },
    { key: 'rack', operator: pick(random, ['Gt', 'Lt']), values: [pick(random, ['0', '1', '2'])] },
  ])
const weightedOf = (random: Random) => ({ weight: 1 + random.below(100), podAffinityTerm: termOf(random) })

function randomNode(random: Random, name: string): Node {
  const labels = {
    ...(random.below(6) > 0 && { zone: pick(random, ['a', 'b', 'c']) }),
    ...(random.below(4) > 0 && { 'topology.kubernetes.io/zone': pick(random, ['a', 'b', 'c']) }),
    ...(random.below(3) > 0 && { rack: pick(random, ['1', '2']) }),
  }
  const effect = () => pick(random, ['NoSchedule', 'NoExecute', 'PreferNoSchedule'])
  const taints = [
    ...sometimes(random, 5, () => ({ key: 'k', value: pick(random, ['x', 'y']), effect: effect() })),
    ...sometimes(random, 4, () => ({ key: 'soft', effect: 'PreferNoSchedule' })),
  ]
  const allocatable = {
    cpu: pick(random, ['2', '4', '7500m']),
    memory: pick(random, ['4Gi', '8Gi', '12345Mi']),
    pods: pick(random, ['3', '8', '20']),
    ...(random.below(3) === 0 && { 'example.com/gpu': '2' }),
  }
  const images = ['web', 'db'].flatMap((image) =>
    sometimes(random, 3, () => ({ names: [`${image}:latest`], sizeBytes: pick(random, [10, 90, 700, 3000]) << 20 })),
  )
  const made = aNode(name, { taints, ...(random.below(8) === 0 && { unschedulable: true }) }, allocatable, labels)
  return { ...made, status: { ...made.status, images } }
}

function randomAffinity(random: Random): object {
  const podAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: sometimes(random, 8, () => termOf(random)),
    preferredDuringSchedulingIgnoredDuringExecution: sometimes(random, 4, () => weightedOf(random)),
  }
  const podAntiAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: sometimes(random, 6, () => termOf(random)),
    preferredDuringSchedulingIgnoredDuringExecution: sometimes(random, 4, () => weightedOf(random)),
  }
  const preferred = sometimes(random, 4, () => ({
    weight: 1 + random.below(50),
    preference: { matchExpressions: [expressionOf(random)] },
  }))
  const nodeSelectorTerms = [
    { matchExpressions: [expressionOf(random), ...sometimes(random, 3, () => expressionOf(random))] },
    ...sometimes(random, 3, () => ({ matchExpressions: [expressionOf(random)] })),
  ]
  const nodeAffinity = {
    ...(random.below(6) === 0 && { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }),
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
  }
  return { podAffinity, podAntiAffinity, nodeAffinity }
}

function randomPod(random: Random, name: string, nodeNames: readonly string[]): Pod {
  const constraint = () => ({
    maxSkew: 1 + random.below(3),
    topologyKey: pick(random, keys),
    whenUnsatisfiable: pick(random, ['DoNotSchedule', 'ScheduleAnyway']),
    labelSelector: selectorOf(random),
    nodeAffinityPolicy: pick(random, ['Honor', 'Ignore']),
    nodeTaintsPolicy: pick(random, ['Honor', 'Ignore']),
    ...(random.below(5) === 0 && { matchLabelKeys: ['version'] }),
  })
  const hard = () => ({ ...constraint(), whenUnsatisfiable: 'DoNotSchedule', minDomains: 1 + random.below(4) })
  const constraints = [
    ...sometimes(random, 3, constraint),
    ...sometimes(random, 5, constraint),
    ...sometimes(random, 8, hard),
  ]
  const requestsOf = () => ({
    ...(random.below(3) > 0 && { cpu: pick(random, ['100m', '500m', '1', '2500m']) }),
    ...(random.below(3) > 0 && { memory: pick(random, ['64Mi', '1Gi', '3000Mi']) }),
    ...(random.below(10) === 0 && { 'example.com/gpu': '1' }),
  })
  const image = () => pick(random, ['web', 'db', 'other:1'])
  const init = (index: number) => ({
    name: `i${index}`,
    image: image(),
    resources: { requests: requestsOf() },
    ...(random.below(2) === 0 && { restartPolicy: 'Always' }),
  })
  const ports = sometimes(random, 6, () => ({ containerPort: 80, hostPort: pick(random, [80, 81]) }))
  const spec = {
    containers: [{ name: 'c', image: image(), resources: { requests: requestsOf() }, ports }],
    initContainers: [...sometimes(random, 6, () => init(0)), ...sometimes(random, 8, () => init(1))],
    ...(random.below(10) === 0 && { overhead: { cpu: '250m', memory: '120Mi' } }),
    affinity: randomAffinity(random),
    tolerations: [
      ...sometimes(random, 3, () => ({ key: 'k', operator: 'Equal', value: 'x' })),
      ...sometimes(random, 6, () => ({ operator: 'Exists', effect: pick(random, ['NoSchedule', 'PreferNoSchedule']) })),
    ],
    topologySpreadConstraints: constraints,
    ...(random.below(6) === 0 && { nodeSelector: { zone: pick(random, ['a', 'b']) } }),
    ...(random.below(15) === 0 && { nodeName: pick(random, nodeNames) }),
    ...randomClaimUse(random),
  }
  const metadata = {
    labels: { app: pick(random, apps), ...(random.below(2) === 0 && { version: pick(random, ['1', '2']) }) },
    namespace: random.below(5) === 0 ? 'other' : 'default',
    ...(random.below(12) === 0 && { deletionTimestamp: '2030-01-01T00:00:00Z' }),
  }
  return aPod(name, spec, {}, metadata)
}

const namespaces = { default: { team: 'a' }, other: { team: 'b' } }

/** A snapshot and plain lists of the same objects, changed together. */
class Twins {
  readonly snapshot = new Snapshot()
  readonly #nodes = new Map<string, Node>()
  readonly #placed = new Map<string, Pod[]>()
  readonly #claimed: Claimed

  constructor(claimed: Claimed) {
    this.#claimed = claimed
    for (const [name, labels] of Object.entries(namespaces)) this.snapshot.setNamespace(name, labels)
  }

  get world(): World {
    const order = [...this.snapshot.order].map((slot) => this.#nodes.get(this.snapshot.nameAt(slot)))
    return {
      nodes: order.filter((node) => node !== undefined),
      placed: this.#placed,
      namespaces,
      claimed: this.#claimed,
    }
  }

  setNode(node: Node): void {
    this.#nodes.set(node.metadata.name, node)
    this.snapshot.setNode(node)
  }

  removeNode(name: string): void {
    this.#nodes.delete(name)
    this.snapshot.removeNode(name)
  }

  place(pod: Pod, nodeName: string): void {
    this.#placed.set(nodeName, [...(this.#placed.get(nodeName) ?? []), pod])
    this.snapshot.place(pod, nodeName)
  }

  remove(nodeName: string): void {
    const [first, ...rest] = this.#placed.get(nodeName) ?? []
    if (first === undefined) return
    this.#placed.set(nodeName, rest)
    this.snapshot.remove(first)
  }
}

/** The default profile with informers over fixed objects. */
async function profileFor(claimed: Claimed, snapshot: Snapshot, tasks: TaskGroup): Promise<Profile> {
  const clock = new VirtualClock()
  const client = new Client(standing(objectsOf(claimed)))
  const informers = new Informers(client, { clock, random: seededRandom(1), log: silentLog }, tasks)
  const deps = {
    schedulerName: defaultSchedulerName,
    snapshot,
    nominator: new Nominator(),
    extenders: [],
    client,
    informers,
    clock,
    random: seededRandom(1),
    log: silentLog,
    metrics: schedulerMetrics(new Metrics()),
    recordEvent: () => {},
    retryPreEnqueue: () => {},
    retryAfterBackoff: () => {},
    startTask: () => {},
  }
  const plugins = schedulerPlugins.map((plugin) => ({ ...plugin, ...plugin.configure?.(undefined, deps) }))
  for (const kind of plugins.flatMap(({ watches = [] }) => watches)) informers.of(kind)
  await clock.settle()
  await informers.synced()
  return profileOf(defaultSchedulerName, plugins, 100)
}

/** Reasons that must occur, so that the comparison covers them. */
const reasonsExpected = [
  'Insufficient cpu',
  'Too many pods',
  'cannot allocate all claims',
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
  'node(s) did not have enough free storage',
  "node(s) didn't find available persistent volumes to bind",
  "node(s) didn't have free ports for the requested pod ports",
  "node(s) didn't match PersistentVolume's node affinity",
  "node(s) didn't match Pod's node affinity/selector",
  "node(s) didn't match pod affinity rules",
  "node(s) didn't match pod anti-affinity rules",
  "node(s) didn't match pod topology spread constraints",
  "node(s) didn't match pod topology spread constraints (missing required label)",
  "node(s) didn't match the requested node name",
  "node(s) didn't satisfy existing pods anti-affinity rules",
  'node(s) exceed max volume count',
  'node(s) had no available disk',
  'node(s) had no available volume zone',
  'node(s) had untolerated taint(s)',
  'node(s) were unschedulable',
  'pod has unbound immediate PersistentVolumeClaims',
  'resourceclaim not available on the node',
]
const reasonsSeen = new Set<string>()

function compare(twins: Twins, profile: Profile, target: Pod, shared: EquivalenceCache): readonly string[] {
  const { snapshot, world } = twins
  const cycle = cycleOf(target, snapshot)
  const filtered = filterNodes(cycle, profile, new Nominator(), 0, shared)
  const problem = referenceProblem(world.claimed, target)
  equal(filtered.kind === 'rejected' ? filtered.by.rejection.reasons.join(', ') : undefined, problem)
  reasonsSeen.add(problem ?? '')
  if (filtered.kind === 'rejected') return []
  const found = [...snapshot.order].map((slot) => {
    const verdict = filtered.run.verdicts.of(slot)
    if (typeof verdict === 'object') for (const reason of verdict.rejection.reasons) reasonsSeen.add(reason)
    return `${snapshot.nameAt(slot)} ${typeof verdict === 'object' ? verdict.rejection.reasons.join(', ') : verdict}`
  })
  const wanted = world.nodes.map((node) => `${node.metadata.name} ${referenceVerdict(world, target, node) ?? 'fits'}`)
  deepEqual(found, wanted)
  const fitting = [...filtered.fitting].map((slot) => snapshot.nameAt(slot))
  if (fitting.length === 0) return fitting
  const scores = scoreNodes(cycle, profile, filtered.fitting, filtered.run.equivalenceClass)
  const given = Object.fromEntries(scores.columns.map(({ plugin, values }) => [plugin, [...values]]))
  const nodes = world.nodes.filter(({ metadata }) => fitting.includes(metadata.name))
  deepEqual(given, referenceScores(world, target, nodes))
  return fitting
}

test(`${podCount} random pods: the same nodes fit, for the same reasons, with the same scores`, async () => {
  for (let seed = 1; seed <= podCount / podsPerCluster; seed++) {
    const random = seededRandom(seed)
    const names = Array.from({ length: 3 + random.below(9) }, (_, index) => `n${index}`)
    const twins = new Twins(randomClaimed(random, names))
    await using tasks = new TaskGroup()
    const profile = await profileFor(twins.world.claimed, twins.snapshot, tasks)
    for (const name of names) twins.setNode(randomNode(random, name))
    const shared = new EquivalenceCache()
    for (let index = 0; index < podsPerCluster; index++) {
      const target = randomPod(random, `p${index}`, names)
      let fitting: readonly string[]
      try {
        fitting = compare(twins, profile, target, shared)
      } catch (error) {
        throw new Error(`seed ${seed}, pod ${index}: ${JSON.stringify(target.spec)}`, { cause: error })
      }
      if (fitting.length > 0) twins.place(target, pick(random, fitting))
      // The cluster changes: pods are removed, nodes change, are added and removed.
      if (random.below(3) === 0) twins.remove(pick(random, names))
      if (random.below(8) === 0) twins.setNode(randomNode(random, pick(random, names)))
      if (random.below(40) === 0) twins.removeNode(pick(random, names))
    }
  }
  deepEqual(
    reasonsExpected.filter((reason) => !reasonsSeen.has(reason)),
    [],
  )
})
