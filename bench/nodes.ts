// Thousands of simulated nodes in one process, on virtual time: the real kubelet on simulated drivers. Elapsed time is
// printed with processor time; on an idle machine both are about the same.
import { isNodeReady } from '../src/api/core/v1/node/node.ts'
import { isPodReady } from '../src/api/core/v1/pod/pod-readiness.ts'
import { context, namespace, node, pod, startCluster, type TestCluster } from '../src/cluster/index.ts'
import type { Bench } from './bench.ts'

const ctx = context(new AbortController().signal)
const home = 'load'
/** Concurrent creates. */
const createsAtOnce = 100
/** Limit for the whole run: pods that are not ready by then are not waited for. */
const secondsMax = 480

interface Spent {
  readonly seconds: number
  readonly cpuSeconds: number
}

/** Starts the measurement; the result returns the time spent since then. */
function meter(): () => Spent {
  const begin = performance.now()
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return { seconds: (performance.now() - begin) / 1000, cpuSeconds: (user + system) / 1e6 }
  }
}

const spentText = ({ seconds, cpuSeconds }: Spent): string => `${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s`
const count = (number: number): string => number.toLocaleString('en')

async function* load(nodes: number, fewPods: number, allPods: number): AsyncGenerator<string> {
  const all = meter()
  const isLate = () => all().seconds > secondsMax
  const emptyMb = memoryMb().heap
  const starting = meter()
  await using cluster = await startCluster({ nodes })
  const { client, clock } = cluster
  await until(cluster, async () =>
    (await client.of(node).list({}, ctx)).items.every((each) => isNodeReady(each) && each.spec.taints === undefined),
  )
  const started = starting()
  const ofNodes = `${count(nodes)} nodes`
  const perNodeKb = ((memoryMb().heap - emptyMb) * 1024) / nodes
  yield `${ofNodes} registered and ready: ${spentText(started)}, ${perNodeKb.toFixed(0)} KB of heap each`
  yield `${ofNodes}, nothing else, for a minute of their time: ${await shareOf(cluster)}`

  await client.of(namespace).create({ metadata: { name: home } }, '', ctx)
  await clock.advance('1s')
  await using pods = new PodsReady(cluster)
  const creating = meter()
  for (const [from, to] of [
    [0, fewPods],
    [fewPods, allPods],
  ] as const) {
    const { isDone, ready, written } = await pods.create(from, to, creating, isLate)
    if (!isDone) {
      yield `${count(pods.ready)} of ${count(to)} pods Ready after ${spentText(ready)}: that is all the time there is; ${memoryText()}`
      return
    }
    const each = (spent: Spent) => `${((spent.cpuSeconds / to) * 1000).toFixed(2)} ms of CPU each`
    yield `${count(to)} pods created to all Ready: ${spentText(ready)}, ${each(ready)}; with all their events: ${spentText(written)}, ${each(written)}`
  }
  const memory = memoryText()
  yield `${count(allPods)} pods held for a minute of their time: ${await shareOf(cluster)}; ${memory}`

  const deleting = meter()
  await client.of(namespace).delete(home, '', {}, ctx)
  await until(cluster, async () => (await client.of(namespace).find(home, '', ctx)) === undefined)
  const deleted = deleting()
  const eachMs = (deleted.cpuSeconds / allPods) * 1000
  yield `${count(allPods)} pods deleted with their namespace: ${spentText(deleted)}, ${eachMs.toFixed(2)} ms of CPU each`
}

/** Cost of a minute of the cluster's time. */
async function shareOf({ clock }: TestCluster): Promise<string> {
  const minute = meter()
  await clock.advance('1m')
  const { cpuSeconds } = minute()
  return `CPU ${cpuSeconds.toFixed(1)} s, ${((cpuSeconds / 60) * 100).toFixed(0)} % of a core`
}

interface Created {
  /** False when the time was over before the last pod was ready. */
  readonly isDone: boolean
  readonly ready: Spent
  readonly written: Spent
}

/** Creates pods, and records when the last one is ready. */
class PodsReady implements AsyncDisposable {
  readonly #cluster: TestCluster
  readonly #ready = new Set<string>()
  readonly #end = new AbortController()
  readonly #following: Promise<void>
  #onReady = () => {}

  constructor(cluster: TestCluster) {
    this.#cluster = cluster
    this.#following = this.#follow()
  }

  /** The number of pods that have become ready. */
  get ready(): number {
    return this.#ready.size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort()
    await this.#following
  }

  /** Creates the pods with these numbers; returns when all pods so far were ready, and when the cluster was idle. */
  async create(from: number, to: number, spent: () => Spent, isLate: () => boolean): Promise<Created> {
    const { clock } = this.#cluster
    let ready: Spent | undefined
    this.#onReady = () => {
      if (this.#ready.size === to) ready ??= spent()
    }
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const pods = this.#cluster.client.of(pod)
    let next = from
    const creator = async () => {
      for (let index = next++; index < to && !isLate(); index = next++)
        await pods.create({ metadata: { name: `p-${index}`, labels: { app: `a-${index % 100}` } }, spec }, home, ctx)
    }
    const creating = Promise.all(Array.from({ length: createsAtOnce }, creator))
    // Time advances meanwhile, because a rejected client waits for a timer.
    await clock.runUntil(() => ready !== undefined || isLate(), '10m')
    await creating
    if (ready === undefined && !isLate())
      throw new Error(`${this.#ready.size} of ${to} pods are ready after ten minutes of their time`)
    if (ready !== undefined) await clock.settle()
    const written = spent()
    return { isDone: ready !== undefined, ready: ready ?? written, written }
  }

  async #follow(): Promise<void> {
    const watch = this.#cluster.client.of(pod).watchBatches({ namespace: home }, context(this.#end.signal))
    for await (const events of watch)
      for (const event of events) {
        if (event.type === 'BOOKMARK' || event.type === 'DELETED' || !isPodReady(event.object)) continue
        this.#ready.add(event.object.metadata.name)
        this.#onReady()
      }
  }
}

async function until(cluster: TestCluster, condition: () => Promise<boolean>): Promise<void> {
  for (let seconds = 0; seconds < 600; seconds++) {
    if (await condition()) return
    await cluster.clock.advance('1s')
  }
  throw new Error('it takes longer than ten minutes of the cluster’s own time')
}

function memoryText(): string {
  const { heap, resident } = memoryMb()
  return `heap ${heap.toFixed(0)} MB, resident ${resident.toFixed(0)} MB`
}

function memoryMb(): { heap: number; resident: number } {
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed / 1024 / 1024, resident: rss / 1024 / 1024 }
}

/** The whole load takes minutes, so a tenth of it runs unless BENCH_SCALE is set. */
const scale = Number(process.env['BENCH_SCALE'] ?? 0.1)

export const nodesBench: Bench = {
  name: 'nodes',
  run: () => load(Math.ceil(5_000 * scale), Math.ceil(10_000 * scale), Math.ceil(50_000 * scale)),
}
