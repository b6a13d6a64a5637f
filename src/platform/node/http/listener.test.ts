// The listener against the HTTP/1.1 and HTTP/2 clients of Node.js.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { Agent, request as requestHttps } from 'node:https'
import { connect as connectTls } from 'node:tls'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { realClock } from '../../../base/time/clock.ts'
import { systemRandom } from '../../../base/random/random.ts'
import { eventLoopTurn } from '../../../base/async/event-loop-turn.ts'
import { Authority } from '../../../pki/authority.ts'
import type { Listener, ListenOptions, WireResponse, WirePieces } from '../../http/listener.ts'
import { nodeCrypto } from '../crypto.ts'
import { nodeListeners } from './listener.ts'

const authority = Authority.create('ca', { clock: realClock, random: systemRandom, crypto: nodeCrypto })
const jane = authority.issue({ subject: { commonName: 'jane', organizations: ['crew', 'deck'] }, uses: ['client'] })
const loopback = { host: '127.0.0.1', ca: authority.certificate }
const serving = (commonName: string) =>
  authority.issue({ subject: { commonName, organizations: [] }, uses: ['server'], addresses: ['127.0.0.1'] })
const tlsOf = ({ certificate, key }: { certificate: string; key: string }) => ({
  certificate,
  key,
  clientAuthorities: { users: authority.certificate },
})

interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

interface Client extends AsyncDisposable {
  ask(method: string, path: string, headers?: Record<string, string>, body?: string): Promise<Received>
}

const clients: Readonly<Record<string, (port: number) => Client>> = {
  'HTTP/1.1'(port) {
    const agent = new Agent({ keepAlive: true, ca: authority.certificate })
    return {
      async ask(method, path, headers = {}, body) {
        const asked = requestHttps({ host: '127.0.0.1', port, method, path, headers, agent })
        asked.end(body)
        const [response] = await once(asked, 'response')
        return { status: response.statusCode, headers: response.headers, body: await whole(response) }
      },
      [Symbol.asyncDispose]: async () => agent.destroy(),
    }
  },
  'HTTP/2'(port) {
    // An unauthenticated client has one request per connection.
    const proof = { cert: jane.certificate, key: jane.key }
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.certificate, ...proof })
    session.on('error', () => {}) // reported by its streams
    return {
      async ask(method, path, headers = {}, body) {
        const stream = session.request({ ':method': method, ':path': path, ...headers })
        stream.end(body)
        const [response] = await once(stream, 'response')
        return { status: response[':status'], headers: response, body: await whole(stream) }
      },
      [Symbol.asyncDispose]: async () => session.destroy(),
    }
  },
}

async function whole(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}

type Listen = (handle: ListenOptions['handle'], port?: number) => Promise<Listener>

/** With and without the TLS thread. */
const places: Readonly<Record<string, Listen>> = {
  'in the event loop': (handle, port = 0) =>
    nodeListeners.listen({ host: '127.0.0.1', port, tls: tlsOf(serving('one')), handle }),
  'in a thread': (handle, port = 0) =>
    nodeListeners.startTlsThread().listen({ host: '127.0.0.1', port, tls: tlsOf(serving('one')), handle }),
}

const piecesOf = (all: readonly Uint8Array[], isLong: boolean): WirePieces => {
  let next = 0
  return {
    isLong,
    listen: (wake) => wake(),
    take: () => (next < all.length ? all.slice(next, ++next) : undefined),
    close: () => void (next = all.length),
  }
}

async function* streamOf(...pieces: string[]) {
  for (const piece of pieces) yield await Promise.resolve(piece)
}

const megabyte = 'x'.repeat(1 << 20)
const responses: Readonly<Record<string, () => WireResponse>> = {
  '/whole': () => ({ status: 201, headers: { 'x-list': ['a', 'b'] }, body: 'gr\u00fc\u00df' }),
  '/bytes': () => ({ status: 200, headers: {}, body: Buffer.from(megabyte) }),
  '/stream': () => ({ status: 200, headers: {}, body: streamOf('a', '', 'bc', megabyte) }),
  '/pieces': () => ({ status: 200, headers: {}, body: piecesOf(Array(16).fill(Buffer.from(megabyte)), false) }),
  '/long-pieces': () => ({ status: 200, headers: {}, body: piecesOf(Array(3).fill(Buffer.from(megabyte)), true) }),
  '/none': () => ({ status: 204, headers: {}, body: '' }),
  '/unchanged': () => ({ status: 304, headers: { etag: 'e' }, body: '' }),
}

