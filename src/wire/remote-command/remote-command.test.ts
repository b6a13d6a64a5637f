// Remote commands: which streams they have, how each protocol transports them, and how two connections are joined.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { nodeInflateRaw } from '../../platform/node/inflate.ts'
import { byteStreamPair } from '../byte-pipe.ts'
import { SpdySession } from '../spdy/spdy-session.ts'
import {
  acceptSpdyStreams,
  exitStatus,
  failureStatus,
  joinCommandStreams,
  openSpdyStreams,
  webSocketStreams,
  streamNamesOf,
  type CommandStreamOptions,
} from './command-streams.ts'
import { WebSocketChannels } from '../websocket/websocket-channels.ts'
import { WebSocketConnection } from '../websocket/websocket-connection.ts'
import { isSpdyUpgrade, offeredSpdyProtocols, spdyUpgradeHeaders, sendsStatus } from './stream-protocols.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const textOf = async (pieces: AsyncIterable<Uint8Array> = (async function* () {})()) => {
  let text = ''
  for await (const piece of pieces) text += decode(piece)
  return text
}

const shapes: [shape: Partial<CommandStreamOptions>, streams: string[]][] = [
  [{ stdout: true, stderr: true }, ['stdout', 'stderr', 'error']],
  [{ stdin: true, stdout: true, tty: true }, ['stdin', 'stdout', 'error', 'resize']],
  [{}, ['error']],
]
const none: CommandStreamOptions = { tty: false, stdin: false, stdout: false, stderr: false }
for (const [shape, streams] of shapes)
  test(`the streams of a command with ${Object.keys(shape).join(', ') || 'nothing'}`, () =>
    deepEqual(streamNamesOf({ ...none, ...shape }), streams))

test('a SPDY upgrade is recognised by its headers', () => {
  const headers = spdyUpgradeHeaders('v4.channel.k8s.io')
  deepEqual([isSpdyUpgrade(headers), isSpdyUpgrade({ upgrade: 'websocket' })], [true, false])
  deepEqual(offeredSpdyProtocols({ 'x-stream-protocol-version': 'v5.channel.k8s.io, v4.channel.k8s.io' }), [
    'v5.channel.k8s.io',
    'v4.channel.k8s.io',
  ])
})

test('the exit status contains the exit code', () => {
  deepEqual(JSON.parse(decode(exitStatus(0))), { metadata: {}, status: 'Success' })
  const failed = JSON.parse(decode(exitStatus(7)))
  deepEqual([failed.reason, failed.details], ['NonZeroExitCode', { causes: [{ reason: 'ExitCode', message: '7' }] }])
  equal(JSON.parse(decode(failureStatus('no'))).message, 'no')
})

function sessions() {
  const [near, far] = byteStreamPair(100_000)
  const client = new SpdySession(near, 'client', nodeInflateRaw)
  const server = new SpdySession(far, 'server', nodeInflateRaw)
  return { client, server, clientRunning: client.run(), serverRunning: server.run() }
}

const shape = { ...none, stdin: true, stdout: true }

test('the streams of a client and a runtime are joined until the command has ended', async () => {
  const left = sessions()
  const right = sessions()
  const [client, near] = await Promise.all([openSpdyStreams(left.client, shape), acceptSpdyStreams(left.server, shape)])
  const [far, runtime] = await Promise.all([
    openSpdyStreams(right.client, shape),
    acceptSpdyStreams(right.server, shape),
  ])
  const joined = joinCommandStreams(
    { connection: left.server, streams: near, running: left.serverRunning },
    { connection: right.client, streams: far, running: right.clientRunning },
  )
  await client.get('stdin')?.write(encode('in'))
  client.get('stdin')?.end()
  equal(await textOf(runtime.get('stdin')?.pieces), 'in')
  await runtime.get('stdout')?.write(encode('out'))
  await runtime.get('error')?.write(exitStatus(3))
  for (const stream of runtime.values()) stream.end()
  equal(await textOf(client.get('stdout')?.pieces), 'out')
  equal(await textOf(client.get('error')?.pieces), decode(exitStatus(3)))
  await joined
  await Promise.all([left.clientRunning, right.serverRunning])
})

test('waiting for streams ends when the client disconnects without opening them', async () => {
  const { client, server, clientRunning, serverRunning } = sessions()
  const accepting = acceptSpdyStreams(server, shape)
  accepting.catch(() => {})
  await client.open({ streamtype: 'error' })
  await client.close()
  await rejects(accepting, /did not open its streams stdin, stdout/)
  await Promise.all([clientRunning, serverRunning])
})

const protocols: [protocol: string | undefined, success: string, failure: string][] = [
  ['v5.channel.k8s.io', decode(exitStatus(0)), decode(exitStatus(3))],
  ['v4.channel.k8s.io', decode(exitStatus(0)), decode(exitStatus(3))],
  ['channel.k8s.io', '', 'command terminated with non-zero exit code: exit code 3'],
  [undefined, '', 'command terminated with non-zero exit code: exit code 3'],
]
for (const [protocol, success, failure] of protocols)
  test(`the exit status over ${protocol ?? 'no protocol'}`, async () => {
    const received = async (status: Uint8Array): Promise<string> => {
      const [near, far] = byteStreamPair(100_000)
      const client = new WebSocketConnection(near, () => new Uint8Array(4))
      const channels = new WebSocketChannels(new WebSocketConnection(far), 'binary')
      const error = webSocketStreams(channels, none, sendsStatus(protocol)).get('error')
      const running = channels.run()
      // The Status may arrive in pieces.
      await error?.write(status.subarray(0, 9))
      await error?.write(status.subarray(9))
      await channels.close()
      let text = ''
      for await (const { bytes } of client.messages()) text += decode(bytes.subarray(1))
      await running
      return text
    }
    deepEqual([await received(exitStatus(0)), await received(exitStatus(3))], [success, failure])
  })
