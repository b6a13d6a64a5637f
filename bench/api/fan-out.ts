// Fan-out: many watches of one collection over HTTP/2, and how fast changes reach all of them: first a burst from
// several writers, then single writes in sequence.
import type { Access } from '../../test/access.ts'
import { Connection, requestText } from './connection.ts'
import { load } from './load.ts'
import { WatchSession } from './watch-session.ts'

const watchersPerSession = 100
const gentleChanges = 20
const burstWriters = 8

export interface FanOut {
  readonly deliveriesPerSecond: number
  /** From a single write to its event, over all watchers. */
  readonly p99Ms: number
  /** Processor time of the server per delivery in the burst. */
  readonly processorMicros: number
}

/** `processorMs` returns the processor time that the server has used so far. */
export async function fanOut(
  access: Access,
  path: string,
  watchers: number,
  changes: number,
  processorMs: () => number,
): Promise<FanOut> {
  let events = 0
  let wanted = Infinity
  let startedMs = 0
  let reached = Promise.withResolvers<void>()
  const delays: number[] = []
  const received = (count: number) => {
    events += count
    const delayMs = performance.now() - startedMs
    for (let index = 0; index < count; index++) delays.push(delayMs)
    if (events >= wanted) reached.resolve()
  }
  const sessions = await Promise.all(
    Array.from({ length: Math.ceil(watchers / watchersPerSession) }, (_, index) =>
      WatchSession.open(
        access,
        `${path}?watch=true&resourceVersion=0`,
        Math.min(watchersPerSession, watchers - index * watchersPerSession),
        received,
      ),
    ),
  )
  const writer = await Connection.open(access)
  const changeOf = (name: string) => requestText('POST', path, { metadata: { name }, data: { a: 'b' } })
  const arrived = (count: number): Promise<void> => {
    wanted = count
    reached = Promise.withResolvers()
    if (events >= count) reached.resolve()
    return reached.promise
  }
  await settled(() => events)
  const before = events
  const usedMs = processorMs()
  const begin = performance.now()
  await load(access, burstWriters, changes, (index) => changeOf(`burst-${index}`))
  await arrived(before + changes * watchers)
  const deliveriesPerSecond = (changes * watchers * 1000) / (performance.now() - begin)
  const processorMicros = ((processorMs() - usedMs) * 1000) / (changes * watchers)
  delays.length = 0
  for (let index = 0; index < gentleChanges; index++) {
    startedMs = performance.now()
    await writer.send(changeOf(`gentle-${index}`))
    await arrived(before + (changes + index + 1) * watchers)
  }
  delays.sort((a, b) => a - b)
  writer.close()
  for (const session of sessions) session.close()
  return { deliveriesPerSecond, p99Ms: delays[Math.floor(delays.length * 0.99)] ?? 0, processorMicros }
}

/** Waits until the watch has sent its initial events. */
async function settled(events: () => number): Promise<void> {
  for (let before = -1; before !== events();) {
    before = events()
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
