// Fan-out: many watches of one collection, over HTTP/2, and how fast one writer's changes reach all of them.
import { once } from 'node:events'
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { Connection, requestText, type Access } from './connection.ts'

const watchersPerSession = 100

export interface FanOut {
  readonly deliveriesPerSecond: number
  /** From a gentle writer's request to the event, over all watchers. */
  readonly p99Ms: number
}

export async function fanOut(access: Access, path: string, watchers: number, changes: number): Promise<FanOut> {
  const sessions = Array.from({ length: Math.ceil(watchers / watchersPerSession) }, () => openSession(access))
  const streams: ClientHttp2Stream[] = []
  for (const session of sessions)
    for (let index = 0; index < watchersPerSession && streams.length < watchers; index++)
      streams.push(session.request({ ':path': `${path}?watch=true&resourceVersion=0`, accept: 'application/json' }))
  await Promise.all(streams.map((stream) => once(stream, 'response')))
  let lines = 0
  let wanted = Infinity
  let reached = Promise.withResolvers<void>()
  let startedMs = 0
  const delays: number[] = []
  for (const stream of streams)
    stream.on('data', (piece: Buffer) => {
      for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) {
        lines++
        delays.push(performance.now() - startedMs)
      }
      if (lines >= wanted) reached.resolve()
    })
  const writer = await Connection.open(access)
  const write = (name: string) => writer.send(requestText('POST', path, { metadata: { name }, data: { a: 'b' } }))
  const arrived = (count: number): Promise<void> => {
    wanted = count
    reached = Promise.withResolvers()
    if (lines >= count) reached.resolve()
    return reached.promise
  }
  const begin = performance.now()
  for (let index = 0; index < changes; index++) await write(`burst-${index}`)
  await arrived(changes * watchers)
  const deliveriesPerSecond = (changes * watchers * 1000) / (performance.now() - begin)
  delays.length = 0
  for (let index = 0; index < 20; index++) {
    startedMs = performance.now()
    await write(`gentle-${index}`)
    await arrived((changes + index + 1) * watchers)
  }
  delays.sort((a, b) => a - b)
  writer.close()
  for (const session of sessions) session.destroy()
  return { deliveriesPerSecond, p99Ms: delays[Math.floor(delays.length * 0.99)] ?? 0 }
}

function openSession({ host, port, ca, cert, key }: Access): ClientHttp2Session {
  const session = connect(`https://${host}:${port}`, { ca, cert, key, checkServerIdentity: () => undefined })
  session.setMaxListeners(0)
  return session
}
