// Nodes and pods that `coxswain kwok` simulates, in three processes over HTTPS: the cluster, kwok, and this one, which creates and
// deletes. The amounts are those of kwok's own tests in CI, which allow 60 s, 60 s and 90 s.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isNodeReady } from '../src/api/core/v1/node/node.ts'
import { connect, context, namespace, node, pod, type Connection, type Node, type Pod } from '../src/cluster/index.ts'
import { kwokAnnotation } from '../src/kwok/kwok.ts'
import { newFolder, startProcess } from '../test/process.ts'
import type { Bench } from './bench.ts'

const home = 'load'
const createsAtOnce = 50
const tickMs = 10

async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[11]) + Number(fields[12])) * tickMs) / 1000
}

/** Calls once for each number, some at a time. */
async function times(count: number, call: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let index = next++; index < count; index = next++) await call(index)
  }
  await Promise.all(Array.from({ length: createsAtOnce }, worker))
}

/** Resolves when as many objects as given have been seen, each once, for which the condition holds. */
async function seen<T extends Node | Pod>(
  events: AsyncIterable<{ readonly type: string; readonly object?: T }>,
  count: number,
  holds: (type: string, object: T) => boolean,
): Promise<void> {
  const names = new Set<string>()
  for await (const { type, object } of events) {
    if (object !== undefined && holds(type, object)) names.add(object.metadata.name)
    if (names.size === count) return
  }
}

async function* load(nodes: number, pods: number): AsyncGenerator<string> {
  const folder = await newFolder()
  const kubeconfig = join(folder, 'kubeconfig')
  const data = ['--data-dir', join(folder, 'data'), '--kubeconfig', kubeconfig]
  try {
    await using up = await startProcess(['up', '--runtime', 'none', '--nodes', '0', '--port', '0', ...data])
    await using kwok = await startProcess(['kwok', '--kubeconfig', kubeconfig])
    await using connection = await connect(kubeconfig)
    const measured = async (what: string, work: () => Promise<void>): Promise<string> => {
      const pids = [up.pid, kwok.pid]
      const before = await Promise.all(pids.map(cpuSeconds))
      const begin = performance.now()
      await work()
      const seconds = ((performance.now() - begin) / 1000).toFixed(1)
      const after = await Promise.all(pids.map(cpuSeconds))
      const [cluster, simulator] = after.map((total, index) => (total - (before[index] ?? 0)).toFixed(1))
      return `${what}: ${seconds} s, CPU ${cluster} s of the cluster and ${simulator} s of kwok`
    }
    yield await measured(`${nodes} nodes created to all Ready`, () => createNodes(connection, nodes))
    await connection.client.of(namespace).create({ metadata: { name: home } })
    yield await measured(`${pods} pods created to all Running`, () => createPods(connection, pods))
    yield await measured(`${pods} pods deleted`, () => deletePods(connection, pods))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function createNodes({ client }: Connection, count: number): Promise<void> {
  const following = context(new AbortController().signal)
  const ready = seen(client.of(node).watch({}, following), count, (_, object) => isNodeReady(object))
  const annotations = { [kwokAnnotation]: 'fake' }
  await times(count, (index) => client.of(node).create({ metadata: { name: `node-${index}`, annotations } }))
  await ready
}

async function createPods({ client }: Connection, count: number): Promise<void> {
  const following = context(new AbortController().signal)
  const running = seen(
    client.of(pod).watch({ namespace: home }, following),
    count,
    (_, { status }) => status.phase === 'Running',
  )
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  await times(count, (index) => client.of(pod).create({ metadata: { name: `pod-${index}` }, spec }, home))
  await running
}

async function deletePods({ client }: Connection, count: number): Promise<void> {
  const following = context(new AbortController().signal)
  const deleted = seen(client.of(pod).watch({ namespace: home }, following), count, (type) => type === 'DELETED')
  await client.of(pod).deleteAll(home)
  await deleted
}

/** The whole load takes a minute, so a tenth of it runs unless BENCH_SCALE is set. */
const scale = Number(process.env['BENCH_SCALE'] ?? 0.1)

export const kwokBench: Bench = {
  name: 'kwok',
  run: () => load(Math.ceil(5_000 * scale), Math.ceil(10_000 * scale)),
}
