// The metrics of requests, under upstream's names.
import { qualifiedResource, type Kind } from '../../api/kind/kind.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Metrics } from '../../base/observability/metrics.ts'
import type { ResourceTarget, Verb } from './request.ts'

const secondsBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]
const blockBounds = [0.2, 0.5, 1, 2, 5, 10, 30]
const resourceLabels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component']

/** Defined once per process, even if its API server restarts. */
export class RequestMetrics {
  readonly #seconds
  readonly #total
  readonly #inflight
  readonly #longRunning
  readonly #objects
  readonly #blocks
  #reading = 0
  #writing = 0

  constructor(metrics: Metrics) {
    this.#seconds = metrics.histogram(
      'apiserver_request_duration_seconds',
      'Response latency distribution in seconds for each verb, group, version, resource and subresource.',
      secondsBounds,
      resourceLabels,
    )
    this.#total = metrics.counter(
      'apiserver_request_total',
      'Counter of apiserver requests broken out for each verb, API resource, component, and HTTP response code.',
      [...resourceLabels, 'code'],
    )
    this.#inflight = metrics.gauge(
      'apiserver_current_inflight_requests',
      'Number of requests that are being executed now, by whether they change anything.',
      ['request_kind'],
    )
    this.#longRunning = metrics.gauge(
      'apiserver_longrunning_requests',
      'Gauge of all active long-running apiserver requests broken out by verb and API resource.',
      resourceLabels,
    )
    this.#objects = metrics.gauge('apiserver_storage_objects', 'Number of stored objects split by resource.', [
      'resource',
    ])
    this.#blocks = metrics.histogram(
      'coxswain_request_loop_block_seconds',
      'How long steps of requests held the event loop, of those that held it for 100 ms or longer.',
      blockBounds,
      ['verb', 'resource'],
    )
  }

  /** A step of a request blocked the event loop. */
  blocked(verb: string, resource: string, seconds: number): void {
    this.#blocks.observe({ verb, resource }, seconds)
  }

  begin(target: ResourceTarget): void {
    if (isRead(target)) this.#reading++
    else this.#writing++
  }

  end(target: ResourceTarget, code: number, seconds: number): void {
    if (isRead(target)) this.#reading--
    else this.#writing--
    const { duration, total } = this.#seriesOf(target, code)
    duration.observe(seconds)
    total.add(1)
  }

  /** Sets the gauges that are computed when metrics are scraped. */
  collect(kinds: Iterable<{ readonly kind: Kind; readonly objects: number; readonly watches: number }>): void {
    this.#inflight.set({ request_kind: 'readOnly' }, this.#reading)
    this.#inflight.set({ request_kind: 'mutating' }, this.#writing)
    const gone = new Set(this.#counted)
    for (const { kind, objects, watches } of kinds) {
      const resource = qualifiedResource(kind)
      this.#objects.set({ resource }, objects)
      this.#counted.add(resource)
      gone.delete(resource)
      if (watches > 0)
        this.#longRunning.set(
          labelsOf({ verb: 'watch', resource: kind, subresource: '', namespace: '', name: '' }),
          watches,
        )
    }
    for (const resource of gone) {
      this.#objects.remove({ resource })
      this.#counted.delete(resource)
    }
  }

  /** The resources whose objects were counted last. */
  readonly #counted = new Set<string>()

  readonly #series = new WeakMap<Kind, Map<string, Map<Verb, (Series | undefined)[]>>>()

  // Labels are formatted once per series, not once per request.
  #seriesOf(target: Counted, code: number): Series {
    const { verb, resource, subresource } = target
    const ofKind = getOrInsert(this.#series, resource, () => new Map<string, Map<Verb, (Series | undefined)[]>>())
    const ofPart = getOrInsert(ofKind, subresource, () => new Map<Verb, (Series | undefined)[]>())
    const ofVerb = getOrInsert(ofPart, verb, () => [])
    const index = code * scopes.length + scopes.indexOf(scopeOf(target))
    return (ofVerb[index] ??= this.#seriesWith(labelsOf(target), code))
  }

  #seriesWith(labels: ReturnType<typeof labelsOf>, code: number): Series {
    return { duration: this.#seconds.with(labels), total: this.#total.with({ ...labels, code: String(code) }) }
  }
}

const isRead = ({ verb }: ResourceTarget): boolean => verb === 'get' || verb === 'list' || verb === 'watch'

type Counted = Pick<ResourceTarget, 'verb' | 'resource' | 'subresource' | 'namespace' | 'name'>

interface Series {
  readonly duration: { observe(value: number): void }
  readonly total: { add(amount: number): void }
}

const scopes = ['resource', 'namespace', 'cluster'] as const

const scopeOf = ({ name, namespace }: Counted): (typeof scopes)[number] =>
  name !== '' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster'

/** Upstream's metrics name some verbs after HTTP methods. */
const labelsOf = (target: Counted) => {
  const { verb, resource, subresource } = target
  const names: Partial<Record<typeof verb, string>> = {
    create: 'POST',
    update: 'PUT',
    deletecollection: 'DELETECOLLECTION',
  }
  return {
    verb: names[verb] ?? verb.toUpperCase(),
    group: resource.group,
    version: resource.version,
    resource: resource.plural,
    subresource,
    scope: scopeOf(target),
    component: 'apiserver',
  }
}
