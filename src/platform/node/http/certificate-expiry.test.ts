// A client certificate is accepted only while it is valid, also on open connections and in resumed TLS sessions.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { test } from 'node:test'
import { realClock } from '../../../base/time/clock.ts'
import { systemRandom } from '../../../base/random/random.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { Authority } from '../../../pki/authority.ts'
import type { WirePieces, WireRequest } from '../../http/listener.ts'
import { nodeCrypto } from '../crypto.ts'
import { allFrom, asJane, authority, acceptors, tls, trusting, type Listening } from './listener.harness.ts'

const yearMs = 366 * 86_400_000
const quietWatch = (): WirePieces => ({ listen() {}, take: () => [], close() {} })
const respondTo = ({ target, certificate }: WireRequest) => ({
  status: 200,
  headers: {},
  body:
    target === '/watch' ? quietWatch() : `${certificate?.commonName} of ${certificate?.trustedFor.join() || undefined}`,
})

const getOf = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/** A certificate of the same authority, issued at another time. */
const madeAt = (ms: number) =>
  Authority.load(authority.identity, { clock: new VirtualClock(ms), random: systemRandom, crypto: nodeCrypto }).issue({
    subject: { commonName: 'jane', organizations: [] },
    uses: ['client'],
  })

async function expire({ clock }: Listening): Promise<void> {
  clock.turnTo(realClock.nowMs() + yearMs)
  await clock.advance('10s')
}

for (const [place, listen] of Object.entries(acceptors)) {
  test(`${place}: connections end when the certificate of their client expires, watches with their end`, async () => {
    await using listening = await listen({ handle: respondTo })
    const idle = await tls(listening.port, asJane)
    const watching = await tls(listening.port, asJane)
    const anonymous = await tls(listening.port)
    const session = connectHttp2(`https://127.0.0.1:${listening.port}`, asJane)
    session.on('error', () => {})
    const stream = session.request({ ':path': '/watch' })
    await once(stream, 'response')
    const ended = once(stream.resume(), 'end')
    for (const [socket, path] of [
      [idle, '/'],
      [watching, '/watch'],
      [anonymous, '/'],
    ] as const) {
      socket.write(getOf(path))
      await once(socket, 'data')
    }
    const received = [idle, watching].map(allFrom)
    await expire(listening)
    deepEqual(await Promise.all(received), ['', '0\r\n\r\n'])
    await ended
    equal(stream.rstCode, 0)
    ok(!anonymous.closed)
    anonymous.destroy()
    session.destroy()
  })

  test(`${place}: a resumed TLS session keeps the certificate until it expires`, async () => {
    await using listening = await listen({ handle: respondTo })
    const first = await tls(listening.port, asJane)
    const kept = once(first, 'session')
    first.write(getOf('/'))
    const [session] = (await kept) as [Buffer]
    const resumed = async () => {
      const socket = await tls(listening.port, { ...trusting, session })
      ok(socket.isSessionReused())
      socket.write(getOf('/'))
      const [piece] = (await once(socket, 'data')) as [Buffer]
      socket.destroy()
      return piece.toString().split('\r\n\r\n')[1]
    }
    equal(await resumed(), 'jane of users')
    await expire(listening)
    equal(await resumed(), 'jane of undefined')
    first.destroy()
  })

  test(`${place}: a certificate that is not valid has no authority`, async () => {
    await using listening = await listen({ handle: respondTo })
    const stranger = Authority.create('other', { clock: realClock, random: systemRandom, crypto: nodeCrypto })
    const subject = { commonName: 'jane', organizations: [] }
    const cases = [
      ['of yesterday', madeAt(realClock.nowMs() - 2 * yearMs), 'jane of undefined'],
      ['of tomorrow', madeAt(realClock.nowMs() + yearMs), 'jane of undefined'],
      ['of another authority', stranger.issue({ subject, uses: ['client'] }), 'jane of undefined'],
      ['of a server', authority.issue({ subject, uses: ['server'] }), 'jane of undefined'],
      ['of today', madeAt(realClock.nowMs()), 'jane of users'],
    ] as const
    for (const [name, { certificate, key }, wanted] of cases) {
      const socket = await tls(listening.port, { ...trusting, cert: certificate, key })
      socket.write(getOf('/'))
      const [piece] = (await once(socket, 'data')) as [Buffer]
      ok(piece.toString().endsWith(wanted), `${name}: ${piece.toString()}`)
      socket.destroy()
    }
  })
}
