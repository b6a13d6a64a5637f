// Faults: fault injection for tests: rejected requests, broken watches, a slow store and bad links. TestCluster.powerOff simulates
// the loss of a machine.
import type { Channel } from '../../base/async/channel.ts'
import type { Clock } from '../../base/time/clock.ts'
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { checkKind } from '../../api/kind/check-kind.ts'
import { isSameResource, type ResourceType } from '../../api/kind/kind.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { ApiResponse } from '../../apiserver/request/response.ts'
import type { ApiRequest, Verb } from '../../apiserver/request/request.ts'
import { ApiServer } from '../../apiserver/server.ts'
import type { ApiServerDeps } from '../../apiserver/server-deps.ts'
import { MemoryStore, type MemoryStoreOptions } from '../../store/memory-store.ts'
import type { CommitResult, Transaction } from '../../store/store.ts'
import { LinkFaults, type RemovableFault } from '../../machine/network/link-faults.ts'
import type { ObjectKey } from '../../api/meta/object.ts'
import { checkOneOf, checkProperties, checkWhole } from '../../base/check-arguments.ts'
import { lossyLinkFault, partitionFault, slowLinkFault, type LossyLink, type SlowLink } from './network-faults.ts'
import type { WatchEvent } from '../../apiserver/watch-cache/watch-event.ts'

/** Selects requests; all when empty. */
export interface RequestFilter {
  readonly verb?: Verb
  readonly kind?: ResourceType
  readonly subresource?: string
  /** The sender: `controller/deployment`, `scheduler`, `kubelet/node-0`, `kubectl`. */
  readonly sender?: string
}

/**
 * gone: the watch ends with 410 and the client lists again; reset: the stream ends and the client resumes; silence: no
 * further events, without an error.
 */
export type WatchFault = 'gone' | 'reset' | 'silence'

export interface RequestRejection extends RequestFilter {
  /** 409 Conflict by default. */
  readonly code?: 409 | 429 | 500 | 503
  /** Number of requests to reject; 1 by default. */
  readonly times?: number
}

interface OpenWatch {
  readonly request: ApiRequest
  readonly events: Channel<WatchEvent>
}

