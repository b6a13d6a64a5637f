// An API server without sockets for tests: wire requests in, wire responses out, on a virtual clock.
import { FlowRecorder } from '../base/observability/flow-recorder.ts'
import { silentLog } from '../base/observability/log.ts'
import { Metrics } from '../base/observability/metrics.ts'
import { seededRandom } from '../base/random/random.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { nodeCrypto } from '../platform/node/crypto.ts'
import type { ClientCertificate, WireResponse } from '../platform/http/listener.ts'
import type { Store } from '../store/store.ts'
import { MemoryStore } from '../store/memory-store.ts'
import { inlineYaml } from './http/yaml-parser.ts'
import type { HealthCheck } from './health/health.ts'
import { handleHttp } from './http-handler.ts'
import { noKubelets, type KubeletConnection } from './kubelet-client/kubelet-connection.ts'
import { type Policies } from './filters/policies.ts'
import { ConversionMetrics } from './custom-resources/conversion-metrics.ts'
import { ServerMetrics } from './metrics/server-metrics.ts'
import { RequestMetrics } from './request/request-metrics.ts'
import type { BootstrapObject } from './bootstrap/bootstrap-object.ts'
import type { BootstrapReconciler } from './bootstrap/bootstrap-reconciler.ts'
import type { UiOptions } from './server-deps.ts'
import { ApiServer } from './server.ts'
import { openPolicies } from './open-policies.ts'
import type { ObjectCaches } from './watch-cache/object-caches.ts'
import { jsonText, parseJson } from '../schema/json/exact-json.ts'

export interface HarnessResponse {
  readonly status: number
  readonly headers: WireResponse['headers']
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  readonly body: any
}

export interface Harness extends AsyncDisposable {
  readonly server: ApiServer
  readonly clock: VirtualClock
  readonly store: Store
  readonly flow: FlowRecorder
  /** A body that is a function is called when the server reads it. Special headers: `anonymous` presents nothing, `as: user,group,…` the certificate of another than the admin. */
  call(method: string, target: string, body?: unknown, headers?: Record<string, string>): Promise<HarnessResponse>
  /** As `call`; for a streamed response, status and headers only. */
  head(method: string, target: string, body?: unknown, headers?: Record<string, string>): Promise<HarnessResponse>
  /** The response as it would be written to the socket. */
  wire(method: string, target: string, headers?: Record<string, string>): Promise<WireResponse>
  /** The first piece of the response of a watch. */
  firstPiece(target: string, headers: Record<string, string>): Promise<Uint8Array>
  /** The first `count` lines of a watch. */
  watch(target: string, count: number, headers?: Record<string, string>): Promise<HarnessResponse['body'][]>
}

export const admin: ClientCertificate = {
  commonName: 'admin',
  organizations: ['system:masters'],
  fingerprint: '',
  trustedFor: ['users'],
  validToMs: Date.UTC(2100, 0),
}

export interface HarnessOptions {
  readonly clock?: VirtualClock
  /** A store that is shared with another server. */
  readonly store?: Store
  readonly bootstrapObjects?: readonly BootstrapObject[]
  readonly reconcilers?: readonly BootstrapReconciler[]
  readonly kubelets?: KubeletConnection
  readonly kmsCheck?: HealthCheck
  readonly ui?: UiOptions
}

/** The pieces of a stream, one by one. */
async function* piecesOf(body: WireResponse['body']): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string' || body instanceof Uint8Array) throw new Error('no stream of pieces')
  if (!('take' in body)) {
    for await (const piece of body) yield typeof piece === 'string' ? new TextEncoder().encode(piece) : piece
    return
  }
  let woken = Promise.withResolvers<void>()
  body.listen(() => woken.resolve())
  try {
    for (;;) {
      const batch = body.take()
      if (batch === undefined) return
      yield* batch
      if (batch.length > 0) continue
      await woken.promise
      woken = Promise.withResolvers()
    }
  } finally {
    body.close()
  }
}

const textOf = (piece: string | Uint8Array): string =>
  typeof piece === 'string' ? piece : new TextDecoder().decode(piece)

async function wholeText(body: WireResponse['body']): Promise<string> {
  let text = ''
  for await (const piece of piecesOf(body)) text += new TextDecoder().decode(piece)
  return text
}

