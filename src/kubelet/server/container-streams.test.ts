// Exec, attach and port forwarding of the kubelet's server, over both protocols.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import type { RemoteStreams } from '../../machine/runtime/container-runtime.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { nodeInflateRaw } from '../../platform/node/inflate.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import type { OutboundProvider } from '../../platform/http/outbound.ts'
import { byteStreamPair } from '../../wire/byte-pipe.ts'
import { acceptSpdyStreams, exitStatus, openSpdyStreams } from '../../wire/remote-command/command-streams.ts'
import { SpdySession } from '../../wire/spdy/spdy-session.ts'
import { webSocketTunnel, WebSocketConnection } from '../../wire/websocket/websocket-connection.ts'
import { decode, encode, startNode, textOf } from './kubelet-server.harness.ts'

const webSocket = (protocol: string) => ({
  upgrade: 'websocket',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': protocol,
})
const spdy = (protocol: string) => ({ upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol })

/** Completes an upgrade; returns the client's end of the connection. */
function taken(answer: WireResponse): { socket: ByteStream; over: Promise<void> } {
  equal(answer.status, 101)
  const [client, server] = byteStreamPair(1_000_000)
  return {
    socket: client,
    over: answer.onUpgrade?.(server) ?? Promise.reject(new Error('the response has no upgrade')),
  }
}

async function messagesOf(connection: WebSocketConnection): Promise<string[]> {
  const received: string[] = []
  for await (const { bytes } of connection.messages()) received.push(`${bytes[0]}:${decode(bytes.subarray(1))}`)
  return received
}

const mask = () => Uint8Array.of(9, 8, 7, 6)

test('a command runs to its end for a client of WebSocket', async () => {
  const { ask } = await startNode()
  const answer = await ask('/exec/default/web/main?output=1&error=1&input=1&command=a&command=b', {
    headers: webSocket('v5.channel.k8s.io, v4.channel.k8s.io'),
  })
  equal(answer.headers['sec-websocket-protocol'], 'v5.channel.k8s.io')
  const { socket, over } = taken(answer)
  const received = await messagesOf(new WebSocketConnection(socket, mask))
  socket.end()
  await over
  deepEqual(received, ['1:', '1:a b', '2:warned', `3:${decode(exitStatus(2))}`])
})

test('a command runs to its end for a client of SPDY', async () => {
  const { ask } = await startNode()
  const answer = await ask('/exec/default/web/main?output=1&error=1&command=a', {
    method: 'POST',
    headers: spdy('v5.channel.k8s.io, v4.channel.k8s.io'),
  })
  equal(answer.headers['x-stream-protocol-version'], 'v4.channel.k8s.io')
  const { socket, over } = taken(answer)
  const session = new SpdySession(socket, 'client', nodeInflateRaw)
  const running = session.run()
  const streams = await openSpdyStreams(session, { tty: false, stdin: false, stdout: true, stderr: true })
  const received = await Promise.all(
    ['stdout', 'stderr', 'error'].map((name) =>
      textOf({ ...answer, body: streams.get(name as 'stdout')?.pieces ?? '' }),
    ),
  )
  await session.close()
  await Promise.all([over, running])
  deepEqual(received, ['a', 'warned', decode(exitStatus(1))])
})

test('a client that attaches to a simulated container gets its output from now on', async () => {
  const { ask, end } = await startNode()
  const answer = await ask('/attach/default/web/main?output=1', { headers: webSocket('v4.channel.k8s.io') })
  const { socket, over } = taken(answer)
  const received = messagesOf(new WebSocketConnection(socket, mask))
  await eventLoopTurn() // the client is attached now
  end()
  const all = await received
  socket.end()
  await over
  deepEqual(all, ['1:', '1:bye\n', `3:${decode(exitStatus(0))}`])
})

test('a simulated command gets its input as it arrives', async () => {
  const { ask } = await startNode()
  const answer = await ask('/exec/default/web/main?input=1&output=1&command=cat', {
    headers: webSocket('v5.channel.k8s.io'),
  })
  const { socket, over } = taken(answer)
  const client = new WebSocketConnection(socket, mask)
  await client.sendBinary(encode('typed'), Uint8Array.of(0))
  await client.sendBinary(Uint8Array.of(255, 0))
  const received = await messagesOf(client)
  socket.end()
  await over
  deepEqual(received, ['1:', '1:TYPED', `3:${decode(exitStatus(0))}`])
})

test('port forwarding to a simulated pod carries bytes both ways and reports closed ports', async () => {
  const { ask } = await startNode()
  const answer = await ask('/portForward/default/web', { headers: spdy('portforward.k8s.io') })
  const { socket, over } = taken(answer)
  const session = new SpdySession(socket, 'client', nodeInflateRaw)
  const running = session.run()
  const forward = async (port: string) => {
    const error = await session.open({ streamtype: 'error', port, requestid: port })
    const data = await session.open({ streamtype: 'data', port, requestid: port })
    await data.write(encode('GET /x HTTP/1.1\r\nHost: web\r\nConnection: close\r\n\r\n'))
    const read = await textOf({ ...answer, body: data.pieces })
    data.end()
    return `${read}${await textOf({ ...answer, body: error.pieces })}`
  }
  match(await forward('80'), /^HTTP\/1\.1 200 .*\r\n\r\npage \/x$/s)
  match(await forward('81'), /^error forwarding port 81 to pod: .*connection refused/)
  await session.close()
  socket.end()
  await Promise.all([over, running])
})

