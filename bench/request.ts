// Cost of one request without a socket: from the decoded HTTP request to the stored version and the bytes of the
// response, by type of request and by store, and the additional cost of flow recording.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getHeapStatistics } from 'node:v8'
import { realClock } from '../src/base/time/clock.ts'
import { silentLog } from '../src/base/observability/log.ts'
import { systemRandom } from '../src/base/random/random.ts'
import { inlineYaml } from '../src/apiserver/http/yaml-parser.ts'
import { handleHttp } from '../src/apiserver/http-handler.ts'
import { Cluster } from '../src/cluster/run/cluster.ts'
import { openStore, type StoreChoice } from '../src/cluster/data-directory/open-store.ts'
import { buildRequestPolicies } from '../src/cluster/policy/request-policies.ts'
import type { WireRequest } from '../src/platform/http/listener.ts'
import { nodePlatform } from '../src/platform/node/platform.ts'
import { samplePod } from './api/sample-pod.ts'
import type { Bench } from './bench.ts'

const concurrency = 16
/** Rounds are short, so that some of them run undisturbed on a busy machine: the best counts. */
const callsPerRound = 1_000
const rounds = 5

interface Call {
  readonly method: string
  readonly target: string
  readonly body?: object
  readonly type?: string
}

const core = '/api/v1/namespaces/default'
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
const eventNamed = (name: string) => ({
  metadata: { name, namespace: 'default' },
  involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'p-0', namespace: 'default', uid: 'u', resourceVersion: '7' },
  reason: 'Scheduled',
  message: 'Successfully assigned default/p-0 to node-0',
  type: 'Normal',
  source: { component: 'default-scheduler' },
  firstTimestamp: '2026-01-01T00:00:00Z',
  lastTimestamp: '2026-01-01T00:00:00Z',
  count: 1,
})
const runningStatus = {
  phase: 'Running',
  conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
    type,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })),
  podIP: '10.0.0.7',
  podIPs: [{ ip: '10.0.0.7' }],
  startTime: '2026-01-01T00:00:00Z',
  containerStatuses: [
    {
      name: 'web',
      image: 'nginx:1.27',
      imageID: 'sha256:0',
      containerID: 'containerd://0',
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
    },
  ],
}
const leaseRenewed = (index: number) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: `node-${index % 100}`, namespace: 'kube-node-lease' },
  spec: {
    holderIdentity: `node-${index % 100}`,
    leaseDurationSeconds: 40,
    renewTime: `2026-01-01T00:00:00.${String(index).padStart(6, '0')}Z`,
  },
})

