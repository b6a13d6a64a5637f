// Clients that end their side of a connection after their requests, with and without the TLS thread.
import { equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { acceptors, allFrom, asJane, tls, until } from './listener.harness.ts'

const getOf = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const long = Buffer.alloc(4 << 20, 'x')

for (const [place, listen] of Object.entries(acceptors)) {
  test(`${place}: a client that ends its side gets its responses, however long they take`, async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let started = 0
    await using listening = await listen({
      async handle({ target }) {
        started++
        await promise
        return { status: 200, headers: {}, body: target === '/long' ? long : target }
      },
    })
    const socket = await tls(listening.port, asJane)
    socket.allowHalfOpen = true
    const finished = once(socket, 'finish')
    socket.end(`${getOf('/short')}${getOf('/long')}`)
    await Promise.all([finished, until(() => started === 1)])
    // The server has read the end of the client's side before it responds.
    const later = await tls(listening.port, asJane)
    later.destroy()
    resolve()
    const text = await allFrom(socket)
    equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, 2)
    ok(text.includes('\r\n\r\n/short') && text.endsWith(`\r\n\r\n${long.toString()}`))
  })

  test(`${place}: a watch of a client that ends its side is closed`, async () => {
    const closed = Promise.withResolvers<void>()
    await using listening = await listen({
      handle: () => ({ status: 200, headers: {}, body: { listen() {}, take: () => [], close: closed.resolve } }),
    })
    const socket = await tls(listening.port, asJane)
    socket.write(getOf('/watch'))
    await once(socket, 'data')
    socket.end()
    await closed.promise
  })
}