/** A runtime with a SPDY streaming server, implemented by `serve`. */
function streamingRuntime(serve: (session: SpdySession) => Promise<void>) {
  const asked: string[] = []
  const played: Promise<unknown>[] = []
  const url = (path: string) => Promise.resolve(`http://127.0.0.1:1/${path}`)
  const streams: RemoteStreams = {
    kind: 'remote',
    execUrl: (_id, { command }) => url(`exec/${command.join('+')}`),
    attachUrl: () => url('attach'),
    portForwardUrl: () => url('ports'),
  }
  const exchange: OutboundProvider['exchange'] = ({ origin }, { target, headers }) => {
    asked.push(`${origin}${target} ${headers['x-stream-protocol-version']}`)
    const [near, far] = byteStreamPair(1_000_000)
    const session = new SpdySession(far, 'server', nodeInflateRaw)
    played.push(session.run(), serve(session))
    return Promise.resolve({ kind: 'upgraded', headers: spdy('chosen by the runtime'), stream: near })
  }
  return { streams, exchange, asked, played }
}

const shape = { tty: false, stdin: true, stdout: true, stderr: false }

test('WebSocket channels are converted to streams of the runtime, with the end of stdin and the status', async () => {
  const { streams, exchange, asked, played } = streamingRuntime(async (session) => {
    const accepted = await acceptSpdyStreams(session, shape)
    let input = ''
    for await (const piece of accepted.get('stdin')?.pieces ?? []) input += decode(piece)
    await accepted.get('stdout')?.write(encode(`got ${input}`))
    accepted.get('stdout')?.end()
    await accepted.get('error')?.write(exitStatus(7))
    accepted.get('error')?.end()
    await session.close()
  })
  const { ask } = await startNode({ streams, exchange })
  const answer = await ask('/exec/default/web/main?input=1&output=1&command=cat', {
    headers: webSocket('v5.channel.k8s.io'),
  })
  const { socket, over } = taken(answer)
  const client = new WebSocketConnection(socket, mask)
  await client.sendBinary(encode('in'), Uint8Array.of(0))
  await client.sendBinary(Uint8Array.of(255, 0))
  const received = await messagesOf(client)
  socket.end()
  await over
  await Promise.all(played)
  deepEqual(received, ['1:', '1:got in', `3:${decode(exitStatus(7))}`])
  deepEqual(asked, ['http://127.0.0.1:1/exec/cat v4.channel.k8s.io'])
})

test('a client that disconnects ends the stream of the runtime', async () => {
  const ended = Promise.withResolvers<string>()
  const { streams, exchange, played } = streamingRuntime(async (session) => {
    const accepted = await acceptSpdyStreams(session, shape)
    let input = ''
    for await (const piece of accepted.get('stdin')?.pieces ?? []) input += decode(piece)
    ended.resolve(input)
  })
  const { ask } = await startNode({ streams, exchange })
  const answer = await ask('/attach/default/web/main?input=1&output=1', { headers: webSocket('v4.channel.k8s.io') })
  const { socket, over } = taken(answer)
  await new WebSocketConnection(socket, mask).sendBinary(encode('in'), Uint8Array.of(0))
  socket.end()
  equal(await ended.promise, 'in')
  await Promise.all([over, ...played])
})

test('port forwarding over WebSocket uses two channels per port, which start with its number', async () => {
  const { streams, exchange, played } = streamingRuntime(async (session) => {
    for await (const stream of session.incoming) {
      if (stream.headers['streamtype'] === 'error') stream.end()
      else {
        for await (const piece of stream.pieces) {
          await stream.write(encode(`${stream.headers['port']} got ${decode(piece)}`))
          break
        }
        stream.end()
      }
    }
  })
  const { ask } = await startNode({ streams, exchange })
  const answer = await ask('/portForward/default/web?ports=8080', { headers: webSocket('v4.channel.k8s.io') })
  const { socket, over } = taken(answer)
  const client = new WebSocketConnection(socket, mask)
  await client.sendBinary(encode('x'), Uint8Array.of(0))
  const received = await messagesOf(client)
  socket.end()
  await Promise.all([over, ...played])
  const number = decode(Uint8Array.of(8080 & 0xff, 8080 >> 8))
  deepEqual(received, [`0:${number}`, `1:${number}`, '0:8080 got x'])
})

test('SPDY is passed through byte for byte, also inside of a WebSocket', async () => {
  for (const how of ['SPDY', 'WebSocket'] as const) {
    const { streams, exchange, asked, played } = streamingRuntime(async (session) => {
      for await (const stream of session.incoming) {
        await stream.write(encode(`port ${stream.headers['port']}`))
        stream.end()
        for await (const _ of stream.pieces);
      }
    })
    const { ask } = await startNode({ streams, exchange })
    const headers = how === 'SPDY' ? spdy('portforward.k8s.io') : webSocket('SPDY/3.1+portforward.k8s.io')
    const answer = await ask('/portForward/default/web', { headers })
    const { socket, over } = taken(answer)
    const bytes = how === 'SPDY' ? socket : webSocketTunnel(new WebSocketConnection(socket, mask))
    const session = new SpdySession(bytes, 'client', nodeInflateRaw)
    const running = session.run()
    const stream = await session.open({ streamtype: 'data', port: '80', requestid: '0' })
    stream.end()
    equal(await textOf({ ...answer, body: stream.pieces }), 'port 80')
    await session.close()
    socket.end()
    await Promise.all([over, running, ...played])
    deepEqual(asked, ['http://127.0.0.1:1/ports portforward.k8s.io'])
  }
})
