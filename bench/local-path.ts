// Claims of the default class on simulated nodes, on virtual time: pods with one claim each, relative to pods without.
import { context, persistentVolumeClaim, pod, startCluster, type TestCluster } from '../src/cluster/index.ts'
import type { Bench } from './bench.ts'

const ctx = context(new AbortController().signal)
const scale = Number(process.env['BENCH_SCALE'] ?? 1)
const nodes = 50
const podCount = Math.max(1, Math.round(500 * scale))
const claimCount = Math.max(1, Math.round(1_000 * scale))
const rounds = 3
/** Concurrent creates. */
const createsAtOnce = 50

interface Spent {
  readonly seconds: number
  readonly cpuSeconds: number
}

async function create({ client }: TestCluster, count: number, hasClaims: boolean): Promise<void> {
  const containers = [{ name: 'c', image: 'i' }]
  const accessModes = ['ReadWriteOnce']
  const resources = { requests: { storage: '1Mi' } }
  let next = 0
  const creator = async () => {
    for (let index = next++; index < count; index = next++) {
      const metadata = { name: `p-${index}` }
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: metadata.name } }]
      if (hasClaims) await client.of(persistentVolumeClaim).create({ metadata, spec: { accessModes, resources } }, ctx)
      await client.of(pod).create({ metadata, spec: { containers, ...(hasClaims ? { volumes } : {}) } }, ctx)
    }
  }
  await Promise.all(Array.from({ length: createsAtOnce }, creator))
}

/** The time from the first create until the condition is true of all objects of the kind. */
async function measure(count: number, hasClaims: boolean, until: 'pods Running' | 'claims Bound'): Promise<Spent> {
  await using cluster = await startCluster({ nodes, localPath: true })
  await cluster.clock.advance('10s')
  const stop = new AbortController()
  const done = new Set<string>()
  const followPods = async () => {
    for await (const event of cluster.client.of(pod).watch({}, context(stop.signal)))
      if (event.type !== 'BOOKMARK' && event.object.status.phase === 'Running') done.add(event.object.metadata.name)
  }
  const followClaims = async () => {
    for await (const event of cluster.client.of(persistentVolumeClaim).watch({}, context(stop.signal)))
      if (event.type !== 'BOOKMARK' && event.object.status.phase === 'Bound') done.add(event.object.metadata.name)
  }
  const following = until === 'pods Running' ? followPods() : followClaims()
  const begin = performance.now()
  const before = process.cpuUsage()
  const creating = create(cluster, count, hasClaims)
  const isDone = await cluster.clock.runUntil(() => done.size === count, '10m')
  const { user, system } = process.cpuUsage(before)
  const spent = { seconds: (performance.now() - begin) / 1000, cpuSeconds: (user + system) / 1e6 }
  await creating
  stop.abort()
  await following
  if (!isDone) throw new Error(`${done.size} of ${count} ${until} after ten minutes of their time`)
  return spent
}

const best = (runs: readonly Spent[]): Spent => runs.reduce((a, b) => (b.cpuSeconds < a.cpuSeconds ? b : a))
const text = ({ seconds, cpuSeconds }: Spent): string => `${seconds.toFixed(2)} s, CPU ${cpuSeconds.toFixed(2)} s`

async function* run(): AsyncGenerator<string> {
  const without: Spent[] = []
  const withClaims: Spent[] = []
  for (let round = 0; round < rounds; round++) {
    without.push(await measure(podCount, false, 'pods Running'))
    withClaims.push(await measure(podCount, true, 'pods Running'))
  }
  const plain = best(without)
  const claimed = best(withClaims)
  yield `${podCount} pods to all Running, best of ${rounds}: ${text(plain)}`
  yield `${podCount} pods with one claim each: ${text(claimed)}, ${(claimed.cpuSeconds / plain.cpuSeconds).toFixed(2)} times the CPU`
  const bound = await measure(claimCount, true, 'claims Bound')
  yield `${claimCount} claims of the default class, each with its pod, to all Bound: ${text(bound)}`
}

export const localPathBench: Bench = { name: 'local-path', run }
