import { deepEqual, equal, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { connect } from 'node:tls'
import { suite, test } from 'node:test'
import { systemRandom } from '../../../base/random/random.ts'
import { realClock } from '../../../base/time/clock.ts'
import { Authority } from '../../../pki/authority.ts'
import type { ByteStream } from '../../http/byte-stream.ts'
import { nodeCrypto } from '../crypto.ts'
import { acceptTls } from './accept-tls.ts'
import { nodeSockets } from './sockets.ts'

const authority = Authority.create('test', { clock: realClock, random: systemRandom, crypto: nodeCrypto })
const pair = authority.issue({
  subject: { commonName: 'a.example.com', organizations: [] },
  uses: ['server'],
  dnsNames: ['a.example.com'],
})

/** A listener that decrypts its connections, and the first of them. */
async function stage(signal = new AbortController().signal) {
  const first = Promise.withResolvers<ByteStream>()
  const listener = await nodeSockets.listenStreams({
    host: '127.0.0.1',
    port: 0,
    connectionsMax: 10,
    connectionsPerClientMax: 10,
    onConnection: (stream) => void acceptTls(stream, pair, signal).then(first.resolve, first.reject),
  })
  const at = { host: '127.0.0.1', port: listener.port }
  return { at, accepted: first.promise, [Symbol.asyncDispose]: () => listener.close() }
}

suite('acceptTls', () => {
  test('the contents of both directions arrive, also after the client has ended its side', async () => {
    await using listening = await stage()
    const client = connect({ ...listening.at, servername: 'a.example.com', ca: authority.certificate })
    await once(client, 'secureConnect')
    client.end('question')
    const stream = await listening.accepted
    let received = ''
    for await (const piece of stream.pieces) received += new TextDecoder().decode(piece)
    await stream.write(new TextEncoder().encode('answer'))
    stream.end()
    let answered = ''
    for await (const piece of client as AsyncIterable<Buffer>) answered += piece.toString()
    deepEqual([received, answered], ['question', 'answer'])
  })

  test('a client that speaks no TLS, or disconnects, is refused', async () => {
    for (const opening of ['GET / HTTP/1.1\r\n\r\n', '']) {
      await using listening = await stage()
      const client = connectTcp(listening.at)
      client.on('error', () => {})
      client.end(opening)
      await rejects(listening.accepted)
      client.destroy()
    }
  })

  test('a client that does not continue is disconnected when the signal is aborted', async () => {
    const stop = new AbortController()
    await using listening = await stage(stop.signal)
    const client = connectTcp(listening.at)
    await once(client, 'connect')
    const closed = once(client, 'close')
    client.resume()
    stop.abort()
    await rejects(listening.accepted)
    await closed
    equal(client.destroyed, true)
  })
})
