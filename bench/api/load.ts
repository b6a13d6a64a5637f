// Load: many connections that send requests in sequence, and the time that they took.
import type { Access } from '../../test/access.ts'
import { Connection } from './connection.ts'

export interface Measured {
  /** When the first request was sent: connections were open and requests prepared by then. */
  readonly beginMs: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Sends `count` requests over this many connections. A response that is not a success ends the benchmark. */
export async function load(
  access: Access,
  connections: number,
  count: number,
  requestOf: (index: number) => Buffer,
): Promise<Measured> {
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(access)))
  // Requests are prepared in advance, because the load shares the machine with what it measures.
  const requests = Array.from({ length: count }, (_, index) => requestOf(index))
  const times = new Float64Array(count)
  const over = Promise.withResolvers<void>()
  let next = 0
  let done = 0
  const work = (connection: Connection) => {
    const index = next++
    const request = requests[index]
    if (request === undefined) return
    const start = performance.now()
    const answered = (status: number) => {
      times[index] = performance.now() - start
      if (status >= 300) over.reject(new Error(`${request.toString().split('\r\n', 1)[0]} was answered with ${status}`))
      else if (++done === count) over.resolve()
      else work(connection)
    }
    connection.exchange(request, answered, over.reject)
  }
  const beginMs = performance.now()
  for (const connection of open) work(connection)
  await over.promise
  const seconds = (performance.now() - beginMs) / 1000
  for (const connection of open) connection.close()
  times.sort()
  const at = (share: number) => times[Math.min(count - 1, Math.floor(count * share))] ?? 0
  return { beginMs, perSecond: count / seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
}

export const shown = (what: string, { perSecond, p50Ms, p99Ms }: Measured): string =>
  `${what}: ${perSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`