/** In this order, because later calls change objects of earlier ones. */
const calls = {
  'create a ConfigMap': (index) => ({
    method: 'POST',
    target: `${core}/configmaps`,
    body: { metadata: { name: `c-${index}` }, data: { a: 'b', c: 'd' } },
  }),
  'create a Pod': (index) => ({ method: 'POST', target: `${core}/pods`, body: samplePod(`p-${index}`) }),
  'create an Event': (index) => ({ method: 'POST', target: `${core}/events`, body: eventNamed(`e-${index}`) }),
  'bind a Pod': (index) => ({
    method: 'POST',
    target: `${core}/pods/p-${index}/binding`,
    body: { metadata: { name: `p-${index}` }, target: { apiVersion: 'v1', kind: 'Node', name: 'node-0' } },
  }),
  'patch the status of a Pod': (index) => ({
    method: 'PATCH',
    target: `${core}/pods/p-${index}/status`,
    type: 'application/strategic-merge-patch+json',
    body: { status: runningStatus },
  }),
  'renew a Lease': (index) => ({ method: 'PUT', target: `${leases}/node-${index % 100}`, body: leaseRenewed(index) }),
  'merge patch a ConfigMap': (index) => ({
    method: 'PATCH',
    target: `${core}/configmaps/c-${index}`,
    type: 'application/merge-patch+json',
    body: { data: { a: String(index) } },
  }),
  'apply a ConfigMap': (index) => ({
    method: 'PATCH',
    target: `${core}/configmaps/c-${index}?fieldManager=bench&force=true`,
    type: 'application/apply-patch+yaml',
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c-${index}` }, data: { z: String(index) } },
  }),
  'get a Pod': () => ({ method: 'GET', target: `${core}/pods/p-0` }),
  'get a Namespace': () => ({ method: 'GET', target: '/api/v1/namespaces/default' }),
  'list 100 Pods': () => ({ method: 'GET', target: `${core}/pods?limit=100` }),
} satisfies Record<string, (index: number) => Call>

const certificate = {
  commonName: 'kubernetes-admin',
  organizations: ['system:masters'],
  fingerprint: 'ab',
  trustedFor: ['users'],
  validToMs: Date.UTC(2100, 0),
} as const
const { signal } = new AbortController()
const remoteAddress = '127.0.0.1'

function wireOf({ method, target, body, type = 'application/json' }: Call): WireRequest {
  const bytes = new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body))
  const headers = { accept: 'application/json', 'user-agent': 'bench/1.0', 'content-type': type }
  return {
    method,
    target,
    headers,
    remoteAddress,
    certificate,
    signal,
    upgrade: false,
    headerValues: () => [],
    cancel: () => {},
    body: () => Promise.resolve(bytes),
  }
}

interface Cost {
  /** Processor time of the main thread. */
  readonly ownMicros: number
  /** Including the threads of the garbage collector, the compiler and the disk. */
  readonly allMicros: number
  readonly bytes: number
}

function spent(): Cost {
  const own = process.threadCpuUsage()
  const all = process.cpuUsage()
  const { total_allocated_bytes: bytes = 0 } = getHeapStatistics() as { total_allocated_bytes?: number }
  return { ownMicros: own.user + own.system, allMicros: all.user + all.system, bytes }
}

class Served implements AsyncDisposable {
  readonly cluster: Cluster
  readonly #cleanUps: AsyncDisposableStack

  static async start(choice: StoreChoice): Promise<Served> {
    const cleanUps = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'bench-request-'))
    cleanUps.defer(() => rmSync(folder, { recursive: true }))
    const store = await openStore(choice, folder)
    const accountKey = nodePlatform.crypto.generateKey()
    const deps = { clock: realClock, random: systemRandom, platform: nodePlatform, accountKey }
    const { policies, close } = buildRequestPolicies(deps)
    cleanUps.defer(close)
    const common = { clock: realClock, random: systemRandom, log: silentLog, yaml: inlineYaml }
    const cluster = new Cluster({ ...common, store, policies, nodes: 0, controllerManagers: 0 })
    cleanUps.defer(() => cluster.stop())
    cluster.startServer()
    await cluster.ready
    const served = new Served(cluster, cleanUps)
    await served.send(
      wireOf({ method: 'POST', target: `${core}/serviceaccounts`, body: { metadata: { name: 'default' } } }),
    )
    for (let index = 0; index < 100; index++)
      await served.send(wireOf({ method: 'POST', target: leases, body: leaseRenewed(index) }))
    return served
  }

  constructor(cluster: Cluster, cleanUps: AsyncDisposableStack) {
    this.cluster = cluster
    this.#cleanUps = cleanUps
  }

  async send(wire: WireRequest): Promise<void> {
    const { server } = this.cluster
    if (server === undefined) throw new Error('the API server is gone')
    const { status, body } = await handleHttp(wire, {
      server,
      clock: realClock,
      random: systemRandom,
      log: silentLog,
      yaml: inlineYaml,
    })
    if (status >= 300) throw new Error(`${wire.method} ${wire.target} was answered with ${status}: ${String(body)}`)
  }

  /** Sends the calls with these indexes, this many concurrently; returns the time of each. */
  async measure(call: (index: number) => Call, from: number, count: number): Promise<Cost> {
    const wires = Array.from({ length: count }, (_, index) => wireOf(call(from + index)))
    const before = spent()
    let next = 0
    const sender = async () => {
      for (let wire = wires[next++]; wire !== undefined; wire = wires[next++]) await this.send(wire)
    }
    await Promise.all(Array.from({ length: concurrency }, sender))
    const after = spent()
    return {
      ownMicros: (after.ownMicros - before.ownMicros) / count,
      allMicros: (after.allMicros - before.allMicros) / count,
      bytes: (after.bytes - before.bytes) / count,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanUps.disposeAsync()
  }
}

async function* costsWith(choice: StoreChoice): AsyncGenerator<string> {
  await using served = await Served.start(choice)
  for (const call of Object.values(calls)) await served.measure(call, 0, callsPerRound)
  for (const [name, call] of Object.entries(calls)) {
    const costs: Cost[] = []
    for (let round = 1; round <= rounds; round++)
      costs.push(await served.measure(call, round * callsPerRound, callsPerRound))
    const best = (of: (cost: Cost) => number) => Math.min(...costs.map(of))
    yield (
      `${choice.kind}, ${name}: ${best(({ ownMicros }) => ownMicros).toFixed(0)} µs of CPU, ` +
        `${best(({ allMicros }) => allMicros).toFixed(0)} with all threads, ${(best(({ bytes }) => bytes) / 1024).toFixed(1)} KB allocated`
    )
  }
}

const recorderRounds = 12

/** Alternately with and without the recorder in one process; the median of the ratios. */
async function recorderShare(name: string, call: (index: number) => Call): Promise<string> {
  await using recorded = await Served.start({ kind: 'memory' })
  await using silent = await Served.start({ kind: 'memory' })
  const nothing = { record: () => 0, finish: () => {}, explain: () => {} }
  Object.assign(silent.cluster.flow, nothing)
  const ratios: number[] = []
  for (let round = 0; round < recorderRounds; round++) {
    const order = round % 2 === 0 ? [recorded, silent] : [silent, recorded]
    const cost = new Map<Served, number>()
    for (const served of order)
      cost.set(served, (await served.measure(call, round * callsPerRound, callsPerRound)).ownMicros)
    // V8 still compiles in the first rounds.
    if (round >= 2) ratios.push((cost.get(recorded) ?? 0) / (cost.get(silent) ?? 1))
  }
  const middle = ratios.toSorted((a, b) => a - b)[ratios.length >> 1] ?? 1
  return `recording flows adds to ${name}: ${((middle - 1) * 100).toFixed(1)} % of CPU`
}

export const requestBench: Bench = {
  name: 'request',
  async *run() {
    yield* costsWith({ kind: 'memory' })
    yield* costsWith({ kind: 'sqlite' })
    for (const name of ['create a ConfigMap', 'get a Namespace'] as const) yield await recorderShare(name, calls[name])
  },
}
