// Metrics: counters, gauges and histograms with labels, written in the formats of exposition.ts.
import type { MaybePromise } from '../async/maybe-promise.ts'
import { textFormat, type Exemplar, type ExpositionFormat, type MetricFamily, type MetricSample } from './exposition.ts'
import { SeriesMap, type Labels } from './metric-series.ts'

export type { Labels } from './metric-series.ts'

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
  with(labels: Labels): HistogramSeries
  /** Removes a series whose subject no longer exists. */
  remove(labels: Labels): void
}

export interface HistogramSeries {
  /** The trace of the observation becomes the exemplar of its bucket. */
  observe(value: number, trace?: Pick<Exemplar, 'traceId' | 'timestampMs'>): void
  /** Observes the same value several times. */
  observeTimes(value: number, times: number): void
}

interface Buckets {
  readonly counts: number[]
  sum: number
  /** The last exemplar of each bucket. Created with the first one, because few requests are traced. */
  exemplars: (Exemplar | undefined)[] | undefined
}

/** A metric without its values. */
export interface MetricDescription extends Omit<MetricFamily, 'samples'> {
  readonly labelNames: readonly string[]
  /** The upper bounds of a histogram's buckets. */
  readonly bounds: readonly number[]
}

type Definition = Omit<MetricDescription, 'name'> & {
  readonly samples: () => Iterable<MetricSample>
  readonly removeWhere: SeriesMap<unknown>['removeWhere']
}

export class Metrics {
  readonly #definitions = new Map<string, Definition>()
  readonly #collectors = new Set<() => void>()
  readonly #slowCollectors: (() => Promise<void>)[] = []

  counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    const values = new SeriesMap<{ value: number }>(labelNames, () => ({ value: 0 }))
    const samples = () => valueSamples(values)
    this.#define(name, { type: 'counter', help, labelNames, bounds: [], samples, ...removalOf(values) })
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
    const samples = () => valueSamples(values)
    this.#define(name, { type: 'gauge', help, labelNames, bounds: [], samples, ...removalOf(values) })
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
    const zeros = [...bounds, Infinity].map(() => 0)
    const make = (): Buckets => ({ counts: zeros.slice(), sum: 0, exemplars: undefined })
    const values = new SeriesMap(labelNames, make)
    const samples = () => histogramSamples(values, bounds)
    this.#define(name, { type: 'histogram', help, labelNames, bounds, samples, ...removalOf(values) })
    const count = (series: Buckets, value: number, times: number): number => {
      let index = 0
      while (index < bounds.length && value > (bounds[index] ?? Infinity)) index++
      series.counts[index] = (series.counts[index] ?? 0) + times
      series.sum += value * times
      return index
    }
    const observe: (series: Buckets, ...observed: Parameters<HistogramSeries['observe']>) => void = (
      series,
      value,
      trace,
    ) => {
      const index = count(series, value, 1)
      if (trace !== undefined) (series.exemplars ??= [])[index] = { ...trace, value }
    }
    return {
      observe: (labels, value) => observe(values.of(labels), value),
      with(labels) {
        const series = values.of(labels)
        return {
          observe: (value, trace) => observe(series, value, trace),
          observeTimes: (value, times) => void count(series, value, times),
        }
      },
      remove: (labels) => values.remove(labels),
    }
  }

  /**
   * Removes the series of subjects that no longer exist, such as resources, from all metrics that have these labels. What a
   * caller has got from `with` before is no longer scraped.
   */
  removeWhere(...selection: Parameters<SeriesMap<unknown>['removeWhere']>): void {
    for (const definition of this.#definitions.values()) definition.removeWhere(...selection)
  }

  /** Calls the function before each scrape, for values that are computed on demand. Returns how to unregister it. */
  beforeText(collect: () => void): () => void {
    this.#collectors.add(collect)
    return () => void this.#collectors.delete(collect)
  }

  /** As beforeText, for values that have to be waited for. */
  beforeScrape(collect: () => Promise<void>): void {
    this.#slowCollectors.push(collect)
  }

  /** The text once all values are collected. */
  scrape(format: ExpositionFormat = textFormat): MaybePromise<string> {
    if (this.#slowCollectors.length === 0) return this.text(format)
    return Promise.all(this.#slowCollectors.map((collect) => collect())).then(() => this.text(format))
  }

  /** All metrics in Prometheus' text format, or another one, with the values of beforeScrape as they were last. */
  text(format: ExpositionFormat = textFormat): string {
    for (const collect of this.#collectors) collect()
    return format.write(this.#families())
  }

  /** What is measured, in the order of definition. */
  descriptions(): MetricDescription[] {
    return [...this.#definitions].map(([name, { samples: _, removeWhere: __, ...description }]) => ({
      name,
      ...description,
    }))
  }

  *#families(): Generator<MetricFamily> {
    for (const [name, definition] of [...this.#definitions].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      yield { name, type: definition.type, help: definition.help, samples: definition.samples() }
  }

  #define(name: string, definition: Definition): void {
    if (this.#definitions.has(name)) throw new Error(`metric ${name} is defined twice`)
    this.#definitions.set(name, definition)
  }
}

const removalOf = <Series>(values: SeriesMap<Series>): Pick<Definition, 'removeWhere'> => ({
  removeWhere: (...selection) => values.removeWhere(...selection),
})

function* valueSamples(values: SeriesMap<{ value: number }>): Generator<MetricSample> {
  for (const [labels, { value }] of values.entries()) yield { suffix: '', labels, value }
}

function* histogramSamples(values: SeriesMap<Buckets>, bounds: readonly number[]): Generator<MetricSample> {
  for (const [labels, { counts, sum, exemplars }] of values.entries()) {
    let total = 0
    for (const [index, count] of counts.entries()) {
      total += count
      yield { suffix: '_bucket', labels, le: bounds[index] ?? Infinity, value: total, exemplar: exemplars?.[index] }
    }
    yield { suffix: '_sum', labels, value: sum }
    yield { suffix: '_count', labels, value: total }
  }
}
