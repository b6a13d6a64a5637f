// Clients that do not wait for one another: requests arrive at random times with a given mean rate (a Poisson process), and the time of
// each counts from its arrival, also while it waits for a connection.
import { systemRandom } from '../../src/base/random/random.ts'
import type { Access } from '../../test/access.ts'
import { Connection } from '../api/connection.ts'

const connectionsMax = 128

/** The times of all requests in milliseconds, sorted. */
export async function openLoop(
  access: Access,
  perSecond: number,
  seconds: number,
  requestOf: (index: number) => Buffer,
): Promise<Float64Array> {
  const idle = await Promise.all(Array.from({ length: connectionsMax }, () => Connection.open(access)))
  const all = [...idle]
  const arrivals = new Float64Array(perSecond * seconds)
  let atMs = 0
  for (let index = 0; index < arrivals.length; index++)
    arrivals[index] = atMs += (-Math.log(1 - systemRandom.fraction()) * 1000) / perSecond
  const times = new Float64Array(arrivals.length)
  const waiting: number[] = []
  const over = Promise.withResolvers<void>()
  let done = 0
  const beginMs = performance.now()
  const send = (connection: Connection, index: number) => {
    const answered = (status: number) => {
      times[index] = performance.now() - beginMs - (arrivals[index] ?? 0)
      if (status >= 300) return over.reject(new Error(`a request was answered with ${status}`))
      if (++done === times.length) return over.resolve()
      const next = waiting.shift()
      if (next === undefined) idle.push(connection)
      else send(connection, next)
    }
    connection.exchange(requestOf(index), answered, over.reject)
  }
  let arrived = 0
  const arrive = () => {
    for (
      const nowMs = performance.now() - beginMs;
      arrived < times.length && (arrivals[arrived] ?? 0) <= nowMs;
      arrived++
    ) {
      const connection = idle.pop()
      if (connection === undefined) waiting.push(arrived)
      else send(connection, arrived)
    }
  }
  const arriving = setInterval(arrive, 1)
  try {
    await over.promise
  } finally {
    clearInterval(arriving)
    for (const connection of all) connection.close()
  }
  return times.toSorted()
}
