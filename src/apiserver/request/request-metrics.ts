// The metrics of requests, under upstream's names. Clients can send any name, so the values of labels are from closed sets.
import type { RequestLimit } from './too-many-requests.ts'
import { qualifiedResource, type Kind } from '../../api/kind/kind.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Counter, Gauge, Histogram, HistogramSeries, Metrics } from '../../base/observability/metrics.ts'
import type { Span } from '../../base/observability/span.ts'
import { isForwardedKind } from './extension.ts'
import type { ResourceTarget, Verb } from './request.ts'

const secondsBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]
const watchListSecondsBounds = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60]
const sliSecondsBounds = secondsBounds.slice(2)
const responseBytesBounds = Array.from({ length: 7 }, (_, index) => 10 ** (index + 3))
const bodyBytesBounds = Array.from({ length: 31 }, (_, index) => 50_000 + index * 100_000)
const blockBounds = [0.2, 0.5, 1, 2, 5, 10, 30]
const resourceLabels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component']

/** A request that has ended. */
export interface EndedRequest {
  readonly target: ResourceTarget
  /** A patch of server-side apply, which has a verb of its own in metrics. */
  readonly isApply: boolean
  readonly code: number
  readonly seconds: number
  /** The values of the parameter `dryRun`. */
  readonly dryRun: readonly string[]
  /** The value of the parameter `fieldValidation`. */
  readonly fieldValidation: string
  /** The span of the client's traceparent. Its trace becomes an exemplar. */
  readonly span: Span | undefined
  readonly nowMs: number
}

/** Defined once per process, even if its API server restarts. */
export class RequestMetrics {
  readonly #seconds: Histogram
  readonly #sliSeconds: Histogram
  readonly #watchListSeconds: Histogram
  readonly #total: Counter
  readonly #responseBytes: Histogram
  readonly #bodyBytes: Histogram
  readonly #inflight: Gauge
  readonly #longRunning: Gauge
  readonly #objects: Gauge
  readonly #blocks: Histogram
  readonly #fieldValidation: Histogram
  readonly #terminations: Counter
  readonly #rejections: Counter
  readonly #deprecated: Gauge
  #reading = 0
  #writing = 0

