// A control plane in a separate process: API server with the SQLite store, controllers and scheduler, and nodes that
// are only objects. It is reached over TLS by a load on the same machine.
import { once } from 'node:events'
import { connect } from 'node:http2'
import type { Pod } from '../../src/api/core/v1/pod/pod.ts'
import { startUp } from '../../test/process.ts'
import { accessOf, type Access } from '../../test/access.ts'
import { Connection, requestText } from '../api/connection.ts'
import { load } from '../api/load.ts'
import { memoryMb, processorMs } from '../api/process-usage.ts'
import { nodeCount, nodesOf, podOf, type Workload } from './workloads.ts'

const connections = 64
const nowText = () => new Date().toISOString().replace('Z', '000Z')
/** A server that computes less than this per second is idle, apart from renewing leases. */
const quietCpuMs = 500
const quietMsMax = 120_000
const restMs = 20_000
/** Renewal interval of each lease. */
const leaseMs = 20_000
const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
/** Clients that renew leases: enough of them that renewals arrive in time on a loaded server. */
const beaters = 64
const namespacesPath = '/api/v1/namespaces'
/** Each workload has its own namespace, so that pods of other workloads do not affect it by affinity. */
const namespaceOf = ({ name }: Workload) => name.replaceAll(' ', '-')
const namespacePath = (workload: Workload) => `${namespacesPath}/${namespaceOf(workload)}`
const podsPath = (workload: Workload) => `${namespacePath(workload)}/pods`
/** Interval of checks whether all events are present. */
const eventsPollMs = 50
const eventsMsMax = 120_000
/** As Go clients set it. With the 64 KiB of Node.js a watch waits for its client after thirty events. */
const streamWindowBytes = 4 << 20
/** A new namespace accepts pods when its default account exists. */
const accountMsMax = 10_000

export class Served implements AsyncDisposable {
  readonly #up: Awaited<ReturnType<typeof startUp>>
  readonly #access: Access
  /** Pods created so far, by workload: each has one event. */
  readonly #made = new Map<Workload, number>()
  #beating: Promise<unknown> = Promise.resolve()
  #isEnding = false

  private constructor(up: Awaited<ReturnType<typeof startUp>>) {
    this.#up = up
    this.#access = accessOf(up.kubeconfig)
  }

  /** Creates the nodes of one workload, and a namespace for each workload. */
  static async start(nodesAs: Workload, workloads: readonly Workload[] = [nodesAs]): Promise<Served> {
    const served = new Served(await startUp('--nodes', '0'))
    await served.#makeNodes(nodesAs)
    const beginMs = performance.now()
    served.#beating = Promise.all(Array.from({ length: beaters }, (_, index) => served.#beat(index, beginMs)))
    for (const workload of workloads) await served.#makeNamespace(workload)
    await served.untilQuiet()
    return served
  }

  /** Resident memory, and the part of it that is not backed by files: heaps and buffers. */
  get memory(): string {
    const { pid } = this.#up
    return `${memoryMb(pid).toFixed(0)} MB resident, ${memoryMb(pid, 'RssAnon').toFixed(0)} MB of it heaps and buffers`
  }

