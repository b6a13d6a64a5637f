// The memory that a client of HTTP/1.1 may hold, with and without the TLS thread.
import { equal, match, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { ListenLimits } from '../../limits/listen-limits.ts'
import { allFrom, asJane, acceptors, tls } from './listener.harness.ts'

const megabyte = 1 << 20
const getOf = (megabytes: number) => `GET /${megabytes} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`

for (const [place, listen] of Object.entries(acceptors)) {
  test(`${place}: a response that its client does not receive is aborted when memory is short`, async () => {
    const limits: Partial<ListenLimits> = { heldBytesPerClientMax: megabyte }
    await using listening = await listen({
      handle: ({ target }) => ({ status: 200, headers: {}, body: Buffer.alloc(Number(target.slice(1)) * megabyte) }),
      limits,
    })
    const stalled = await tls(listening.port, asJane)
    stalled.pause().write(getOf(32))
    const reading = await tls(listening.port, { ...asJane, localAddress: '127.0.0.2' })
    reading.write(getOf(32))
    equal((await allFrom(reading)).length > 32 * megabyte, true)
    // When a later connection has been served, the server has noticed that this one is closed.
    const later = await tls(listening.port, { ...asJane, localAddress: '127.0.0.2' })
    later.write(getOf(0))
    match(await allFrom(later), /^HTTP\/1\.1 200 OK\r\n/)
    while (listening.shed.get('memory') === undefined) await listening.clock.advance('1s')
    equal((await allFrom(stalled.resume())).length < 32 * megabyte, true)
    equal(listening.shed.get('memory'), 1)
  })

  test(`${place}: a client that receives a long response slowly is not shed`, async () => {
    await using listening = await listen({
      handle: () => ({ status: 200, headers: {}, body: Buffer.alloc(96 * megabyte) }),
      limits: { heldBytesPerClientMax: megabyte },
    })
    const socket = await tls(listening.port, asJane)
    socket.write(getOf(96))
    let bytes = 0
    let seconds = 0
    for await (const piece of socket as AsyncIterable<Buffer>) {
      bytes += piece.length
      // More than the buffers between server and client hold, so that the server has made progress, too.
      if (bytes < (seconds + 1) * 16 * megabyte) continue
      await listening.clock.advance('1s')
      seconds++
    }
    ok(bytes > 96 * megabyte && seconds > 4)
    equal(listening.shed.get('memory'), undefined)
  })

  test(`${place}: a client that receives its responses holds no memory`, async () => {
    await using listening = await listen({
      handle: () => ({ status: 200, headers: {}, body: Buffer.alloc(48 << 10) }),
      limits: { heldBytesPerClientMax: 1, heldBytesMax: 1 },
    })
    const socket = await tls(listening.port, asJane)
    for (let count = 0; count < 10; count++) {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      for (let bytes = 0; bytes < 48 << 10;) bytes += ((await once(socket, 'data')) as [Buffer])[0].length
    }
    await listening.clock.advance('1s')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    match(await allFrom(socket), /^HTTP\/1\.1 200 OK\r\n/)
    equal(listening.shed.get('memory'), undefined)
  })
}
