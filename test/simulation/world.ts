// The simulated world: a whole cluster on virtual time, a mixed workload, and faults in both.
import { seededRandom, type Random } from '../../src/base/random/random.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import type { ApiObject } from '../../src/api/meta/object.ts'
import {
  context,
  daemonSet,
  deployment,
  job,
  namespace,
  node,
  pod,
  startCluster,
  statefulSet,
  type TestCluster,
} from '../../src/cluster/index.ts'

export const ctx = context(new AbortController().signal)
export const home = 'default'
export const nodeCount = 3

export const template = (app: string, image: string, spec: object = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'c', image }], terminationGracePeriodSeconds: 5, ...spec },
})
export const selector = (app: string) => ({ matchLabels: { app } })

/** The sizes that the checks use. */
export const steady = { replicas: 4, maxSurge: 1, maxUnavailable: 1 }
export const work = { completions: 6, parallelism: 3 }

export interface World {
  readonly cluster: TestCluster
  readonly random: Random
  /** Components that are down, and when they restart. */
  readonly down: Map<string, number>
  /** The steady Deployment lost pods outside of a rollout; until it is complete again fewer may be available. */
  isDisturbed: boolean
  /** The guarded Deployment lost pods other than by eviction. */
  isGuardBroken: boolean
  /** Until then statuses of pods may be outdated. */
  settlesMs: number
  /** The quota has a computed status, and nothing beyond it was created before. */
  isQuotaKnown: boolean
  /** Pods of the Job that were observed to succeed, by uid. */
  readonly ended: Set<string>
}

export async function startWorld(seed: number): Promise<World> {
  const random = seededRandom(seed)
  const simulation = {
    startMs: 20 + random.below(200),
    pullMs: random.below(100),
    images: {
      work: async ({ clock }: { clock: { sleep(ms: number, signal: AbortSignal): Promise<void> } }) => {
        await clock.sleep(500 + random.below(1500), ctx.signal)
        return random.below(5) === 0 ? 1 : 0
      },
    },
  }
  const cluster = await startCluster({ nodes: nodeCount, seed, simulation, controllerManagers: 1 + random.below(2) })
  const { client } = cluster
  const { replicas, maxSurge, maxUnavailable } = steady
  await client.of(deployment).create(
    {
      metadata: { name: 'steady' },
      spec: {
        replicas,
        selector: selector('steady'),
        template: template('steady', 'image:0'),
        strategy: { rollingUpdate: { maxSurge, maxUnavailable } },
        revisionHistoryLimit: 2,
      },
    },
    home,
    ctx,
  )
  const moving = { replicas: 3, selector: selector('moving'), template: template('moving', 'image:0') }
  await client.of(deployment).create({ metadata: { name: 'moving' }, spec: moving }, home, ctx)
  const db = { replicas: 3, serviceName: 'db', selector: selector('db'), template: template('db', 'image:0') }
  await client.of(statefulSet).create({ metadata: { name: 'db' }, spec: db }, home, ctx)
  const agent = { selector: selector('agent'), template: template('agent', 'image:0') }
  await client.of(daemonSet).create({ metadata: { name: 'agent' }, spec: agent }, home, ctx)
  await client.of(job).create(
    {
      metadata: { name: 'work' },
      spec: {
        ...work,
        completionMode: 'Indexed',
        backoffLimit: 1000,
        template: template('work', 'work', { restartPolicy: 'Never' }),
      },
    },
    home,
    ctx,
  )
  return {
    cluster,
    random,
    down: new Map(),
    isDisturbed: true,
    isGuardBroken: true,
    settlesMs: 0,
    isQuotaKnown: false,
    ended: new Set(),
  }
}

/** Runs the action; a rejection by the API server, such as a conflict, is ignored. */
export async function attempt<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action()
  } catch (error) {
    if (error instanceof Error && error.name === 'StatusError') return undefined
    throw error
  }
}

export const listOf = async <T extends ApiObject>(
  { cluster }: World,
  kind: Kind<T>,
): Promise<readonly T[] | undefined> =>
  attempt(async () => (await cluster.client.of(kind).list(kind.namespaced ? { namespace: home } : {}, ctx)).items)

export type Act = (world: World) => Promise<unknown>

const deployments = ({ cluster }: World) => cluster.client.of(deployment)
const newImage = (app: string, random: Random) => ({
  spec: { template: template(app, `image:${1 + random.below(4)}`) },
})

/** A restarted kubelet reports the state of its pods within this time. */
const reportMs = 5_000

/** Records that pods may be lost other than by a rollout or an eviction. */
function disturb(world: World): void {
  world.isDisturbed = true
  world.isGuardBroken = true
  world.settlesMs = world.cluster.clock.nowMs() + reportMs
}

/** Whether the statuses of pods are current: every kubelet runs and has had time to report. */
export const isSettled = ({ down, cluster, settlesMs }: World): boolean =>
  cluster.clock.nowMs() >= settlesMs && ![...down.keys()].some((name) => name.startsWith('kubelet'))

