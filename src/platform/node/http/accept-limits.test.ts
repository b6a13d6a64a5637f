// Which connections are accepted and which are closed, with and without the TLS thread.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { protocolOf } from '../socket/protocol-detection.ts'
import { allFrom, asJane, acceptors, tcp, tls, until } from './listener.harness.ts'

const handle = () => ({ status: 200, headers: {}, body: 'ok' })
const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

const beginnings: [bytes: string, kind: ReturnType<typeof protocolOf>][] = [
  ['', undefined],
  ['\x16', 'tls'],
  ['\x16\x03\x01', 'tls'],
  ['GE', undefined],
  ['GET /version', 'http'],
  ['HEAD /', 'http'],
  ['POST /', 'http'],
  ['PUT /', 'http'],
  ['OPTIONS *', 'http'],
  ['DELETE /', 'unknown'],
  ['SSH-2.0-', 'unknown'],
  ['\x00\x00\x00\x00\x00', 'unknown'],
]
for (const [bytes, kind] of beginnings)
  test(`a connection that starts with ${JSON.stringify(bytes)} is ${kind ?? 'not known yet'}`, () =>
    equal(protocolOf(Buffer.from(bytes, 'latin1')), kind))

/** Sends a request and returns the status line of the response. */
async function asked(socket: Socket): Promise<string> {
  socket.write(get)
  const [piece] = (await once(socket, 'data')) as [Buffer]
  return piece.toString('latin1').split('\r\n', 1)[0] ?? ''
}

for (const [place, listen] of Object.entries(acceptors)) {
  test(`${place}: plain HTTP gets a response, other protocols do not`, async () => {
    await using listening = await listen({ handle })
    const received = async (...pieces: string[]) => {
      const socket = await tcp(listening.port)
      for (const piece of pieces) socket.write(piece)
      return allFrom(socket)
    }
    const badRequest = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n'
    equal(await received(get), badRequest)
    equal(await received('OPTIO', 'NS / HTTP/1.1\r\n\r\n'), badRequest)
    equal(await received('SSH-2.0-client\r\n'), '')
    equal(await asked(await tls(listening.port)), 'HTTP/1.1 200 OK')
    // The thread reports it once a second.
    await until(() => listening.shed.get('handshake-failed') === 3)
  })

  test(`${place}: a connection that does not complete its handshake in time is closed`, async () => {
    const isThreaded = place === 'in a thread'
    // The thread uses real time.
    await using listening = await listen({ handle, limits: { handshakeMsMax: isThreaded ? 1_500 : 30_000 } })
    const served = await tls(listening.port)
    equal(await asked(served), 'HTTP/1.1 200 OK')
    const silent = await tcp(listening.port)
    const begun = await tcp(listening.port)
    begun.write(Buffer.from('16030100', 'hex'))
    const closed = Promise.all([silent, begun].map(allFrom))
    if (!isThreaded) {
      await listening.clock.advance('29s')
      deepEqual([silent.closed, begun.closed], [false, false])
    }
    begun.write(Buffer.from('ff', 'hex')) // its time does not start again
    if (!isThreaded) await listening.clock.advance('2s')
    deepEqual(await closed, ['', ''])
    equal(await asked(served), 'HTTP/1.1 200 OK')
    if (!isThreaded) equal(listening.shed.get('handshake-timeout'), 2)
  })

  test(`${place}: when too many handshakes are pending the oldest is closed, and other clients are served`, async () => {
    await using listening = await listen({ handle, limits: { handshakesMax: 2 } })
    const silent = [await tcp(listening.port), await tcp(listening.port)]
    const ended = allFrom(silent[0] as Socket)
    equal(await asked(await tls(listening.port)), 'HTTP/1.1 200 OK')
    equal(await ended, '')
    equal(silent[1]?.closed, false)
  })

  test(`${place}: the connections of a client are limited, and other clients are served`, async () => {
    await using listening = await listen({ handle, limits: { connectionsPerClientMax: 2 } })
    const open = [await tls(listening.port), await tls(listening.port)]
    equal(await allFrom(await tcp(listening.port)), '')
    equal(await asked(await tls(listening.port, { ...asJane, localAddress: '127.0.0.2' })), 'HTTP/1.1 200 OK')
    open[0]?.destroy()
    // The server observes it asynchronously.
    let again = await tcp(listening.port)
    for (again.write('GET /'); (await allFrom(again)) === ''; again.write('GET /')) again = await tcp(listening.port)
    equal(await asked(open[1] as Socket), 'HTTP/1.1 200 OK')
  })

  test(`${place}: the total number of connections is limited`, async () => {
    await using listening = await listen({ handle, limits: { connectionsMax: 2 } })
    const open = [
      await tls(listening.port),
      await tls(listening.port, { ...asJane, localAddress: '127.0.0.2' }),
    ] as const
    // The server, too, has completed their handshakes.
    for (const socket of open) equal(await asked(socket), 'HTTP/1.1 200 OK')
    equal(await allFrom(await tcp(listening.port, '127.0.0.3')), '')
    for (const socket of open) equal(await asked(socket), 'HTTP/1.1 200 OK')
  })

  test(`${place}: near the limit, idle unauthenticated connections are closed first`, async () => {
    await using listening = await listen({ handle, limits: { connectionsPerClientMax: 4 } })
    const known = await tls(listening.port, asJane)
    equal(await asked(known), 'HTTP/1.1 200 OK')
    const tokened = await tls(listening.port)
    tokened.write('GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n\r\n')
    await once(tokened, 'data')
    await listening.clock.advance('5s')
    const first = await tls(listening.port)
    const second = await tls(listening.port)
    equal(await asked(first), 'HTTP/1.1 200 OK')
    const ended = allFrom(first)
    equal(await asked(second), 'HTTP/1.1 200 OK')
    await listening.clock.advance('1s')
    equal(await ended, '')
    await until(() => listening.shed.get('idle') === 1)
    ok(!known.closed && !tokened.closed && !second.closed)
  })
}
