// The Node.js drivers against the contracts of platform/.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createSecureServer } from 'node:http2'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { mkdtemp, readdir, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { connect as connectTls } from 'node:tls'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { realClock } from '../base/time/clock.ts'
import { systemRandom } from '../base/random/random.ts'
import { Authority } from '../pki/authority.ts'
import type { ByteStream } from './http/byte-stream.ts'
import { BodyTooLarge, type ListenOptions, type WireResponse } from './http/listener.ts'
import { nodeCrypto } from './node/crypto.ts'
import { nodeFiles } from './node/files.ts'
import { nodeListeners } from './node/http/listener.ts'
import { nodeOutbound } from './node/http/outbound.ts'
import { nodePlatform } from './node/platform.ts'
import { nodeProcesses } from './node/process/processes.ts'
import { nodeWorkers } from './node/process/workers.ts'
import { AddressNotAllowed, Unreachable } from './http/outbound.ts'

const { signal } = new AbortController()
const folder = await mkdtemp(join(tmpdir(), 'coxswain-platform-'))
after(() => nodeFiles.remove(folder))

test('the platform is complete', () => {
  deepEqual(Object.keys(nodePlatform).toSorted(), [
    'crypto',
    'files',
    'http2',
    'listeners',
    'outbound',
    'processStats',
    'processes',
    'sockets',
    'workers',
  ])
})

