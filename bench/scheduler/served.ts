// A control plane in a process of its own, as a user has it: API server with the SQLite store, controllers and scheduler,
// and nodes that are objects only. It is reached over TLS, by a load that shares the machine with it.
import { once } from 'node:events'
import { connect } from 'node:http2'
import type { Pod } from '../../src/api/core/v1/pod.ts'
import { startUp } from '../../test/process.ts'
import { accessOf } from '../api/access.ts'
import { Connection, requestText, type Access } from '../api/connection.ts'
import { load } from '../api/load.ts'
import { memoryMb, processorMs } from '../api/process-usage.ts'
import { nodeCount, nodesOf, podOf, type Workload } from './workloads.ts'

const connections = 32
const nowText = () => new Date().toISOString().replace('Z', '000Z')
/** A server that computes less than this in a second has nothing to do. */
const quietCpuMs = 100
const quietMsMax = 120_000
const restMs = 20_000
/** So often each lease is renewed. */
const leaseMs = 20_000
const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
const podsPath = '/api/v1/namespaces/default/pods'

export class Served implements AsyncDisposable {
  readonly #up: Awaited<ReturnType<typeof startUp>>
  readonly #access: Access
  readonly #workload: Workload
  #beating: Promise<void> = Promise.resolve()
  #isEnding = false

  private constructor(up: Awaited<ReturnType<typeof startUp>>, workload: Workload) {
    this.#up = up
    this.#access = accessOf(up.kubeconfig)
    this.#workload = workload
  }

  static async start(workload: Workload): Promise<Served> {
    const served = new Served(await startUp('--nodes', '0'), workload)
    await served.#makeNodes()
    await served.#untilQuiet()
    served.#beating = served.#beat()
    return served
  }

  /** What is resident, and what of it is not of files: heaps and buffers. */
  get memory(): string {
    const { pid } = this.#up
    return `${memoryMb(pid).toFixed(0)} MB resident, ${memoryMb(pid, 'RssAnon').toFixed(0)} MB of it heaps and buffers`
  }

  get cpuMs(): number {
    return processorMs(this.#up.pid)
  }

  /** Pods as fast as they are taken; resolves when all have a node. */
  async burst(prefix: string, count: number): Promise<void> {
    const bound = this.#bound(prefix, count)
    await load(this.#access, connections, count, (index) => this.#create(`${prefix}-${index}`, index))
    await bound
  }

  /** Pods at a steady rate; how long each took from its sending until a watcher saw it bound, in order of length. */
  async steady(prefix: string, perSecond: number, count: number): Promise<Float64Array> {
    const sent = new Float64Array(count)
    const tookMs = new Float64Array(count)
    const bound = this.#bound(prefix, count, (index) => (tookMs[index] = performance.now() - (sent[index] as number)))
    const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(this.#access)))
    const begin = performance.now()
    let next = 0
    const send = async (connection: Connection) => {
      while (next < count) {
        const index = next++
        const waitMs = begin + (index * 1000) / perSecond - performance.now()
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
        sent[index] = performance.now()
        const { status } = await connection.send(this.#create(`${prefix}-${index}`, index))
        if (status !== 201) throw new Error(`a pod was answered with ${status}`)
      }
    }
    await Promise.all(open.map(send))
    await bound
    for (const connection of open) connection.close()
    return tookMs.toSorted()
  }

  /** Long enough for the collector to look again. */
  async rest(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, restMs))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true
    await this.#beating
    await this.#up[Symbol.asyncDispose]()
  }

  #create(name: string, index: number): Buffer {
    const { metadata, spec }: Pod = podOf(this.#workload, name, this.#workload.measured(index))
    return requestText('POST', podsPath, { metadata: { name, labels: metadata.labels }, spec })
  }

  async #makeNodes(): Promise<void> {
    const nodes = nodesOf(this.#workload)
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

  /** The nodes' leases are renewed one after the other, as kubelets would: without that the nodes count as dead. */
  async #beat(): Promise<void> {
    const connection = await Connection.open(this.#access)
    for (let index = 0; !this.#isEnding; index = (index + 1) % nodeCount) {
      const patch = { spec: { renewTime: nowText() } }
      const path = `${leasesPath}/node-${index}`
      await connection.send(requestText('PATCH', path, patch, 'application/merge-patch+json'))
      await new Promise((resolve) => setTimeout(resolve, leaseMs / nodeCount))
    }
    connection.close()
  }

  /** Controllers look at each new node; the clock starts when they have done so. */
  async #untilQuiet(): Promise<void> {
    const deadlineMs = performance.now() + quietMsMax
    for (let before = -Infinity; this.cpuMs - before > quietCpuMs;) {
      if (performance.now() > deadlineMs) throw new Error(`the server was not quiet after ${quietMsMax} ms`)
      before = this.cpuMs
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  }

  /** Resolves when a watch has shown so many pods with a node; tells of each by its number. */
  async #bound(prefix: string, count: number, onBound: (index: number) => void = () => {}): Promise<void> {
    const { host, port, ca, cert, key } = this.#access
    const session = connect(`https://${host}:${port}`, { ca, cert, key, checkServerIdentity: () => undefined })
    const stream = session.request({ ':path': `${podsPath}?watch=true&resourceVersion=0` })
    const seen = new Set<number>()
    const line = new RegExp(`"name":"${prefix}-(\\d+)".*"nodeName":`)
    let rest = ''
    stream.setEncoding('utf8')
    stream.on('data', (piece: string) => {
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const each of lines) {
        const index = Number(line.exec(each)?.[1] ?? -1)
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