for (const [place, listen] of Object.entries(places)) {
  for (const [protocol, clientOf] of Object.entries(clients)) {
    test(`${protocol} ${place}: responses of every kind arrive complete`, async () => {
      const listener = await listen((request) => Promise.resolve(responses[request.target]?.() ?? fail()))
      await using client = clientOf(listener.port)
      const shortOf = async (method: string, path: string) => {
        const { status, headers, body } = await client.ask(method, path)
        return [status, headers['content-length'], body.length]
      }
      deepEqual(await shortOf('GET', '/whole'), [201, '6', 6])
      equal((await client.ask('GET', '/whole')).headers['x-list'], 'a, b')
      equal(String((await client.ask('GET', '/whole')).body), 'gr\u00fc\u00df')
      match(String((await client.ask('GET', '/whole')).headers['date']), / GMT$/)
      deepEqual(await shortOf('HEAD', '/whole'), [201, '6', 0])
      deepEqual(await shortOf('GET', '/bytes'), [200, String(1 << 20), 1 << 20])
      deepEqual(await shortOf('GET', '/stream'), [200, undefined, (1 << 20) + 3])
      deepEqual(await shortOf('HEAD', '/stream'), [200, undefined, 0])
      deepEqual(await shortOf('HEAD', '/pieces'), [200, undefined, 0])
      deepEqual(await shortOf('GET', '/pieces'), [200, undefined, 16 << 20])
      deepEqual(await shortOf('GET', '/none'), [204, undefined, 0])
      deepEqual(await shortOf('GET', '/unchanged'), [304, undefined, 0])
      await listener.close(0)
    })

    test(`${protocol} ${place}: long responses are compressed for clients that accept it, others and watches are not`, async () => {
      const listener = await listen((request) => Promise.resolve(responses[request.target]?.() ?? fail()))
      await using client = clientOf(listener.port)
      const zipped = { 'accept-encoding': 'deflate, gzip;q=0.5' }
      for (const [path, bytes] of [
        ['/bytes', 1 << 20],
        ['/long-pieces', 3 << 20],
      ] as const) {
        const { headers, body } = await client.ask('GET', path, zipped)
        deepEqual([headers['content-encoding'], headers['vary']], ['gzip', 'Accept-Encoding'])
        equal(gunzipSync(body).length, bytes)
        equal((await client.ask('GET', path)).headers['content-encoding'], undefined)
        equal((await client.ask('GET', path, { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding'], undefined)
        equal((await client.ask('HEAD', path, zipped)).body.length, 0)
      }
      for (const path of ['/whole', '/pieces'])
        equal((await client.ask('GET', path, zipped)).headers['content-encoding'], undefined)
      await listener.close(0)
    })

    test(`${protocol} ${place}: bodies arrive complete, up to their limit`, async () => {
      const listener = await listen(async (request) => {
        const size = await Promise.resolve(request.body(2 << 20)).then(
          ({ length }) => String(length),
          (error: Error) => error.name,
        )
        return { status: 200, headers: {}, body: `${request.headerValues('x-a').length} ${size}` }
      })
      await using client = clientOf(listener.port)
      const sizeOf = async (body?: string) => String((await client.ask('POST', '/', { 'x-a': '1' }, body)).body)
      equal(await sizeOf(), '1 0')
      equal(await sizeOf('hello'), '1 5')
      equal(await sizeOf(megabyte), `1 ${1 << 20}`)
      equal(await sizeOf(megabyte.repeat(2)), `1 ${2 << 20}`)
      await listener.close(0)
    })

    test(`${protocol} ${place}: a closing listener finishes current responses within the grace period, and accepts no more requests`, async () => {
      const asked = Promise.withResolvers<void>()
      const gate = Promise.withResolvers<void>()
      const listener = await listen(async () => {
        asked.resolve()
        await gate.promise
        return { status: 200, headers: {}, body: 'the last' }
      })
      await using client = clientOf(listener.port)
      const response = client.ask('GET', '/')
      await asked.promise
      const closed = listener.close(60_000)
      gate.resolve()
      equal(String((await response).body), 'the last')
      await closed
      await rejects(clientOf(listener.port).ask('GET', '/'))
    })
  }

  test(`${place}: new connections get the new certificate`, async () => {
    const listener = await listen(() => Promise.resolve({ status: 200, headers: {}, body: '' }))
    const nameOf = async () => {
      const socket = connectTls({ host: '127.0.0.1', port: listener.port, ca: authority.certificate })
      await once(socket, 'secureConnect')
      const { subject } = socket.getPeerCertificate()
      socket.destroy()
      return subject.CN
    }
    equal(await nameOf(), 'one')
    await listener.renew(tlsOf(serving('two')))
    equal(await nameOf(), 'two')
    await listener.close(0)
  })

  test(`${place}: a client that disconnects in the middle of a head or body does not affect others`, async () => {
    const listener = await listen(async (request) => ({
      status: 200,
      headers: {},
      body: await Promise.resolve(request.body(100)).then(String, ({ name }: Error) => name),
    }))
    for (const text of ['GET / HT', 'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf']) {
      const socket = connectTls({ host: '127.0.0.1', port: listener.port, ca: authority.certificate })
      await once(socket, 'secureConnect')
      socket.end(text)
      await once(socket, 'close')
    }
    await using client = clients['HTTP/1.1']?.(listener.port) ?? fail()
    ok((await client.ask('GET', '/')).status === 200)
    await listener.close(0)
  })

  test(`${place}: the identity of a client from its certificate`, async () => {
    const listener = await listen(({ certificate }) => ({
      status: 200,
      headers: {},
      body: JSON.stringify(certificate),
    }))
    const { certificate, key } = jane
    const asked = requestHttps({ ...loopback, port: listener.port, cert: certificate, key, agent: false }).end()
    const [response] = await once(asked, 'response')
    const { fingerprint, validToMs, ...known } = JSON.parse(String(await whole(response))) as Record<string, unknown>
    deepEqual(known, { commonName: 'jane', organizations: ['crew', 'deck'], trustedFor: ['users'] })
    equal(validToMs, Date.parse(new X509Certificate(certificate).validTo))
    match(String(fingerprint), /^[0-9a-f]{64}$/)
    await listener.close(0)
  })

  test(`${place}: an upgraded connection has bytes in both directions, including the last ones`, async () => {
    const listener = await listen(() => ({
      status: 101,
      headers: { upgrade: 'echo' },
      body: '',
      async onUpgrade(stream) {
        let size = 0
        for await (const piece of stream.pieces) {
          size += piece.length
          await stream.write(piece)
          if (size < megabyte.length) continue
          await stream.write(Buffer.from('goodbye'))
          stream.end()
        }
      },
    }))
    const socket = connectTls({ ...loopback, port: listener.port })
    await once(socket, 'secureConnect')
    // The first bytes of the new protocol arrive with the request.
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n${megabyte}`)
    const received = String(await whole(socket))
    const [head, ...rest] = received.split('\r\n\r\n')
    match(head ?? '', /^HTTP\/1.1 101 /)
    ok(rest.join() === `${megabyte}goodbye`)
    await listener.close(0)
  })

  test(`${place}: a client that reads nothing is sent no more than fits`, async () => {
    const pieces = 64
    let taken = 0
    let turnsWithout = 0
    const body: WirePieces = {
      listen: (wake) => wake(),
      take() {
        turnsWithout = 0
        return taken++ < pieces ? [Buffer.from(megabyte)] : undefined
      },
      close() {},
    }
    const listener = await listen(() => ({ status: 200, headers: {}, body }))
    const asked = requestHttps({ ...loopback, port: listener.port, agent: false }).end()
    const [response] = await once(asked, 'response')
    while (turnsWithout++ < 1_000) await eventLoopTurn()
    ok(taken < pieces / 2, `${taken} pieces were taken`)
    equal((await whole(response)).length, pieces << 20)
    await listener.close(0)
  })

  test(`${place}: a renewal of the certificate during close does not block it`, async () => {
    const listener = await listen(() => ({ status: 200, headers: {}, body: '' }))
    const renewed = listener.renew(tlsOf(serving('two')))
    await listener.close(0)
    await renewed
  })

  test(`${place}: a port in use is reported`, async () => {
    const handle = () => ({ status: 200, headers: {}, body: '' })
    const first = await listen(handle)
    await rejects(listen(handle, first.port), { code: 'EADDRINUSE' })
    await first.close(0)
  })
}

function fail(): never {
  throw new Error('no such response')
}
