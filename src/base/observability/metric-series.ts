// SeriesMap: the series of one metric, by the values of its labels.
import { lookup } from '../collections/lookup.ts'
import { labelPairs } from './exposition.ts'

export type Labels = Readonly<Record<string, string>>

/** Label values from outside could grow without bound. Further series are dropped. */
const seriesPerMetricMax = 10_000

/** Label values are from closed sets. A longer one is a mistake that must not fill the memory or the response to a scrape. */
export const labelCharsMax = 1_024
const labelTooLong = 'too long'

/** Separates the label values in the key of a series. */
const separator = '\u0000'

export class SeriesMap<Series> {
  readonly #labelNames: readonly string[]
  readonly #make: () => Series
  readonly #series = new Map<string, Series>()
  #overflow: Series | undefined

  constructor(labelNames: readonly string[], make: () => Series) {
    this.#labelNames = labelNames
    this.#make = make
    if (labelNames.length === 0) this.#series.set('', make()) // as Prometheus' libraries: present from the start
  }

  of(labels: Labels): Series {
    const key = this.#keyOf(labels)
    let series = this.#series.get(key)
    if (series === undefined) {
      if (this.#series.size >= seriesPerMetricMax) return (this.#overflow ??= this.#make())
      series = this.#make()
      this.#series.set(key, series)
    }
    return series
  }

  remove(labels: Labels): void {
    this.#series.delete(this.#keyOf(labels))
  }

  /** Removes the series whose values of these labels are selected; none if a label is missing. */
  removeWhere(labelNames: readonly string[], isSelected: (values: readonly string[]) => boolean): void {
    const indexes = labelNames.map((name) => this.#labelNames.indexOf(name))
    if (indexes.includes(-1)) return
    for (const key of this.#series.keys()) {
      const values = this.#valuesOf(key)
      if (isSelected(indexes.map((index) => values[index] ?? ''))) this.#series.delete(key)
    }
  }

  /** The label text is built on each scrape, because most series are never scraped. */
  *entries(): Generator<readonly [labels: string, series: Series]> {
    for (const [key, series] of this.#series) yield [this.#textOf(key), series]
  }

  #keyOf(labels: Labels): string {
    let key = ''
    for (let index = 0; index < this.#labelNames.length; index++) {
      const value = lookup(labels, this.#labelNames[index] as string) ?? ''
      const bounded = value.length > labelCharsMax ? labelTooLong : value
      key = index === 0 ? bounded : key + separator + bounded
    }
    return key
  }

  #valuesOf(key: string): readonly string[] {
    // The only value may contain the separator: upstream's names of zones do.
    return this.#labelNames.length === 1 ? [key] : key.split(separator)
  }

  #textOf(key: string): string {
    const values = this.#valuesOf(key)
    return labelPairs(this.#labelNames.map((name, index) => [name, values[index] ?? ''] as const))
  }
}