const rejections = {
  409: ['Conflict', 'the object has been modified; please apply your changes to the latest version and try again'],
  429: ['TooManyRequests', 'too many requests, please try again later'],
  500: ['InternalError', 'an error on the server has prevented the request from succeeding'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
} as const

const filterNames: Readonly<Record<keyof RequestFilter, true>> = {
  verb: true,
  kind: true,
  subresource: true,
  sender: true,
}
const rejectionNames: Readonly<Record<keyof RequestRejection, true>> = { ...filterNames, code: true, times: true }
const verbs: readonly Verb[] = [
  'create',
  'get',
  'list',
  'watch',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'proxy',
]
const watchFaults: readonly WatchFault[] = ['gone', 'reset', 'silence']
const timesMax = 1_000_000

/** Beyond this number, watches that have ended are removed. */
const watchesPruneAt = 1_000

export class Faults {
  readonly #watches = new Set<OpenWatch>()
  readonly #rejections: { readonly rejection: RequestRejection; left: number }[] = []
  #commitMs = 0
  readonly #isEndpoint: (service: ObjectKey, address: string) => boolean
  /** Faults of the network of simulated pods. @internal */
  readonly links = new LinkFaults()

  /** @internal */
  constructor(isEndpoint: (service: ObjectKey, address: string) => boolean = () => false) {
    this.#isEndpoint = isEndpoint
  }

  /** How long each write takes, in the cluster's time. */
  get commitMs(): number {
    return this.#commitMs
  }

  slowStore(commitMs: number): void {
    checkWhole('slowStore', commitMs, 0, Number.MAX_SAFE_INTEGER)
    this.#commitMs = commitMs
  }

  /** Breaks the open watches that match; returns their number. */
  breakWatches(fault: WatchFault, filter: RequestFilter = {}): number {
    checkOneOf('breakWatches', fault, watchFaults)
    checkFilter('breakWatches', filter, filterNames)
    this.#forgetEnded()
    const meant = [...this.#watches].filter(({ request }) => matches(request, filter))
    for (const watch of meant) this.#break(watch, fault)
    return meant.length
  }

  reject(rejection: RequestRejection): void {
    checkFilter('reject', rejection, rejectionNames)
    checkOneOf('reject: code', rejection.code, Object.keys(rejections).map(Number))
    checkWhole('reject: times', rejection.times, 1, timesMax)
    this.#rejections.push({ rejection, left: rejection.times ?? 1 })
  }

  /** Delays packets between pods, nodes and Services: `slowLink({ to: 'service/web', ms: 200 })`. */
  slowLink(link: SlowLink): RemovableFault {
    return this.links.add(slowLinkFault(link, this.#isEndpoint))
  }

  /** Loses packets: `dropLink({ from: 'pod/web-0', to: 'service/db', share: 0.1 })`. */
  dropLink(link: LossyLink): RemovableFault {
    return this.links.add(lossyLinkFault(link, this.#isEndpoint))
  }

  /** Separates groups of places: `partition([['node/node-0'], ['node/node-1', 'node/node-2']])`. */
  partition(groups: readonly (readonly string[])[]): RemovableFault {
    return this.links.add(partitionFault(groups, this.#isEndpoint))
  }

  /** Removes all faults. Silent watches end, so that their clients notice. */
  heal(): void {
    this.#commitMs = 0
    this.#rejections.length = 0
    this.links.clear()
    for (const { events } of this.#watches) if (events.isMuted) events.end()
  }

  /** Throws when the request is to be rejected. @internal */
  check(request: ApiRequest): void {
    if (this.#rejections.length === 0) return
    const index = this.#rejections.findIndex(({ rejection }) => matches(request, rejection))
    const found = this.#rejections[index]
    if (found === undefined) return
    if (--found.left <= 0) this.#rejections.splice(index, 1)
    const { code = 409 } = found.rejection
    const [reason, message] = rejections[code]
    throw new StatusError(code, reason, message)
  }

  /** Tracks a watch, so that it can be broken. @internal */
  track(request: ApiRequest, events: Channel<WatchEvent>): void {
    if (this.#watches.size >= watchesPruneAt) this.#forgetEnded()
    this.#watches.add({ request, events })
  }

  #forgetEnded(): void {
    for (const watch of this.#watches) if (watch.events.ended) this.#watches.delete(watch)
  }

  #break({ events }: OpenWatch, fault: WatchFault): void {
    switch (fault) {
      case 'silence':
        return events.mute()
      case 'gone':
        events.push({ type: 'ERROR', status: new StatusError(410, 'Expired', 'too old resource version').toStatus() })
        return events.end()
      case 'reset':
        return events.end()
      default:
        return fault satisfies never
    }
  }
}

function checkFilter(what: string, filter: RequestFilter, names: Readonly<Record<string, true>>): void {
  checkProperties(what, filter, names)
  checkOneOf(`${what}: verb`, filter.verb, verbs)
  const { kind } = filter
  if (kind !== undefined) checkKind(what, kind)
}

const matches = ({ target, sender: asker }: ApiRequest, { verb, kind, subresource, sender }: RequestFilter): boolean =>
  target.kind === 'resource' &&
  (verb === undefined || target.verb === verb) &&
  (kind === undefined || isSameResource(target.resource, kind)) &&
  (subresource === undefined || target.subresource === subresource) &&
  (sender === undefined || asker === sender)

/** An API server with injected faults. */
export class FaultyApiServer extends ApiServer {
  readonly #faults: Faults

  constructor(deps: ApiServerDeps, faults: Faults) {
    super({ ...deps, injectFault: (request) => faults.check(request) })
    this.#faults = faults
  }

  override handle(request: ApiRequest): MaybePromise<ApiResponse> {
    const answer = super.handle(request)
    if (request.target.kind !== 'resource' || request.target.verb !== 'watch') return answer
    return thenMaybe(answer, (known) => {
      if (known.kind === 'watch') this.#faults.track(request, known.events)
      return known
    })
  }
}

/** A store in memory with injected delays. */
export class FaultyStore extends MemoryStore {
  readonly #faults: Faults
  readonly #clock: Clock

  constructor(clock: Clock, faults: Faults, options: MemoryStoreOptions = {}) {
    super(clock, options)
    this.#clock = clock
    this.#faults = faults
  }

  override commit(transaction: Transaction, signal: AbortSignal): Promise<CommitResult> {
    const { commitMs } = this.#faults
    if (commitMs === 0) return super.commit(transaction, signal)
    return this.#clock.sleep(commitMs, signal).then(() => super.commit(transaction, signal))
  }
}
