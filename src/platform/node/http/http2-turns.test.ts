// Requests of several connections of HTTP/2 are started in turns, with and without the TLS thread.
import { ok } from 'node:assert/strict'
import { once } from 'node:events'
import { connect, constants, type ClientHttp2Session } from 'node:http2'
import { test } from 'node:test'
import { realClock } from '../../../base/time/clock.ts'
import type { WireRequest, WireResponse } from '../../http/listener.ts'
import { acceptors, asJane, until, type Listening } from './listener.harness.ts'

async function connected({ port }: Listening): Promise<ClientHttp2Session & Disposable> {
  const session = connect(`https://127.0.0.1:${port}`, asJane)
  session.on('error', () => {})
  await once(session, 'remoteSettings')
  return Object.assign(session, { [Symbol.dispose]: () => session.destroy() })
}

const ask = (session: ClientHttp2Session, path: string) => {
  const stream = session.request({ ':path': path })
  stream.on('error', () => {}).resume()
  return stream
}

const requests = 100
/** As long as many responses that are computed synchronously. */
const busyMs = 2

/** Handles requests synchronously, and lists their paths. */
function busyHandler() {
  const handled: string[] = []
  const handle = ({ target }: WireRequest): WireResponse => {
    handled.push(target)
    if (target === '/many') for (const endMs = realClock.monotonicMs() + busyMs; realClock.monotonicMs() < endMs;);
    return { status: 200, headers: {}, body: '' }
  }
  return { handled, handle }
}

for (const [place, listen] of Object.entries(acceptors)) {
  test(`${place}: a connection with many requests does not delay another one`, async () => {
    const { handled, handle } = busyHandler()
    await using listening = await listen({ handle })
    using first = await connected(listening)
    using second = await connected(listening)
    for (let count = 0; count < requests; count++) ask(first, '/many')
    await until(() => handled.length > 0)
    ask(second, '/one')
    await until(() => handled.length === requests + 1)
    ok(handled.indexOf('/one') < requests / 2, `it was number ${handled.indexOf('/one')}`)
  })

  test(`${place}: requests that are reset before their turn are not handled`, async () => {
    const { handled, handle } = busyHandler()
    await using listening = await listen({ handle })
    using session = await connected(listening)
    const streams = Array.from({ length: requests }, () => ask(session, '/many'))
    await until(() => handled.length > 0)
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL)
    ask(session, '/last')
    await until(() => handled.includes('/last'))
    ok(handled.length < requests, `${handled.length} were handled`)
  })
}