test('digests and keys', () => {
  equal(nodeCrypto.sha256('abc').toHex(), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  ok(
    nodeCrypto.timingSafeEqual(
      nodeCrypto.hmacSha256(Uint8Array.of(1), 'a'),
      nodeCrypto.hmacSha256(Uint8Array.of(1), 'a'),
    ),
  )
  ok(!nodeCrypto.timingSafeEqual(Uint8Array.of(1), Uint8Array.of(1, 2)))
  const key = nodeCrypto.generateKey()
  deepEqual(nodeCrypto.loadKey(key.privateKey).publicKey, key.publicKey)
})

test('a file is written atomically and privately, without leftovers', async () => {
  const path = join(folder, 'deep', 'secret')
  await nodeFiles.makeDirectory(join(folder, 'deep'))
  equal(await nodeFiles.read(path), undefined)
  await nodeFiles.write(path, 'one')
  await nodeFiles.write(path, 'two')
  equal(String(await nodeFiles.read(path)), 'two')
  equal((await stat(path)).mode & 0o777, 0o600)
  deepEqual(await readdir(join(folder, 'deep')), ['secret'])
  await rejects(nodeFiles.write(join(folder, 'missing', 'file'), 'x'), /cannot write .*missing\/file$/)
  deepEqual(await nodeFiles.list(join(folder, 'missing')), [])
  deepEqual(await nodeFiles.list(folder), ['deep'])
})

const authority = Authority.create('ca', { clock: realClock, random: systemRandom, crypto: nodeCrypto })
const server = authority.issue({
  subject: { commonName: 'server', organizations: [] },
  uses: ['server'],
  addresses: ['127.0.0.1'],
})
const alice = authority.issue({ subject: { commonName: 'alice', organizations: ['dev', 'ops'] }, uses: ['client'] })
const tls = { certificate: server.certificate, key: server.key, clientAuthorities: { users: authority.certificate } }

async function serve(handle: ListenOptions['handle']) {
  const listener = await nodeListeners.listen({ host: '127.0.0.1', port: 0, tls, handle })
  const outbound = nodeOutbound.connect({
    origin: `https://127.0.0.1:${listener.port}`,
    tls: { authority: authority.certificate, certificate: alice.certificate, key: alice.key },
  })
  return {
    listener,
    outbound,
    async [Symbol.asyncDispose]() {
      await outbound.close()
      await listener.close(0)
    },
  }
}

const text = async (body: AsyncIterable<Uint8Array>) => {
  let whole = ''
  for await (const piece of body) whole += Buffer.from(piece).toString()
  return whole
}

const plain = (body: string): WireResponse => ({ status: 200, headers: { 'content-type': 'text/plain' }, body })

test('a request arrives with body, headers and the identity of its certificate', async () => {
  await using served = await serve(async (request) => {
    const { commonName, organizations } = request.certificate ?? { commonName: '?', organizations: [] }
    const body = Buffer.from(await request.body(100)).toString()
    return plain(`${request.method} ${request.target} ${request.headers['x-a']} ${commonName} ${organizations} ${body}`)
  })
  const answer = await served.outbound.send(
    { method: 'POST', target: '/p?q=1', headers: { 'X-A': 'h' }, body: 'hello' },
    signal,
  )
  equal(answer.status, 200)
  equal(await text(answer.body), 'POST /p?q=1 h alice dev,ops hello')
})

test('the same port speaks HTTP/2', async () => {
  await using served = await serve((request) =>
    Promise.resolve(plain(`${request.target} ${request.certificate?.commonName}`)),
  )
  const session = connect(`https://127.0.0.1:${served.listener.port}`, { ca: authority.certificate })
  const stream = session.request({ ':path': '/h2' })
  equal(await text(stream), '/h2 undefined')
  session.close()
})

test('outbound requests use HTTP/2 over pooled connections if both sides support it', async () => {
  const identity = { cert: server.certificate, key: server.key }
  const answer = (sent: { httpVersion: string }, response: { end(text: string): void }) =>
    response.end(sent.httpVersion)
  const speakers = { '2.0': createSecureServer(identity, answer), '1.1': createServer(identity, answer) }
  const rounds = 10
  for (const [version, speaker] of Object.entries(speakers)) {
    await using cleanUps = new AsyncDisposableStack()
    let connections = 0
    speaker.on('secureConnection', () => connections++)
    speaker.listen(0, '127.0.0.1')
    await once(speaker, 'listening')
    cleanUps.defer(() => void speaker.close())
    const origin = `https://127.0.0.1:${(speaker.address() as AddressInfo).port}`
    const outbound = nodeOutbound.connect({ origin, tls: { authority: authority.certificate }, http2: true })
    cleanUps.defer(() => outbound.close())
    for (let round = 0; round < rounds; round++) {
      const { body } = await outbound.send({ method: 'POST', target: '/', headers: {}, body: 'x' }, signal)
      equal(await text(body), version)
    }
    ok(connections < rounds, `${connections} connections for ${rounds} requests`)
  }
})

test('a body beyond the limit is rejected', async () => {
  await using served = await serve(async (request) => {
    try {
      await request.body(10)
      return plain('taken')
    } catch (error) {
      return plain(error instanceof BodyTooLarge ? 'too large' : 'other')
    }
  })
  const answer = await served.outbound.send(
    { method: 'POST', target: '/', headers: {}, body: 'x'.repeat(1000) },
    signal,
  )
  equal(await text(answer.body), 'too large')
})

test('a stream is flushed piece by piece and ends when the client goes away', async () => {
  const gone = Promise.withResolvers<void>()
  await using served = await serve((request) => {
    request.signal.addEventListener('abort', () => gone.resolve())
    async function* pieces() {
      yield 'first'
      await gone.promise
      yield 'never seen'
    }
    return Promise.resolve({ status: 200, headers: {}, body: pieces() })
  })
  const client = new AbortController()
  const { body } = await served.outbound.send({ method: 'GET', target: '/', headers: {} }, client.signal)
  for await (const piece of body) {
    equal(Buffer.from(piece).toString(), 'first')
    break
  }
  client.abort()
  await gone.promise
})

test('an abandoned HTTP/2 stream ends the request too', async () => {
  const gone = Promise.withResolvers<void>()
  await using served = await serve((request) => {
    request.signal.addEventListener('abort', () => gone.resolve())
    async function* pieces() {
      yield 'first'
      await gone.promise
    }
    return Promise.resolve({ status: 200, headers: {}, body: pieces() })
  })
  const session = connect(`https://127.0.0.1:${served.listener.port}`, { ca: authority.certificate })
  const stream = session.request({ ':path': '/h2' })
  stream.on('data', () => stream.close())
  await gone.promise
  session.close()
})

test('a handler that throws causes a 500, and the server continues', async () => {
  await using served = await serve((request) =>
    request.target === '/bad' ? Promise.reject(new Error('bug')) : Promise.resolve(plain('fine')),
  )
  equal((await served.outbound.send({ method: 'GET', target: '/bad', headers: {} }, signal)).status, 500)
  equal((await served.outbound.send({ method: 'GET', target: '/', headers: {} }, signal)).status, 200)
})

test('a request on its own connection gets a response, upgrades, or fails with the reason', async () => {
  const echo = async (socket: ByteStream) => {
    for await (const piece of socket.pieces) await socket.write(piece)
    socket.end()
  }
  await using served = await serve(({ upgrade, target, certificate }) =>
    Promise.resolve<WireResponse>(
      upgrade && target === '/echo?x=1'
        ? { status: 101, headers: { connection: 'Upgrade', upgrade: 'echo' }, body: '', onUpgrade: echo }
        : plain(`not this, ${certificate?.commonName}`),
    ),
  )
  const { port } = served.listener
  const who = { authority: authority.certificate, certificate: alice.certificate, key: alice.key }
  const ask = (path: string) =>
    nodeOutbound.exchange(
      { origin: `https://127.0.0.1:${port}`, tls: who },
      { method: 'GET', target: path, headers: { connection: 'Upgrade', upgrade: 'echo' } },
      signal,
    )
  const answered = await ask('/other')
  equal(answered.kind === 'answer' && `${answered.status} ${await text(answered.body)}`, '200 not this, alice')
  await using passing = await serve(async () => {
    const answer = await ask('/other')
    if (answer.kind !== 'answer') throw new Error('it should not have left HTTP')
    return { status: answer.status, headers: {}, body: answer.body }
  })
  const passedOn = await passing.outbound.send({ method: 'GET', target: '/', headers: {} }, signal)
  equal(await text(passedOn.body), 'not this, alice', 'an answer can be passed on as it comes')
  const upgraded = await ask('/echo?x=1')
  ok(upgraded.kind === 'upgraded')
  equal(upgraded.headers['upgrade'], 'echo')
  await upgraded.stream.write(Buffer.from('hello'))
  const first = await upgraded.stream.pieces[Symbol.asyncIterator]().next()
  equal(String(first.value), 'hello')
  upgraded.stream.end()
  await rejects(upgraded.stream.write(Buffer.from('late')), /the stream is over/)
  await served.listener.close(0)
  await rejects(ask('/'), (error: Error) => {
    ok(error instanceof Unreachable)
    equal(error.message, `dial tcp 127.0.0.1:${port}: connect: connection refused`)
    return true
  })
})

test('a request goes to the host of its origin, and only to addresses that are allowed', async () => {
  await using served = await serve(({ target }) => Promise.resolve(plain(target)))
  const { port } = served.listener
  const ask = (host: string, target: string, allowsAddress?: (address: string) => boolean) =>
    nodeOutbound.exchange(
      {
        origin: `https://${host}:${port}`,
        tls: { insecureSkipVerify: true },
        ...(allowsAddress === undefined ? {} : { allowsAddress }),
      },
      { method: 'GET', target, headers: {} },
      signal,
    )
  for (const target of [`/\\127.0.0.1:${port}/x`, `https://127.0.0.1:${port}/x`, 'x', '', '/a b', '/a\r\nb: c'])
    await rejects(ask('192.0.2.1', target), TypeError, target)
  const checked: string[] = []
  const refuses = (address: string) => {
    checked.push(address)
    return false
  }
  await rejects(ask('127.0.0.1', '/', refuses), AddressNotAllowed)
  await rejects(ask('localhost', '/', refuses), AddressNotAllowed)
  deepEqual(
    checked.map((address) => address === '127.0.0.1' || address === '::1'),
    checked.map(() => true),
    'a name is checked by what it resolves to',
  )
  ok(checked.length >= 2)
  const answer = await ask('127.0.0.1', `//192.0.2.1/x?a=b`, () => true)
  equal(answer.kind === 'answer' && (await text(answer.body)), '//192.0.2.1/x?a=b')
})

test('a process runs to its end with input, output and code', async () => {
  const result = await nodeProcesses.run('sh', ['-c', 'cat; echo oops >&2; exit 3'], { input: 'in' }, signal)
  deepEqual(result, { code: 3, stdout: 'in', stderr: 'oops\n' })
  await rejects(nodeProcesses.run('no-such-program', [], {}, signal), /cannot start no-such-program/)
  await rejects(nodeProcesses.run('yes', [], { outputBytesMax: 1000 }, signal), /printed more than 1000 bytes/)
  const impatient = new AbortController()
  const running = nodeProcesses.run('sleep', ['60'], {}, impatient.signal)
  impatient.abort(new Error('enough'))
  await rejects(running, /enough/)
})

test('a child process reports lines and can be ended', async () => {
  const line = Promise.withResolvers<string>()
  const running = nodeProcesses.start('sh', ['-c', 'echo up; exec sleep 60'], {}, line.resolve)
  equal(await line.promise, 'up')
  // /proc/<pid>/stat: pid (name) state parent group …
  const [, , group] = (await readFile(`/proc/${running.pid}/stat`, 'utf8')).replace(/.*\) /, '').split(' ')
  equal(Number(group), running.pid, 'what a terminal sends to our group does not reach it')
  running.kill('SIGTERM')
  equal(await running.ended, 143)
  equal(await nodeProcesses.start('no-such-program', [], {}, () => {}).ended, 127)
})

