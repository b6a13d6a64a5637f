// SchedulingDecisions: why a pod was placed where it is. The scheduler of this process is called directly. Schedulers
// of other processes follow a stream of queries and post their responses, so a decision over thousands of nodes is sent
// only on request. Of what they do not know other API servers are asked.
import { Channel } from '../../base/async/channel.ts'
import type { Clock } from '../../base/time/clock.ts'
import {
  decisionQueriesPath,
  decisionsPath,
  ownRecordParameter,
  type DecisionQuery,
} from '../../api/coxswain/v1/flow-protocol.ts'
import { badRequest, pathNotFound } from '../../api/errors/status-error.ts'
import type { ApiResponse } from '../request/response.ts'
import { booleanParameter } from '../request/query-values.ts'
import type { ApiRequest } from '../request/request.ts'

export type Explain = (podKey: string) => object | undefined
/** Asks other API servers. */
export type ExplainElsewhere = (podKey: string, signal: AbortSignal) => Promise<object | undefined>

/** How long a scheduler of another process may take. */
const responseMsMax = 2_000
/** The queries that a follower has not read yet, and the pending queries. */
const queriesMax = 100

interface PendingQuery {
  /** How many schedulers have not responded yet. */
  waiting: number
  readonly resolve: (explanation: object | undefined) => void
}

export class SchedulingDecisions {
  readonly #explain: Explain
  readonly #elsewhere: ExplainElsewhere
  readonly #clock: Clock
  readonly #followers = new Set<Channel<DecisionQuery>>()
  readonly #open = new Map<number, PendingQuery>()
  #lastQueryId = 0

  constructor(explain: Explain, elsewhere: ExplainElsewhere, clock: Clock) {
    this.#explain = explain
    this.#elsewhere = elsewhere
    this.#clock = clock
  }

  static ownsPath(path: string): boolean {
    return path === decisionQueriesPath || path.startsWith(decisionsPath)
  }

  async handle({ target, query, body, context: { signal } }: ApiRequest): Promise<ApiResponse> {
    if (target.kind !== 'path') throw pathNotFound()
    if (target.path !== decisionQueriesPath) {
      const pod = target.path.slice(decisionsPath.length)
      if (target.verb !== 'get') throw pathNotFound()
      const isOwn = booleanParameter(query, ownRecordParameter)
      const known = this.#explain(pod) ?? (await this.#query(pod))
      const value = known ?? (isOwn ? undefined : await this.#elsewhere(pod, signal))
      if (value === undefined) throw pathNotFound()
      return { kind: 'json', status: 200, value }
    }
    switch (target.verb) {
      case 'get': {
        const headers = { 'content-type': 'application/json-lines' }
        return { kind: 'wire', response: { status: 200, headers, body: this.#follow(signal) } }
      }
      case 'post':
        this.#receive(body.kind === 'value' ? body.value : undefined)
        return { kind: 'json', status: 200, value: {} }
      default:
        throw pathNotFound()
    }
  }

  async *#follow(signal: AbortSignal): AsyncGenerator<string> {
    const queries = new Channel<DecisionQuery>(queriesMax, () => this.#followers.delete(queries))
    this.#followers.add(queries)
    // An empty first line shows the client that the stream is open.
    yield '\n'
    for await (const query of queries.endOnAbort(signal)) yield `${JSON.stringify(query)}\n`
  }

  async #query(pod: string): Promise<object | undefined> {
    if (this.#followers.size === 0 || this.#open.size >= queriesMax) return undefined
    const id = ++this.#lastQueryId
    const responded = Promise.withResolvers<object | undefined>()
    this.#open.set(id, { waiting: this.#followers.size, resolve: responded.resolve })
    const timer = this.#clock.after(responseMsMax, () => responded.resolve(undefined))
    for (const follower of this.#followers) follower.push({ id, pod })
    try {
      return await responded.promise
    } finally {
      timer.cancel()
      this.#open.delete(id)
    }
  }

  #receive(value: unknown): void {
    if (typeof value !== 'object' || value === null || !('id' in value) || typeof value.id !== 'number')
      throw badRequest('id: must be the number of a question')
    const open = this.#open.get(value.id)
    if (open === undefined) return
    const known = 'explanation' in value && typeof value.explanation === 'object' ? value.explanation : null
    if (known !== null) open.resolve(known)
    else if (--open.waiting <= 0) open.resolve(undefined)
  }
}
