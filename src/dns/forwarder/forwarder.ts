// Forwarder: resolves names of other zones with the upstream servers. Equal queries at the same time share one upstream
// query; the numbers of queries in total and for each client are bounded.
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import type { DecodedResponse } from '../message/decode-response.ts'
import { responseCode } from '../message/header.ts'
import { LoopProbe } from './loop-probe.ts'
import { ResponseCache, type CacheLimits, type Resolution } from './response-cache.ts'
import { exchange, type ExchangeDeps, type ForwardedQuestion } from './upstream-exchange.ts'
import { UpstreamServers } from './upstream-servers.ts'

export interface ForwarderLimits {
  /** Different questions that wait for an upstream server. */
  readonly queriesMax: number
  /** Queries of one client that wait for an upstream server. */
  readonly queriesPerClientMax: number
  readonly cache: CacheLimits
}

export interface ForwarderDeps extends ExchangeDeps {
  readonly servers: readonly Peer[]
  readonly limits: ForwarderLimits
  readonly log: Log
  readonly metrics: ForwarderMetrics
}

export interface ForwarderMetrics {
  cacheHit(isDenial: boolean): void
  cacheMiss(): void
  rejected(): void
  upstreamResponded(server: Peer, code: number, durationMs: number): void
}

/** Clients wait five seconds for a response, so all attempts together take less. */
const attemptsMax = 3
const attemptMs = 1_500

const failed: Resolution = { code: responseCode.serverFailure, answers: [], authority: [], additional: [] }
const refused: Resolution = { ...failed, code: responseCode.refused }

export class Forwarder {
  readonly #deps: ForwarderDeps
  readonly #servers: UpstreamServers
  readonly #cache: ResponseCache
  readonly #probe: LoopProbe
  readonly #tasks: TaskGroup
  readonly #running = new Map<string, Promise<Resolution>>()
  readonly #waitingByClient = new Map<string, number>()

  /** Upstream queries run in `tasks`. */
  constructor(deps: ForwarderDeps, tasks: TaskGroup) {
    this.#deps = deps
    this.#tasks = tasks
    this.#servers = new UpstreamServers(deps.servers, deps.clock)
    this.#cache = new ResponseCache(deps.clock, deps.limits.cache)
    this.#probe = new LoopProbe(this.#servers, deps)
  }

  /** Sends one query to each upstream server to find those that forward queries to this server. */
  findLoops(signal: AbortSignal): Promise<void> {
    return this.#probe.run(signal)
  }

  /** `client` identifies who waits for the response. Synchronous if no upstream query is needed. Never rejects. */
  resolve(question: ForwardedQuestion, client: string): MaybePromise<Resolution> {
    const { metrics, limits } = this.#deps
    if (this.#probe.hasReturned(question.question.name)) return refused
    const key = keyOf(question)
    const cached = this.#cache.get(key)
    if (cached !== undefined) {
      metrics.cacheHit(cached.answers.length === 0)
      return cached
    }
    metrics.cacheMiss()
    if (this.#servers.isEmpty) return failed
    const isRunning = this.#running.has(key)
    const waiting = this.#waitingByClient.get(client) ?? 0
    if ((!isRunning && this.#running.size >= limits.queriesMax) || waiting >= limits.queriesPerClientMax) {
      metrics.rejected()
      return refused
    }
    return this.#waitFor(this.#running.get(key) ?? this.#start(key, question), client, waiting)
  }

  async #waitFor(resolution: Promise<Resolution>, client: string, waiting: number): Promise<Resolution> {
    this.#waitingByClient.set(client, waiting + 1)
    try {
      return await resolution
    } finally {
      const left = (this.#waitingByClient.get(client) ?? 1) - 1
      if (left === 0) this.#waitingByClient.delete(client)
      else this.#waitingByClient.set(client, left)
    }
  }

  #start(key: string, question: ForwardedQuestion): Promise<Resolution> {
    const { promise, resolve } = Promise.withResolvers<Resolution>()
    this.#running.set(key, promise)
    this.#tasks.start('upstream DNS query', async (signal) => {
      const resolution = await this.#ask(question, signal)
      this.#running.delete(key)
      this.#cache.set(key, resolution)
      resolve(resolution)
    })
    // A group that was stopped starts no task.
    if (this.#tasks.signal.aborted) resolve(failed)
    return promise
  }

  /** Tries the servers one after the other. */
  async #ask(question: ForwardedQuestion, signal: AbortSignal): Promise<Resolution> {
    const { clock, metrics } = this.#deps
    let last = failed
    const servers = this.#servers.inOrder()
    for (let attempt = 0; attempt < attemptsMax && !signal.aborted; attempt++) {
      const server = servers[attempt % servers.length]
      if (server === undefined) break
      const startMs = clock.monotonicMs()
      const response = await exchange(this.#deps, server, question, attemptMs, signal)
      if (response === undefined) {
        this.#servers.failed(server)
        continue
      }
      metrics.upstreamResponded(server, response.responseCode, clock.monotonicMs() - startMs)
      this.#servers.responded(server)
      last = resolutionOf(response)
      if (isFinal(response)) return last
      // A server that rejects the question is not asked again; others may know the answer.
      if (attempt + 1 >= servers.length) return last
    }
    return last
  }
}

const isFinal = ({ responseCode: code }: DecodedResponse): boolean =>
  code === responseCode.noError || code === responseCode.nameError

const resolutionOf = ({ responseCode: code, answers, authority, additional }: DecodedResponse): Resolution => ({
  code: code > 0xf ? responseCode.serverFailure : code,
  answers,
  authority,
  additional,
})

const keyOf = ({ question: { name, type }, dnssecOk, checkingDisabled }: ForwardedQuestion): string =>
  `${type}${dnssecOk ? 'd' : ''}${checkingDisabled ? 'c' : ''} ${name}`

export const forwarderLimitsDefault = { queriesMax: 1_000, queriesPerClientMax: 200 } as const