async function toHarnessResponse(answer: WireResponse): Promise<HarnessResponse> {
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  const { status, headers } = answer
  if (answer.body instanceof Uint8Array && !isJson) return { status, headers, body: answer.body }
  const isWhole = typeof answer.body === 'string' || answer.body instanceof Uint8Array
  const text = isWhole ? textOf(answer.body) : await wholeText(answer.body)
  return { status: answer.status, headers: answer.headers, body: isJson ? parseJson(text) : text }
}

export async function startServer(
  policies: Policies | ((caches: ObjectCaches) => Policies) = openPolicies,
  {
    clock = new VirtualClock(),
    store: shared,
    bootstrapObjects = [],
    reconcilers = [],
    kubelets = noKubelets,
    kmsCheck,
    ui,
  }: HarnessOptions = {},
): Promise<Harness> {
  const store = shared ?? new MemoryStore(clock)
  const flow = new FlowRecorder(clock)
  const metrics = new Metrics()
  const requestMetrics = new RequestMetrics(metrics)
  const serverMetrics = new ServerMetrics(metrics)
  const conversionMetrics = new ConversionMetrics(metrics)
  const digest = (text: string) => nodeCrypto.sha256(text).toHex().toUpperCase()
  const random = seededRandom(1)
  const server = new ApiServer({
    store,
    clock,
    random,
    flow,
    log: silentLog,
    metrics,
    requestMetrics,
    serverMetrics,
    conversionMetrics,
    policies: typeof policies === 'function' ? policies : () => policies,
    bootstrapObjects,
    reconcilers,
    digest,
    kubelets,
    kmsCheck,
    ui,
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
    client: AbortController,
  ) => {
    const { anonymous, as, ...rest } = headers
    const bytes =
      body instanceof Uint8Array
        ? body
        : body === undefined || typeof body === 'function'
          ? new Uint8Array()
          : new TextEncoder().encode(typeof body === 'string' ? body : jsonText(body))
    const [commonName = '', ...organizations] = (as ?? '').split(',')
    const presented = as === undefined ? admin : { ...admin, commonName, organizations }
    const certificate = anonymous === undefined ? presented : undefined
    const sent: Record<string, string> = { 'content-type': 'application/json', ...rest }
    return handleHttp(
      {
        method,
        target,
        headers: sent,
        headerValues: (name) => sent[name]?.split(';') ?? [],
        remoteAddress: '',
        certificate,
        signal: client.signal,
        cancel: (reason) => client.abort(reason),
        upgrade: 'upgrade' in rest,
        body: typeof body === 'function' ? (body as () => Uint8Array) : () => Promise.resolve(bytes),
      },
      { server, clock, random, log: silentLog, yaml: inlineYaml, servesUiTo: (address) => address === '' },
    )
  }
  const harness: Harness = {
    server,
    clock,
    store,
    flow,
    call: async (method, target, body, headers = {}) =>
      toHarnessResponse(await send(method, target, body, headers, new AbortController())),
    wire: async (method, target, headers = {}) => send(method, target, undefined, headers, new AbortController()),
    async head(method, target, body, headers = {}) {
      const client = new AbortController()
      const answer = await send(method, target, body, headers, client)
      if (typeof answer.body === 'string' || answer.body instanceof Uint8Array) return toHarnessResponse(answer)
      if ('take' in answer.body) answer.body.close()
      client.abort()
      return { status: answer.status, headers: answer.headers, body: undefined }
    },
    async firstPiece(target, headers) {
      const controller = new AbortController()
      const { body } = await send('GET', target, undefined, headers, controller)
      for await (const piece of piecesOf(body)) {
        controller.abort()
        return piece
      }
      throw new Error('the watch ended without a piece')
    },
    async watch(target, count, headers = {}) {
      const controller = new AbortController()
      const answer = await send('GET', target, undefined, headers, controller)
      if (typeof answer.body === 'string' || answer.body instanceof Uint8Array) return [parseJson(textOf(answer.body))]
      const lines: unknown[] = []
      for await (const piece of piecesOf(answer.body)) {
        for (const line of textOf(piece).trimEnd().split('\n')) lines.push(parseJson(line))
        if (lines.length >= count) break
      }
      controller.abort()
      return lines.slice(0, count)
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
