// The text formats of metrics: Prometheus' text format 0.0.4 and OpenMetrics 1.0, which a scraper requests with its
// Accept header.

export type MetricType = 'counter' | 'gauge' | 'histogram'

export interface MetricFamily {
  readonly name: string
  readonly type: MetricType
  readonly help: string
  readonly samples: Iterable<MetricSample>
}

export interface MetricSample {
  /** Appended to the name of the family: `_bucket`, `_sum` or `_count` for histograms. */
  readonly suffix: '' | '_bucket' | '_sum' | '_count'
  /** Label pairs as text: `verb="GET",code="200"`. */
  readonly labels: string
  readonly value: number
  /** The upper bound of a bucket. */
  readonly le?: number
  readonly timestampMs?: number | undefined
  readonly exemplar?: Exemplar | undefined
}

/** The trace of one observation, so that a dashboard can link to it. */
export interface Exemplar {
  readonly traceId: string
  readonly value: number
  readonly timestampMs: number
}

export interface ExpositionFormat {
  readonly contentType: string
  readonly write: (families: Iterable<MetricFamily>) => string
}

export const textFormat: ExpositionFormat = {
  contentType: 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
  write: (families) => linesOf(families, prometheusLines),
}

export const openMetricsFormat: ExpositionFormat = {
  contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores',
  write: (families) => `${linesOf(families, openMetricsLines)}# EOF\n`,
}

/** OpenMetrics if the Accept header ranks it above plain text. */
export function negotiateExposition(accept: string): ExpositionFormat {
  let openMetrics = 0
  let text = 0
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const quality = Number(parameters.find((part) => part.startsWith('q='))?.slice(2) ?? 1)
    const version = parameters.find((part) => part.startsWith('version='))?.slice(8) ?? ''
    if (type === 'application/openmetrics-text' && ['', '1.0.0', '0.0.1'].includes(version))
      openMetrics = Math.max(openMetrics, quality)
    if (type === 'text/plain') text = Math.max(text, quality)
  }
  return openMetrics > 0 && openMetrics >= text ? openMetricsFormat : textFormat
}

/** Label pairs in the form that samples contain. */
export const labelPairs = (pairs: Iterable<readonly [name: string, value: string]>): string =>
  Array.from(pairs, ([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')

type FamilyLines = (family: MetricFamily) => Iterable<string>

function linesOf(families: Iterable<MetricFamily>, write: FamilyLines): string {
  const lines: string[] = []
  for (const family of families) for (const line of write(family)) lines.push(line)
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

function* prometheusLines({ name, type, help, samples }: MetricFamily): Generator<string> {
  yield `# HELP ${name} ${escapeHelp(help)}`
  yield `# TYPE ${name} ${type}`
  for (const { suffix, labels, le, value, timestampMs } of samples)
    yield `${name}${suffix}${labelSet(labels, le, String)} ${numberText(value)}${timestampMs === undefined ? '' : ` ${timestampMs}`}`
}

/** A counter's family has no `_total`, and its samples do. Numbers of buckets have a decimal point. */
function* openMetricsLines({ name, type, help, samples }: MetricFamily): Generator<string> {
  const isCounter = type === 'counter'
  const family = isCounter && name.endsWith('_total') ? name.slice(0, -'_total'.length) : name
  yield `# HELP ${family} ${escapeHelp(help).replaceAll('"', '\\"')}`
  yield `# TYPE ${family} ${type}`
  for (const { suffix, labels, le, value, timestampMs, exemplar } of samples) {
    const sample = `${family}${isCounter ? '_total' : suffix}${labelSet(labels, le, floatText)} ${numberText(value)}`
    yield sample + secondsText(timestampMs) + exemplarText(exemplar)
  }
}

const labelSet = (labels: string, le: number | undefined, bound: (value: number) => string): string => {
  if (le === undefined) return labels === '' ? '' : `{${labels}}`
  return `{${labels}${labels === '' ? '' : ','}le="${le === Infinity ? '+Inf' : bound(le)}"}`
}

const exemplarText = (exemplar: Exemplar | undefined): string =>
  exemplar === undefined
    ? ''
    : ` # {trace_id="${exemplar.traceId}"} ${numberText(exemplar.value)}${secondsText(exemplar.timestampMs)}`

const secondsText = (ms: number | undefined): string => (ms === undefined ? '' : ` ${ms / 1000}`)
const floatText = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value))
const numberText = (value: number): string =>
  value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value)

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"')
