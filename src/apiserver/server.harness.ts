// An API server without sockets for the tests of this folder: wire requests in, wire answers out, on a virtual clock.
import { FlowRecorder } from '../base/flow.ts'
import { silentLog } from '../base/log.ts'
import { Metrics } from '../base/metrics.ts'
import { seededRandom } from '../base/random.ts'
import { TaskGroup } from '../base/task-group.ts'
import { VirtualClock } from '../base/virtual-clock.ts'
import type { WireAnswer } from '../platform/listener.ts'
import { MemoryStore } from '../store/memory.ts'
import { handleHttp } from './http.ts'
import { noKubelets } from './kubelet-connection.ts'
import { openPolicies, type Policies } from './policies.ts'
import { ApiServer, requestSecondsMetric } from './server.ts'

export interface Answered {
  readonly status: number
  readonly headers: WireAnswer['headers']
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  readonly body: any
}

export interface Harness extends AsyncDisposable {
  readonly server: ApiServer
  readonly clock: VirtualClock
  readonly store: MemoryStore
  readonly flow: FlowRecorder
  call(method: string, target: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>
  /** The first piece of a watch's answer as it is written. */
  firstPiece(target: string, headers: Record<string, string>): Promise<Uint8Array>
  /** The lines of a watch, until `count` have come. */
  watch(target: string, count: number, headers?: Record<string, string>): Promise<Answered['body'][]>
}

export const admin = { commonName: 'admin', organizations: ['system:masters'], fingerprint: '' }

export interface HarnessOptions {
  readonly clock?: VirtualClock
  /** A store that another server has, too. */
  readonly store?: MemoryStore
}

export async function startServer(
  policies: Policies = openPolicies,
  { clock = new VirtualClock(), store: shared }: HarnessOptions = {},
): Promise<Harness> {
  const store = shared ?? new MemoryStore(clock)
  const flow = new FlowRecorder(clock)
  const metrics = new Metrics()
  const requestSeconds = requestSecondsMetric(metrics)
  const digest = (text: string) => String(text.length)
  const server = new ApiServer({
    store,
    clock,
    random: seededRandom(1),
    flow,
    log: silentLog,
    metrics,
    requestSeconds,
    policies,
    digest,
    kubelets: noKubelets,
  })
  const tasks = new TaskGroup()
  const ready = Promise.withResolvers<void>()
  tasks.start('server', (signal) => server.run(signal, ready.resolve))
  await ready.promise
  const send = (
    method: string,
    target: string,
    body: unknown,
    headers: Record<string, string>,
    signal: AbortSignal,
  ) => {
    const { anonymous, ...rest } = headers
    const bytes =
      body instanceof Uint8Array
        ? body
        : body === undefined
          ? new Uint8Array()
          : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
    const certificate = anonymous === undefined ? admin : undefined
    return handleHttp(
      {
        method,
        target,
        headers: { 'content-type': 'application/json', ...rest },
        remoteAddress: '',
        certificate,
        signal,
        upgrade: 'upgrade' in rest,
        body: () => Promise.resolve(bytes),
      },
      { server, clock, log: silentLog },
    )
  }
  const harness: Harness = {
    server,
    clock,
    store,
    flow,
    async call(method, target, body, headers = {}) {
      const answer = await send(method, target, body, headers, new AbortController().signal)
      const isJson = String(answer.headers['content-type']).startsWith('application/json')
      const isBytes = answer.body instanceof Uint8Array
      if (isBytes && !isJson) return { status: answer.status, headers: answer.headers, body: answer.body }
      const text = isBytes ? new TextDecoder().decode(answer.body) : String(answer.body)
      return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
    },
    async firstPiece(target, headers) {
      const controller = new AbortController()
      const { body } = await send('GET', target, undefined, headers, controller.signal)
      for await (const piece of body as AsyncIterable<Uint8Array>) {
        controller.abort()
        return piece
      }
      throw new Error('the watch ended without a piece')
    },
    async watch(target, count, headers = {}) {
      const controller = new AbortController()
      const answer = await send('GET', target, undefined, headers, controller.signal)
      const text = (piece: Uint8Array | string) => (typeof piece === 'string' ? piece : new TextDecoder().decode(piece))
      if (typeof answer.body === 'string' || answer.body instanceof Uint8Array) return [JSON.parse(text(answer.body))]
      const lines: unknown[] = []
      for await (const line of answer.body) {
        lines.push(JSON.parse(text(line)))
        if (lines.length === count) break
      }
      controller.abort()
      return lines
    },
    async [Symbol.asyncDispose]() {
      tasks.stop()
      await tasks.join()
      if (shared === undefined) await store.close()
    },
  }
  for (const name of ['default', 'other']) {
    await harness.call('POST', '/api/v1/namespaces', { metadata: { name } })
    await harness.call('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } })
  }
  return harness
}
