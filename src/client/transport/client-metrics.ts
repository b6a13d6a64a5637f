// ClientMetrics: the requests of this process to API servers, under upstream's names. Calls within a process, which are no
// HTTP requests, are not counted.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { HistogramSeries, Metrics } from '../../base/observability/metrics.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Outbound, OutboundRequest, OutboundResponse } from '../../platform/http/outbound.ts'

const secondsBounds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]
const bytesBounds = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1 << 20, 1 << 22, 1 << 24]
/** Upstream's code of a request without a response. */
const noResponse = '<error>'

export interface MeasuredOutboundOptions {
  readonly origin: string
  /** All responses are streams without an end, so they have neither a duration nor a size. */
  readonly isForStreams?: boolean
}

interface MethodSeries {
  readonly seconds: HistogramSeries
  readonly requestBytes: HistogramSeries
  readonly responseBytes: HistogramSeries
}

const encoder = new TextEncoder()

export class ClientMetrics {
  readonly #clock: Clock
  readonly #total
  readonly #seconds
  readonly #requestBytes
  readonly #responseBytes

  constructor(metrics: Metrics, clock: Clock) {
    this.#clock = clock
    this.#total = metrics.counter(
      'rest_client_requests_total',
      '[ALPHA] Number of HTTP requests, partitioned by status code, method, and host.',
      ['code', 'host', 'method'],
    )
    const histogram = (name: string, help: string, bounds: readonly number[]) =>
      metrics.histogram(`rest_client_${name}`, help, bounds, ['host', 'verb'])
    this.#seconds = histogram(
      'request_duration_seconds',
      '[ALPHA] Request latency in seconds. Broken down by verb, and host.',
      secondsBounds,
    )
    this.#requestBytes = histogram(
      'request_size_bytes',
      '[ALPHA] Request size in bytes. Broken down by verb and host.',
      bytesBounds,
    )
    this.#responseBytes = histogram(
      'response_size_bytes',
      '[ALPHA] Response size in bytes. Broken down by verb and host.',
      bytesBounds,
    )
  }

  /** The same connections, with their requests measured. */
  measured(outbound: Outbound, { origin, isForStreams = false }: MeasuredOutboundOptions): Outbound {
    const { host } = new URL(origin)
    const totals = new Map<string, { add(amount: number): void }>()
    const methods = new Map<string, MethodSeries>()
    const count = (code: string, method: string) =>
      getOrInsert(totals, `${code} ${method}`, () => this.#total.with({ code, host, method })).add(1)
    const send = async (request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse> => {
      const { method, target, body } = request
      const startMs = this.#clock.monotonicMs()
      const ended = (series: MethodSeries) => series.seconds.observe((this.#clock.monotonicMs() - startMs) / 1000)
      const isStream = isForStreams || isWatch(target)
      const series = isStream ? undefined : getOrInsert(methods, method, () => this.#seriesOf(host, method))
      series?.requestBytes.observe(sizeOf(body))
      try {
        const response = await outbound.send(request, signal)
        count(String(response.status), method)
        return series === undefined ? response : { ...response, body: measuredBody(response.body, series, ended) }
      } catch (error) {
        count(noResponse, method)
        if (series !== undefined) ended(series)
        throw error
      }
    }
    return { send, close: () => outbound.close() }
  }

  #seriesOf(host: string, verb: string): MethodSeries {
    const labels = { host, verb }
    return {
      seconds: this.#seconds.with(labels),
      requestBytes: this.#requestBytes.with(labels),
      responseBytes: this.#responseBytes.with(labels),
    }
  }
}

const isWatch = (target: string): boolean => target.includes('watch=true', target.indexOf('?') + 1)

const sizeOf = (body: Uint8Array | string | undefined): number =>
  body === undefined ? 0 : typeof body === 'string' ? encoder.encode(body).length : body.length

async function* measuredBody(
  body: AsyncIterable<Uint8Array>,
  series: MethodSeries,
  ended: (series: MethodSeries) => void,
): AsyncIterable<Uint8Array> {
  let bytes = 0
  try {
    for await (const piece of body) {
      bytes += piece.length
      yield piece
    }
  } finally {
    ended(series)
    series.responseBytes.observe(bytes)
  }
}