test('a worker replies, stops on request, and reports that it has died', async () => {
  const echo = new URL(
    'data:text/javascript,import{parentPort as p}from"node:worker_threads";p.on("message",m=>p.postMessage(m+1))',
  )
  const worker = nodeWorkers.start<number, number>(echo, undefined)
  const answer = Promise.withResolvers<number>()
  const ended = Promise.withResolvers<Error | undefined>()
  worker.listen(answer.resolve, ended.resolve)
  worker.post(41)
  equal(await answer.promise, 42)
  await worker.stop()
  equal(await ended.promise, undefined)
  const dying = nodeWorkers.start(new URL('data:text/javascript,throw new Error("no luck")'), undefined)
  const reason = Promise.withResolvers<Error | undefined>()
  dying.listen(() => {}, reason.resolve)
  equal((await reason.promise)?.message, 'no luck')
})

test('an upgrade request gets the connection, or a response and a close', async () => {
  await using served = await serve((request) =>
    Promise.resolve<WireResponse>(
      request.upgrade && request.target === '/echo'
        ? {
            status: 101,
            headers: { connection: 'Upgrade', upgrade: 'echo' },
            body: '',
            async onUpgrade(socket) {
              for await (const piece of socket.pieces) await socket.write(piece)
              socket.end()
            },
          }
        : { status: 400, headers: { 'content-type': 'text/plain' }, body: 'no such protocol' },
    ),
  )
  const talk = async (path: string, more: string): Promise<string> => {
    const socket = connectTls({ host: '127.0.0.1', port: served.listener.port, rejectUnauthorized: false })
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`)
    socket.write(more)
    let received = ''
    for await (const piece of socket) {
      received += String(piece)
      if (more !== '' && received.endsWith(more)) break
    }
    return received
  }
  const echoed = await talk('/echo', 'hello')
  ok(echoed.startsWith('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\n'), echoed)
  ok(echoed.endsWith('\r\n\r\nhello'), echoed)
  ok((await talk('/other', '')).endsWith('no such protocol'))
})