  get cpuMs(): number {
    return processorMs(this.#up.pid)
  }

  /** Creates pods as fast as possible until all have a node; returns when the first was sent. */
  async burst(workload: Workload, prefix: string, count: number): Promise<number> {
    const bound = this.#bound(workload, prefix, count, await this.#revision(workload))
    const { beginMs } = await load(this.#access, connections, count, (index) =>
      create(workload, `${prefix}-${index}`, index),
    )
    await bound
    return beginMs
  }

  /** Creates pods at a steady rate; returns the sorted times from sending each pod until a watcher saw it bound. */
  async steady(workload: Workload, prefix: string, perSecond: number, count: number): Promise<Float64Array> {
    const sent = new Float64Array(count)
    const tookMs = new Float64Array(count)
    const onBound = (index: number) => (tookMs[index] = performance.now() - (sent[index] as number))
    const bound = this.#bound(workload, prefix, count, await this.#revision(workload), onBound)
    const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(this.#access)))
    const begin = performance.now()
    let next = 0
    const send = async (connection: Connection) => {
      while (next < count) {
        const index = next++
        const waitMs = begin + (index * 1000) / perSecond - performance.now()
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
        sent[index] = performance.now()
        const { status } = await connection.send(create(workload, `${prefix}-${index}`, index))
        if (status !== 201) throw new Error(`a pod was answered with ${status}`)
      }
    }
    await Promise.all(open.map(send))
    await bound
    for (const connection of open) connection.close()
    return tookMs.toSorted()
  }

  /** When the scheduler had written the event of every pod of the workload. */
  async untilEventsWritten(workload: Workload): Promise<number> {
    const { session, streamOf } = this.#session()
    const deadlineMs = performance.now() + eventsMsMax
    for (let written = 0; written < (this.#made.get(workload) ?? 0);) {
      if (performance.now() > deadlineMs) throw new Error(`after ${eventsMsMax} ms there were ${written} events`)
      await new Promise((resolve) => setTimeout(resolve, eventsPollMs))
      const { items, metadata } = await listed(streamOf(`${namespacePath(workload)}/events?limit=1`))
      written = items.length + (metadata.remainingItemCount ?? 0)
    }
    session.destroy()
    return performance.now()
  }

  /** Long enough for another garbage collection. */
  async rest(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, restMs))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true
    await this.#beating
    await this.#up[Symbol.asyncDispose]()
  }

  async #makeNamespace(workload: Workload): Promise<void> {
    const name = namespaceOf(workload)
    const connection = await Connection.open(this.#access)
    await connection.send(requestText('POST', namespacesPath, { metadata: { name } }))
    const account = requestText('GET', `${namespacePath(workload)}/serviceaccounts/default`)
    const deadlineMs = performance.now() + accountMsMax
    while ((await connection.send(account)).status !== 200)
      if (performance.now() > deadlineMs) throw new Error(`the namespace ${name} has no account`)
    connection.close()
  }

  async #makeNodes(workload: Workload): Promise<void> {
    const nodes = nodesOf(workload)
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }]
    await load(this.#access, connections, nodes.length, (index) => {
      const { metadata: { name, labels } = { name: '' }, status } = nodes[index] ?? {}
      return requestText('POST', '/api/v1/nodes', { metadata: { name, labels }, status: { ...status, conditions } })
    })
    const renewTime = nowText()
    await load(this.#access, connections, nodes.length, (index) => {
      const name = `node-${index}`
      const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime }
      return requestText('POST', leasesPath, { metadata: { name }, spec })
    })
  }

  /** Renews the nodes' leases in turn, as kubelets would: otherwise the nodes count as unreachable. */
  async #beat(first: number, beginMs: number): Promise<void> {
    const connection = await Connection.open(this.#access)
    for (let beats = first; !this.#isEnding; beats += beaters) {
      const patch = { spec: { renewTime: nowText() } }
      const path = `${leasesPath}/node-${beats % nodeCount}`
      await connection.send(requestText('PATCH', path, patch, 'application/merge-patch+json'))
      const dueMs = beginMs + ((beats + beaters) * leaseMs) / nodeCount
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())))
    }
    connection.close()
  }

  /** Waits until controllers have processed each new node and all events are written. */
  async untilQuiet(): Promise<void> {
    const deadlineMs = performance.now() + quietMsMax
    for (let before = -Infinity; this.cpuMs - before > quietCpuMs;) {
      if (performance.now() > deadlineMs) throw new Error(`the server was not quiet after ${quietMsMax} ms`)
      before = this.cpuMs
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  }

  async #revision(workload: Workload): Promise<string> {
    const { session, streamOf } = this.#session()
    const { metadata } = await listed(streamOf(`${podsPath(workload)}?limit=1`))
    session.destroy()
    return metadata.resourceVersion
  }

  #session() {
    const { host, port, ca, cert, key } = this.#access
    const settings = { initialWindowSize: streamWindowBytes }
    const session = connect(`https://${host}:${port}`, {
      ca,
      cert,
      key,
      settings,
      checkServerIdentity: () => undefined,
    })
    session.once('connect', () => session.setLocalWindowSize(4 * streamWindowBytes))
    return { session, streamOf: (path: string) => session.request({ ':path': path }).setEncoding('utf8') }
  }

  /** Resolves when a watch from the revision has delivered this many pods with a node; reports each by its number. */
  async #bound(
    workload: Workload,
    prefix: string,
    count: number,
    revision: string,
    onBound: (index: number) => void = () => {},
  ): Promise<void> {
    this.#made.set(workload, (this.#made.get(workload) ?? 0) + count)
    const { session, streamOf } = this.#session()
    const stream = streamOf(`${podsPath(workload)}?watch=true&resourceVersion=${revision}`)
    const seen = new Set<number>()
    const name = new RegExp(`"name":"${prefix}-(\\d+)"`)
    let rest = ''
    stream.on('data', (piece: string) => {
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const each of lines) {
        const index = each.includes('"nodeName":') ? Number(name.exec(each)?.[1] ?? -1) : -1
        if (index < 0 || seen.has(index)) continue
        seen.add(index)
        onBound(index)
      }
      if (seen.size >= count) session.destroy()
    })
    await once(session, 'close')
    if (seen.size < count) throw new Error(`the watch ended after ${seen.size} of ${count} pods`)
  }
}

function create(workload: Workload, name: string, index: number): Buffer {
  const { metadata, spec }: Pod = podOf(workload, name, workload.measured(index))
  return requestText('POST', podsPath(workload), { metadata: { name, labels: metadata.labels }, spec })
}

interface Listed {
  readonly items: readonly unknown[]
  readonly metadata: { readonly resourceVersion: string; readonly remainingItemCount?: number }
}

async function listed(answer: AsyncIterable<unknown>): Promise<Listed> {
  let text = ''
  for await (const piece of answer) text += String(piece)
  return JSON.parse(text) as Listed
}
