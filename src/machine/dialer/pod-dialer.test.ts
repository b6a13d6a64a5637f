// Connections over the host's network, gRPC health checks, and errors of unreachable targets.
import { equal, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { Unreachable } from '../../platform/http/outbound.ts'
import { serveGrpc } from '../../wire/grpc/grpc-server.harness.ts'
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import { decodeProto } from '../../wire/protobuf/decode-proto.ts'
import { encodeProto } from '../../wire/protobuf/encode-proto.ts'
import { healthCheck } from './health-messages.ts'
import { nodePodDialer } from './node-pod-dialer.ts'
import { authorityOf } from './pod-dialer.ts'

const { signal } = new AbortController()
const reach = nodePodDialer(nodePlatform.http2, realClock)

test('a connection carries bytes; a closed port refuses it', async () => {
  const server = createServer((socket) => socket.end('hello'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const target = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  const stream = await reach.connect(target, false, signal)
  let received = ''
  for await (const piece of stream.pieces) received += new TextDecoder().decode(piece)
  equal(received, 'hello')
  stream.destroy()
  server.close()
  const closed = { host: '127.0.0.1', port: 1 }
  const refused = new Unreachable(`dial tcp ${authorityOf(closed)}: connect: connection refused`)
  await rejects(reach.connect(closed, false, signal), refused)
  await rejects(reach.checkHealth(closed, '', signal), GrpcError)
})

test('a connection that is aborted, before or while it is made, fails with the reason', async () => {
  const target = { host: '127.0.0.1', port: 1 }
  const reason = new Error('given up')
  await rejects(reach.connect(target, false, AbortSignal.abort(reason)), reason)
  // A peer that never answers the handshake.
  const server = createServer(() => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const abort = new AbortController()
  const silent = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  const failing = rejects(reach.connect(silent, true, abort.signal), reason)
  await accepted
  abort.abort(reason)
  await failing
  server.close()
})

test('the gRPC health service reports the status of each service', async () => {
  await using server = await serveGrpc({
    async [healthCheck.path]({ messages, send, finish }) {
      let asked = ''
      for await (const message of messages) asked = decodeProto(healthCheck.request, message).service
      send(encodeProto(healthCheck.response, { status: asked === 'up' ? 'SERVING' : 'NOT_SERVING' }))
      finish(0)
    },
  })
  const target = { host: '127.0.0.1', port: Number(new URL(server.endpoint).port) }
  equal(await reach.checkHealth(target, 'up', signal), 'SERVING')
  equal(await reach.checkHealth(target, 'down', signal), 'NOT_SERVING')
})

test('an IPv6 address is written in brackets', () =>
  equal(authorityOf({ host: '2001:db8::1', port: 80 }), '[2001:db8::1]:80'))
