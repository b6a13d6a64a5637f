import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { test } from 'node:test'
import { realClock } from '../base/time/clock.ts'
import { nodeSockets } from '../platform/node/socket/sockets.ts'
import type { Sockets } from '../platform/sockets/sockets.ts'
import { DnsServer } from './dns-server.ts'

const handler = { respond: (query: Uint8Array) => query }
const host = '127.0.0.1'

test('a selected port is free for UDP and TCP', async () => {
  const attempts: number[] = []
  const sockets: Pick<Sockets, 'bindDatagrams' | 'listenStreams'> = {
    bindDatagrams: nodeSockets.bindDatagrams,
    listenStreams(options) {
      attempts.push(options.port)
      return attempts.length < 3 ? Promise.reject(new Error('in use')) : nodeSockets.listenStreams(options)
    },
  }
  const server = new DnsServer({ handler, sockets, clock: realClock })
  const { port } = await server.listen(host, 0)
  assert.deepEqual([attempts.length, attempts.at(-1)], [3, port])
  assert.deepEqual(server.addresses, [{ address: host, port }])
  await server.close()
})

test('a port whose TCP part is in use is given up entirely', async () => {
  const other = createServer().listen(0, host)
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const server = new DnsServer({ handler, sockets: nodeSockets, clock: realClock })
  await assert.rejects(server.listen(host, port), { code: 'EADDRINUSE' })
  const socket = await nodeSockets.bindDatagrams({ host, port, onDatagram: () => {} })
  socket.close()
  other.close()
  await server.close()
})

test('queries over UDP and TCP reach the handler', async () => {
  const server = new DnsServer({ handler, sockets: nodeSockets, clock: realClock })
  const { port } = await server.listen(host, 0)
  const { promise, resolve } = Promise.withResolvers<Uint8Array>()
  const client = await nodeSockets.connectDatagrams(
    { address: host, port },
    { onDatagram: resolve, onUnreachable: () => resolve(new Uint8Array(0)) },
  )
  client.send(Uint8Array.of(7))
  assert.deepEqual([...(await promise)], [7])
  client.close()
  const stream = await nodeSockets.connectStream({ address: host, port }, new AbortController().signal)
  await stream.write(Uint8Array.of(0, 1, 9))
  const { value } = await stream.pieces[Symbol.asyncIterator]().next()
  assert.deepEqual([...(value as Uint8Array)], [0, 1, 9])
  stream.destroy()
  await server.close()
})
