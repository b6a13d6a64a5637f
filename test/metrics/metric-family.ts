// The families of a scrape in Prometheus' text format: name, type, label names and bucket bounds.

export interface MetricFamily {
  readonly name: string
  readonly type: string
  /** ALPHA, BETA or STABLE; empty for families of libraries. */
  readonly stability: string
  /** Sorted, without `le` and `quantile`. */
  readonly labels: readonly string[]
  /** The bounds of a histogram, without `+Inf`. */
  readonly buckets: readonly string[]
}

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+/
const labelPair = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

export function familiesOf(text: string): MetricFamily[] {
  const families = new Map<string, { type: string; stability: string; labels: Set<string>; buckets: Set<string> }>()
  let current = { type: '', stability: '', labels: new Set<string>(), buckets: new Set<string>() }
  for (const line of text.split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? []
    if (keyword === 'HELP') {
      const stability = /^\[(ALPHA|BETA|STABLE)\]/.exec(rest)?.[1] ?? ''
      current = { type: '', stability, labels: new Set(), buckets: new Set() }
      families.set(name, current)
    } else if (keyword === 'TYPE') current.type = rest
    const [, sampleName, labels = ''] = sampleLine.exec(line) ?? []
    if (sampleName === undefined) continue
    for (const [, label = '', value = ''] of labels.matchAll(labelPair))
      if (label === 'le' && value !== '+Inf') current.buckets.add(value)
      else if (label !== 'le' && label !== 'quantile') current.labels.add(label)
  }
  return [...families].map(([name, { type, stability, labels, buckets }]) => ({
    name,
    type,
    stability,
    labels: [...labels].toSorted(),
    buckets: [...buckets].toSorted((a, b) => Number(a) - Number(b)),
  }))
}