  constructor(metrics: Metrics) {
    this.#seconds = metrics.histogram(
      'apiserver_request_duration_seconds',
      '[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
      secondsBounds,
      [...resourceLabels, 'dry_run'],
    )
    this.#sliSeconds = metrics.histogram(
      'apiserver_request_sli_duration_seconds',
      '[ALPHA] Response latency distribution in seconds for each verb, group, version, resource, subresource, scope and component.',
      sliSecondsBounds,
      resourceLabels,
    )
    this.#watchListSeconds = metrics.histogram(
      'apiserver_watch_list_duration_seconds',
      '[BETA] Response latency distribution in seconds for watch list requests broken by group, version, resource and scope.',
      watchListSecondsBounds,
      ['group', 'resource', 'scope', 'version'],
    )
    this.#total = metrics.counter(
      'apiserver_request_total',
      '[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
      [...resourceLabels, 'dry_run', 'code'],
    )
    this.#responseBytes = metrics.histogram(
      'apiserver_response_sizes',
      '[STABLE] Response size distribution in bytes for each group, version, verb, resource, subresource, scope and component.',
      responseBytesBounds,
      resourceLabels,
    )
    this.#bodyBytes = metrics.histogram(
      'apiserver_request_body_size_bytes',
      '[ALPHA] Apiserver request body size in bytes broken out by resource and verb.',
      bodyBytesBounds,
      ['group', 'resource', 'verb'],
    )
    this.#inflight = metrics.gauge(
      'apiserver_current_inflight_requests',
      '[STABLE] Number of requests that are being executed now, by whether they change anything.',
      ['request_kind'],
    )
    this.#longRunning = metrics.gauge(
      'apiserver_longrunning_requests',
      '[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.',
      resourceLabels,
    )
    this.#objects = metrics.gauge(
      'apiserver_storage_objects',
      '[STABLE] (Deprecated since 1.34.0) Number of stored objects split by resource; apiserver_resource_objects replaces it.',
      ['resource'],
    )
    this.#fieldValidation = metrics.histogram(
      'field_validation_request_duration_seconds',
      '[ALPHA] Response latency distribution in seconds for each field validation value',
      sliSecondsBounds,
      ['field_validation'],
    )
    this.#deprecated = metrics.gauge(
      'apiserver_requested_deprecated_apis',
      '[STABLE] Gauge of deprecated APIs that have been requested, broken out by API group, version, resource, subresource, and removed_release.',
      ['group', 'removed_release', 'resource', 'subresource', 'version'],
    )
    this.#terminations = metrics.counter(
      'apiserver_request_terminations_total',
      '[ALPHA] Number of requests which apiserver terminated in self-defense.',
      [...resourceLabels, 'code'],
    )
    this.#rejections = metrics.counter(
      'coxswain_rejected_requests_total',
      'Number of requests that were rejected with 429, by the limit that they exceeded.',
      ['limit'],
    )
    this.#blocks = metrics.histogram(
      'coxswain_request_loop_block_seconds',
      'How long steps of requests held the event loop, of those that held it for 100 ms or longer.',
      blockBounds,
      ['verb', 'resource'],
    )
  }

  /** A step of a request blocked the event loop. */
  blocked(verb: string, resource: string, seconds: number): void {
    this.#blocks.observe({ verb: verbs.includes(verb) ? verb : 'other', resource }, seconds)
  }

  begin(target: ResourceTarget): void {
    if (isRead(target)) this.#reading++
    else this.#writing++
  }

  end({ target, isApply, code, seconds, dryRun, fieldValidation, span, nowMs }: EndedRequest): void {
    if (isRead(target)) this.#reading--
    else this.#writing--
    const counted: Counted = isApply ? { ...target, verb: 'apply' } : target
    const { duration, sli, total } =
      dryRun.length === 0
        ? this.#seriesOf(counted, code)
        : this.#seriesWith(labelsOf(counted), code, dryRun.every((each) => each === 'All') ? 'All' : 'invalid')
    const trace = span === undefined ? undefined : { traceId: traceIdOf(span), timestampMs: nowMs }
    duration.observe(seconds, trace)
    sli?.observe(seconds, trace)
    total.add(1)
    if (target.resource.deprecationWarning !== undefined) this.#deprecatedRequested(target)
    if (target.verb === 'create' || target.verb === 'update' || target.verb === 'patch')
      this.#fieldValidationOf(fieldValidation).observe(seconds)
  }

  #deprecatedRequested({ resource: { group, version, plural: resource }, subresource }: ResourceTarget): void {
    this.#deprecated.set({ group, version, resource, subresource, removed_release: '' }, 1)
  }

  /** The server ended the request to protect itself. */
  terminated(target: ResourceTarget, code: number): void {
    this.#terminations.add({ ...labelsOf(target), code: String(code) })
  }

  /** The request was rejected with 429. */
  rejected(limit: RequestLimit): void {
    this.#rejections.add({ limit })
  }

  readonly #fieldValidations = new Map<string, HistogramSeries>()

  #fieldValidationOf(sent: string): HistogramSeries {
    const field_validation = fieldValidations.includes(sent) ? sent : 'invalid'
    return getOrInsert(this.#fieldValidations, field_validation, () => this.#fieldValidation.with({ field_validation }))
  }

  /** As upstream, only the sizes of responses to reads are recorded. */
  responded(target: ResourceTarget, bytes: number): void {
    if (target.verb !== 'get' && target.verb !== 'list') return
    const series = this.#seriesOf(target, 200)
    series.responses ??= this.#responseBytes.with(labelsOf(target))
    series.responses.observe(bytes)
  }

  /** The initial events of a watch have been sent. */
  watchListed(target: ResourceTarget, seconds: number): void {
    const { group, version, resource, scope } = labelsOf(target)
    this.#watchListSeconds.observe({ group, version, resource, scope }, seconds)
  }

  received(target: ResourceTarget, bytes: number): void {
    const { resource: kind, verb } = target
    const ofKind = getOrInsert(this.#bodies, kind, () => new Map<Verb, HistogramSeries>())
    const labels = () => ({ group: kind.group, resource: namesOf(target).resource, verb })
    getOrInsert(ofKind, verb, () => this.#bodyBytes.with(labels())).observe(bytes)
  }

  readonly #bodies = new WeakMap<Kind, Map<Verb, HistogramSeries>>()

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

  readonly #series = new WeakMap<Kind, Map<string, Map<CountedVerb, Map<number, Series>>>>()

  // Labels are formatted once per series, not once per request.
  #seriesOf(target: Counted, code: number): Series {
    const { verb, resource } = target
    const { subresource } = namesOf(target)
    const ofKind = getOrInsert(this.#series, resource, () => new Map<string, Map<CountedVerb, Map<number, Series>>>())
    const ofPart = getOrInsert(ofKind, subresource, () => new Map<CountedVerb, Map<number, Series>>())
    const ofVerb = getOrInsert(ofPart, verb, () => new Map<number, Series>())
    const key = code * scopes.length + scopes.indexOf(scopeOf(target))
    return getOrInsert(ofVerb, key, () => this.#seriesWith(labelsOf(target), code, ''))
  }

  #seriesWith(labels: ReturnType<typeof labelsOf>, code: number, dry_run: string): Series {
    return {
      duration: this.#seconds.with({ ...labels, dry_run }),
      sli: labels.verb === 'WATCH' ? undefined : this.#sliSeconds.with(labels),
      total: this.#total.with({ ...labels, dry_run, code: String(code) }),
      responses: undefined,
    }
  }
}

const isRead = ({ verb }: ResourceTarget): boolean => verb === 'get' || verb === 'list' || verb === 'watch'

/** The trace id of `00-<trace id>-<span id>-01`. */
const traceIdOf = (span: Span): string => span.slice(3, 35)

type CountedVerb = Verb | 'apply'
type Counted = Pick<ResourceTarget, 'resource' | 'subresource' | 'namespace' | 'name'> & { readonly verb: CountedVerb }

interface Series {
  readonly duration: HistogramSeries
  /** A watch has no latency objective. */
  readonly sli: HistogramSeries | undefined
  readonly total: { add(amount: number): void }
  /** Created with the first response that is encoded: components of this process get objects. */
  responses: HistogramSeries | undefined
}

const verbs: readonly string[] = [
  'create',
  'get',
  'list',
  'watch',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'proxy',
  'post',
  'put',
]

const fieldValidations: readonly string[] = ['', 'Ignore', 'Strict', 'Warn']

const scopes = ['resource', 'namespace', 'cluster'] as const

/** As upstream, a create concerns one object. */
const scopeOf = ({ verb, name, namespace }: Counted): (typeof scopes)[number] =>
  name !== '' || verb === 'create' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster'

/** The server does not know the resources of extensions, so their names are not labels. */
const namesOf = ({ resource, subresource }: Pick<ResourceTarget, 'resource' | 'subresource'>) =>
  isForwardedKind(resource) ? unknownNames : { resource: resource.plural, subresource }

const unknownNames = { resource: '', subresource: '' }

/** Upstream's metrics name some verbs after HTTP methods, and methods without a verb `other`. */
const labelsOf = (target: Counted) => {
  const { verb, resource } = target
  const names: Partial<Record<typeof verb, string>> = {
    create: 'POST',
    update: 'PUT',
    deletecollection: 'DELETE',
    '': 'other',
  }
  return {
    verb: names[verb] ?? verb.toUpperCase(),
    group: resource.group,
    version: resource.version,
    ...namesOf(target),
    scope: scopeOf(target),
    component: 'apiserver',
  }
}