/** Actions of users. */
export const actions: readonly Act[] = [
  (world) =>
    attempt(() => deployments(world).patch('steady', home, newImage('steady', world.random), 'strategic', ctx)),
  (world) =>
    attempt(() => deployments(world).patch('moving', home, newImage('moving', world.random), 'strategic', ctx)),
  (world) =>
    attempt(() =>
      deployments(world).patch('moving', home, { spec: { replicas: world.random.below(6) } }, 'merge', ctx),
    ),
  (world) =>
    attempt(() =>
      deployments(world).patch('moving', home, { spec: { paused: world.random.below(2) === 0 } }, 'merge', ctx),
    ),
  ({ cluster, random }) =>
    attempt(() =>
      cluster.client.of(statefulSet).patch('db', home, { spec: { replicas: random.below(5) } }, 'merge', ctx),
    ),
  ({ cluster, random }) =>
    attempt(() => cluster.client.of(statefulSet).patch('db', home, newImage('db', random), 'strategic', ctx)),
  ({ cluster, random }) =>
    attempt(() => cluster.client.of(daemonSet).patch('agent', home, newImage('agent', random), 'strategic', ctx)),
  // Writes of other clients, which cause conflicts for concurrent updates.
  async (world) => {
    for (const kind of [deployment, statefulSet, job] as unknown as Kind[])
      for (const { metadata } of (await listOf(world, kind)) ?? []) {
        const annotations = { touched: String(world.random.below(1000)) }
        await attempt(() =>
          world.cluster.client.of(kind).patch(metadata.name, home, { metadata: { annotations } }, 'merge', ctx),
        )
      }
  },
  async (world) => {
    const pods = (await listOf(world, pod)) ?? []
    const chosen = pods[world.random.below(Math.max(1, pods.length))]
    if (chosen === undefined) return
    disturb(world)
    await attempt(() => world.cluster.client.of(pod).delete(chosen.metadata.name, home, {}, ctx))
  },
  // Objects with dependents: these are deleted in the background or in the foreground, or orphaned and adopted again.
  async ({ cluster, random }) => {
    const spec = { replicas: 2, selector: selector('passing'), template: template('passing', 'image:0') }
    const propagationPolicy = pick(random, ['Background', 'Foreground', 'Orphan'] as const)
    const all = cluster.client.of(deployment)
    if (random.below(2) === 0) await attempt(() => all.create({ metadata: { name: 'passing' }, spec }, home, ctx))
    else await attempt(() => all.delete('passing', home, { propagationPolicy }, ctx))
  },
  // A namespace that is filled, and one that is deleted.
  async ({ cluster, random }) => {
    const name = `team-${random.below(2)}`
    const all = cluster.client.of(namespace)
    if (random.below(2) === 0) return attempt(() => all.delete(name, '', {}, ctx))
    await attempt(() => all.create({ metadata: { name } }, '', ctx))
    const spec = { replicas: 1, selector: selector('inner'), template: template('inner', 'image:0') }
    return attempt(() => cluster.client.of(deployment).create({ metadata: { name: 'inner' }, spec }, name, ctx))
  },
]

const pick = <T>(random: Random, choices: readonly T[]): T => choices[random.below(choices.length)] as T

/** Components whose requests may be rejected and whose watches may break. */
const senders = [
  ...['controllers', 'scheduler', 'kubelet/node-0', 'kubelet/node-1', 'kubelet/node-2'],
  ...['deployment', 'replica-set', 'stateful-set', 'daemon-set', 'job', 'garbage-collector', 'namespace'].map(
    (name) => `controller/${name}`,
  ),
]

/** Faults. */
export const faults: readonly Act[] = [
  // A component is killed and restarted; with the API server all watches break.
  async (world) => {
    const { cluster, random, down } = world
    const name = cluster.components[random.below(cluster.components.length)] ?? 'apiserver'
    if (down.has(name)) return
    if (name.startsWith('kubelet')) disturb(world)
    await cluster.kill(name)
    down.set(name, cluster.clock.nowMs() + random.below(name === 'apiserver' ? 2000 : 8000))
  },
  // A node dies: its pods are deleted, and it returns empty, at the end at the latest.
  async (world) => {
    const { cluster, random, down } = world
    const name = `node-${random.below(nodeCount)}`
    disturb(world)
    if (!down.has(`kubelet/${name}`)) await cluster.kill(`kubelet/${name}`)
    down.set(`kubelet/${name}`, cluster.clock.nowMs() + 5000 + random.below(20_000))
    await attempt(() => cluster.client.of(node).delete(name, '', {}, ctx))
    for (const { metadata, spec } of (await listOf(world, pod)) ?? [])
      if (spec.nodeName === name)
        await attempt(() => cluster.client.of(pod).delete(metadata.name, home, { gracePeriodSeconds: 0 }, ctx))
  },
  // A machine loses power without notice, and returns empty.
  async (world) => {
    const { cluster, random, down } = world
    const name = `node-${random.below(nodeCount)}`
    disturb(world)
    await cluster.powerOff(name)
    down.set(`kubelet/${name}`, cluster.clock.nowMs() + random.below(120_000))
  },
  // Watches break: the revision has expired, the stream ends, or no events arrive for a while.
  ({ cluster, random }) => {
    const how = pick(random, ['gone', 'reset', 'silence'] as const)
    cluster.faults.breakWatches(how, random.below(3) === 0 ? {} : { sender: pick(random, senders) })
    return Promise.resolve()
  },
  ({ cluster, random }) => {
    const code = pick(random, [409, 409, 429, 500, 503] as const)
    cluster.faults.reject({ code, times: 1 + random.below(6), sender: pick(random, senders) })
    return Promise.resolve()
  },
]

/** Restarts components that are due, or all of them. */
export function repair(world: World, isEnd: boolean): void {
  const { cluster, down, random } = world
  // Watches without events are detected as broken sooner or later.
  if (isEnd || random.below(10) === 0) cluster.faults.heal()
  for (const [name, dueMs] of down)
    if (isEnd || dueMs <= cluster.clock.nowMs()) {
      cluster.start(name)
      down.delete(name)
      if (name.startsWith('kubelet')) disturb(world)
    }
}
