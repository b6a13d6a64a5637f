// CacheMetrics: what the watch caches hold and have done, under upstream's names. Caches count in plain numbers, which
// are read when metrics are scraped.
import type { Kind } from '../../api/kind/kind.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { HistogramSeries, Metrics } from '../../base/observability/metrics.ts'
import { newCacheCounts, type CacheCounts } from '../watch-cache/cache-counts.ts'

const eventBytesBounds = Array.from({ length: 8 }, (_, index) => 1024 * 2 ** index)
const waitSecondsBounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3]
const leasedObjectsBounds = [10, 50, 100, 500, 1000, 2500, 5000]
const labels = ['group', 'resource']

export interface MeasuredCache {
  readonly kind: Kind
  readonly revision: number
  readonly capacity: number
  readonly size: number
  readonly estimatedBytes: number
  readonly counts: CacheCounts
}

/** Counters and the fields that they are fed from. */
const counters = [
  ['received', 'apiserver_storage_events_received_total', '[BETA] Number of etcd events received split by kind.'],
  [
    'received',
    'apiserver_watch_cache_events_received_total',
    '[ALPHA] Counter of events received in watch cache broken by resource type.',
  ],
  [
    'dispatched',
    'apiserver_watch_cache_events_dispatched_total',
    '[ALPHA] Counter of events dispatched in watch cache broken by resource type.',
  ],
  [
    'initializations',
    'apiserver_watch_cache_initializations_total',
    '[ALPHA] Counter of watch cache initializations broken by resource type.',
  ],
  [
    'initialEvents',
    'apiserver_init_events_total',
    '[ALPHA] Counter of init events processed in watch cache broken by resource type.',
  ],
  [
    'returned',
    'apiserver_cache_list_returned_objects_total',
    '[ALPHA] Number of objects returned for a LIST request from watch cache',
  ],
] as const satisfies readonly (readonly [keyof CacheCounts, string, string])[]

export class CacheMetrics {
  readonly #counters
  readonly #lists
  readonly #fetched
  readonly #revision
  readonly #capacity
  readonly #objects
  readonly #bytes
  readonly #bookmarks
  readonly #consistentLists
  readonly #waitSeconds
  readonly #leasedObjects
  readonly #eventBytes
  readonly #events
  /** What was added to the counters before, by cache. */
  readonly #added = new WeakMap<MeasuredCache['counts'], CacheCounts>()
  #shown = new Set<string>()
  readonly #sent = new WeakMap<Kind, { events: { add(amount: number): void }; bytes: HistogramSeries }>()

  constructor(metrics: Metrics) {
    this.#counters = counters.map(([field, name, help]) => [field, metrics.counter(name, help, labels)] as const)
    const indexed = ['group', 'index', 'resource']
    this.#lists = metrics.counter(
      'apiserver_cache_list_total',
      '[ALPHA] Number of LIST requests served from watch cache',
      indexed,
    )
    this.#fetched = metrics.counter(
      'apiserver_cache_list_fetched_objects_total',
      '[ALPHA] Number of objects read from watch cache in the course of serving a LIST request',
      indexed,
    )
    this.#revision = metrics.gauge(
      'apiserver_watch_cache_resource_version',
      '[ALPHA] Current resource version of watch cache broken by resource type. This is truncated to the 15 least significant digits.',
      labels,
    )
    this.#capacity = metrics.gauge(
      'watch_cache_capacity',
      '[ALPHA] Total capacity of watch cache broken by resource type.',
      labels,
    )
    this.#objects = metrics.gauge(
      'apiserver_resource_objects',
      '[ALPHA] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.',
      labels,
    )
    this.#bytes = metrics.gauge(
      'apiserver_resource_size_estimate_bytes',
      '[ALPHA] Estimated size of stored objects in database. Estimate is based on sum of last observed sizes of serialized objects. In case of a fetching error, the value will be -1.',
      labels,
    )
    this.#bookmarks = metrics.counter(
      'etcd_bookmark_total',
      '[ALPHA] Number of etcd bookmarks (progress notify events) split by kind.',
      labels,
    )
    this.#consistentLists = metrics.counter(
      'apiserver_watch_cache_consistent_read_total',
      '[ALPHA] Counter for consistent reads from cache.',
      ['fallback', 'group', 'resource', 'success'],
    )
    this.#waitSeconds = metrics.histogram(
      'apiserver_watch_cache_read_wait_seconds',
      '[ALPHA] Histogram of time spent waiting for a watch cache to become fresh.',
      waitSecondsBounds,
      labels,
    )
    this.#leasedObjects = metrics
      .histogram(
        'etcd_lease_object_counts',
        '[ALPHA] Number of objects attached to a single etcd lease.',
        leasedObjectsBounds,
      )
      .with({})
    const versioned = ['group', 'resource', 'version']
    this.#events = metrics.counter(
      'apiserver_watch_events_total',
      '[ALPHA] Number of events sent in watch clients',
      versioned,
    )
    this.#eventBytes = metrics.histogram(
      'apiserver_watch_events_sizes',
      '[ALPHA] Watch event size distribution in bytes',
      eventBytesBounds,
      versioned,
    )
  }

  /** Events were sent to a watch. Events that are sent together are recorded with their mean size. */
  sent(kind: Kind, count: number, bytes: number): void {
    const series = getOrInsert(this.#sent, kind, () => {
      const names = { group: kind.group, resource: kind.plural, version: kind.version }
      return { events: this.#events.with(names), bytes: this.#eventBytes.with(names) }
    })
    series.events.add(count)
    series.bytes.observeTimes(bytes / count, count)
  }

  /** A read has waited until a cache had reached a revision. */
  waited({ group, plural: resource }: Kind, seconds: number): void {
    this.#waitSeconds.observe({ group, resource }, seconds)
  }

  /** A lease gets no more objects. */
  leaseFilled(objects: number): void {
    this.#leasedObjects.observe(objects)
  }

  collect(caches: Iterable<MeasuredCache>): void {
    const shown = new Set<string>()
    for (const { kind, revision, capacity, size, estimatedBytes, counts } of caches) {
      const of = { group: kind.group, resource: kind.plural }
      const added = getOrInsert(this.#added, counts, newCacheCounts)
      const since = (field: keyof CacheCounts) => counts[field] - added[field]
      for (const [field, counter] of this.#counters) counter.add(of, since(field))
      this.#lists.add({ ...of, index: '' }, since('lists'))
      this.#fetched.add({ ...of, index: '' }, since('fetched'))
      if (since('bookmarks') > 0) this.#bookmarks.add(of, since('bookmarks'))
      // There is no other source than the cache to fall back to.
      for (const [field, success] of [['consistentLists', 'true'] as const, ['staleLists', 'false'] as const])
        if (since(field) > 0) this.#consistentLists.add({ ...of, fallback: 'false', success }, since(field))
      if (since('freshReads') > 0) this.#waitSeconds.with(of).observeTimes(0, since('freshReads'))
      Object.assign(added, counts)
      this.#revision.set(of, revision % 1e15)
      this.#capacity.set(of, capacity)
      this.#objects.set(of, size)
      this.#bytes.set(of, estimatedBytes)
      shown.add(`${kind.group}/${kind.plural}`)
    }
    for (const key of this.#shown.difference(shown)) this.#forget(key)
    this.#shown = shown
  }

  /** The gauges of a resource whose definition is deleted are removed. */
  #forget(key: string): void {
    const [group = '', resource = ''] = key.split('/')
    for (const gauge of [this.#revision, this.#capacity, this.#objects, this.#bytes]) gauge.remove({ group, resource })
  }
}
