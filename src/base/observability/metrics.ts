// Metrics: counters, gauges and histograms with labels, written in Prometheus' text format.
import { lookup } from '../collections/lookup.ts'

export type Labels = Readonly<Record<string, string>>

export interface Counter {
  add(labels: Labels, amount?: number): void
  /** One series, for callers that count often. */
  with(labels: Labels): { add(amount: number): void }
  /** Removes a series whose subject no longer exists. */
  remove(labels: Labels): void
}

export interface Gauge {
  set(labels: Labels, value: number): void
  add(labels: Labels, amount: number): void
  /** One series, for callers that set it often. */
  with(labels: Labels): { set(value: number): void; add(amount: number): void }
  /** Removes a series whose subject no longer exists. */
  remove(labels: Labels): void
}

export interface Histogram {
  observe(labels: Labels, value: number): void
  /** One series, for callers that observe often. */
  with(labels: Labels): { observe(value: number): void }
  /** Removes a series whose subject no longer exists. */
  remove(labels: Labels): void
}

/** Label values from outside could grow without bound. Further series are dropped. */
const seriesPerMetricMax = 10_000

interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly lines: (name: string) => Iterable<string>
}

export class Metrics {
  readonly #metrics = new Map<string, Metric>()
  readonly #collectors = new Set<() => void>()

  counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    const values = new SeriesMap<{ value: number }>(labelNames, () => ({ value: 0 }))
    this.#define(name, {
      type: 'counter',
      help,
      lines: (base) => values.lines((labels, { value }) => [sample(base, labels, value)]),
    })
    return {
      add: (labels, amount = 1) => void (values.of(labels).value += amount),
      with(labels) {
        const series = values.of(labels)
        return { add: (amount) => void (series.value += amount) }
      },
      remove: (labels) => values.remove(labels),
    }
  }

  gauge(name: string, help: string, labelNames: readonly string[] = []): Gauge {
    const values = new SeriesMap<{ value: number }>(labelNames, () => ({ value: 0 }))
    this.#define(name, {
      type: 'gauge',
      help,
      lines: (base) => values.lines((labels, { value }) => [sample(base, labels, value)]),
    })
    return {
      set: (labels, value) => void (values.of(labels).value = value),
      add: (labels, amount) => void (values.of(labels).value += amount),
      with(labels) {
        const series = values.of(labels)
        return { set: (value) => void (series.value = value), add: (amount) => void (series.value += amount) }
      },
      remove: (labels) => values.remove(labels),
    }
  }

  histogram(name: string, help: string, bounds: readonly number[], labelNames: readonly string[] = []): Histogram {
    const make = () => ({ counts: Array.from<number>({ length: bounds.length + 1 }).fill(0), sum: 0 })
    const values = new SeriesMap(labelNames, make)
    const lines = (base: string) =>
      values.lines((labels, { counts, sum }) => {
        let total = 0
        const buckets = [...bounds.map(String), '+Inf'].map((le, index) => {
          total += counts[index] ?? 0
          return sample(`${base}_bucket`, labels === '' ? `le="${le}"` : `${labels},le="${le}"`, total)
        })
        return [...buckets, sample(`${base}_sum`, labels, sum), sample(`${base}_count`, labels, total)]
      })
    this.#define(name, { type: 'histogram', help, lines })
    const observe = (series: ReturnType<typeof make>, value: number) => {
      let index = 0
      while (index < bounds.length && value > (bounds[index] ?? Infinity)) index++
      series.counts[index] = (series.counts[index] ?? 0) + 1
      series.sum += value
    }
    return {
      observe: (labels, value) => observe(values.of(labels), value),
      with(labels) {
        const series = values.of(labels)
        return { observe: (value) => observe(series, value) }
      },
      remove: (labels) => values.remove(labels),
    }
  }

  /** Calls the function before each scrape, for values that are computed on demand. Returns how to unregister it. */
  beforeText(collect: () => void): () => void {
    this.#collectors.add(collect)
    return () => void this.#collectors.delete(collect)
  }

  /** All metrics in Prometheus' text exposition format. */
  text(): string {
    for (const collect of this.#collectors) collect()
    const lines: string[] = []
    for (const [name, metric] of [...this.#metrics].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      lines.push(`# HELP ${name} ${escapeHelp(metric.help)}`, `# TYPE ${name} ${metric.type}`, ...metric.lines(name))
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`
  }

  #define(name: string, metric: Metric): void {
    if (this.#metrics.has(name)) throw new Error(`metric ${name} is defined twice`)
    this.#metrics.set(name, metric)
  }
}

class SeriesMap<Series> {
  readonly #labelNames: readonly string[]
  readonly #make: () => Series
  readonly #series = new Map<string, Series>()
  readonly #overflow: Series

  constructor(labelNames: readonly string[], make: () => Series) {
    this.#labelNames = labelNames
    this.#make = make
    this.#overflow = make()
  }

  of(labels: Labels): Series {
    const key = this.#keyOf(labels)
    let series = this.#series.get(key)
    if (series === undefined) {
      if (this.#series.size >= seriesPerMetricMax) return this.#overflow
      series = this.#make()
      this.#series.set(key, series)
    }
    return series
  }

  remove(labels: Labels): void {
    this.#series.delete(this.#keyOf(labels))
  }

  *lines(write: (labels: string, series: Series) => string[]): Generator<string> {
    for (const [key, series] of this.#series) yield* write(this.#textOf(key), series)
  }

  #keyOf(labels: Labels): string {
    let key = ''
    for (let index = 0; index < this.#labelNames.length; index++) {
      const value = lookup(labels, this.#labelNames[index] as string) ?? ''
      key = index === 0 ? value : key + separator + value
    }
    return key
  }

  // The label text is built on the first scrape, because most series are never scraped.
  #textOf(key: string): string {
    const values = key.split(separator)
    return this.#labelNames.map((name, index) => `${name}="${escapeLabel(values[index] ?? '')}"`).join(',')
  }
}

/** Separates the label values in the key of a series. */
const separator = '\u0000'

const sample = (name: string, labels: string, value: number): string =>
  `${name}${labels === '' ? '' : `{${labels}}`} ${value === Infinity ? '+Inf' : value}`

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"')
