// Streams into containers of a runtime without a streaming server, such as the simulated one.
import type { LocalStreams, ProcessStreams } from '../../machine/runtime/container-runtime.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { WireResponse, WireRequest } from '../../platform/http/listener.ts'
import { byteStreamPair, joinStreams } from '../../wire/byte-pipe.ts'
import {
  acceptSpdyStreams,
  exitStatus,
  failureStatus,
  webSocketStreams,
  type StreamConnection,
  type CommandStreamOptions,
  type CommandStreams,
} from '../../wire/remote-command/command-streams.ts'
import { commandProtocol, spdyUpgradeHeaders, sendsStatus } from '../../wire/remote-command/stream-protocols.ts'
import { SpdySession } from '../../wire/spdy/spdy-session.ts'
import { WebSocketChannels } from '../../wire/websocket/websocket-channels.ts'
import { errorText } from '../../base/observability/log.ts'
import { clientProtocol, sendConnected, webSocketUpgrade, type StreamDeps } from './container-streams.ts'

/** Runs a command to its end; resolves with the exit code. The signal is aborted when the client disconnects. */
export type LocalCommand = (io: ProcessStreams, signal: AbortSignal) => Promise<number>

export function serveCommand(
  request: WireRequest,
  shape: CommandStreamOptions,
  command: LocalCommand,
  { sha1, inflateRaw }: Pick<StreamDeps, 'sha1' | 'inflateRaw'>,
): WireResponse {
  const client = clientProtocol(request, commandProtocol)
  if (client.kind === 'channels')
    return webSocketUpgrade(request, client.protocol, sha1, async (connection) => {
      const channels = new WebSocketChannels(connection, client.encoding)
      const streams = webSocketStreams(channels, shape, sendsStatus(client.protocol))
      const running = channels.run()
      running.catch(() => {}) // serve awaits it
      await sendConnected(streams)
      await serve(channels, streams, running, onTerminal(shape, command))
    })
  return {
    status: 101,
    headers: spdyUpgradeHeaders(commandProtocol),
    body: '',
    async onUpgrade(socket) {
      const session = new SpdySession(socket, 'server', inflateRaw)
      const running = session.run()
      running.catch(() => {}) // serve awaits it
      await serve(session, await acceptSpdyStreams(session, shape), running, onTerminal(shape, command))
    },
  }
}

const onTerminal =
  ({ tty }: CommandStreamOptions, command: LocalCommand): LocalCommand =>
  (io, signal) =>
    command(tty ? { ...io, isTerminal: true } : io, signal)

async function serve(
  carrier: StreamConnection,
  streams: CommandStreams,
  running: Promise<void>,
  command: LocalCommand,
): Promise<void> {
  const disconnected = new AbortController()
  const disconnect = () => disconnected.abort(new DOMException('the client went away', 'AbortError'))
  const over = running.then(disconnect, disconnect)
  const [input, stdout, stderr] = (['stdin', 'stdout', 'stderr'] as const).map((name) => streams.get(name))
  const io: ProcessStreams = {
    stdin: input?.pieces ?? nothing,
    stdout: async (piece) => stdout?.write(piece),
    // With a TTY both streams are one.
    stderr: async (piece) => (stderr ?? stdout)?.write(piece),
  }
  const status = await command(io, disconnected.signal).then(exitStatus, (error: unknown) =>
    failureStatus(errorText(error)),
  )
  input?.destroy() // unread input is dropped
  await streams
    .get('error')
    ?.write(status)
    .catch(() => {}) // the client has disconnected
  for (const stream of streams.values()) stream.end()
  await carrier.close()
  await over
}

const nothing: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
}

/** The ports of a pod as a SPDY streaming server would offer them; returns the client's end of the connection. */
export function localPorts(
  streams: LocalStreams,
  sandboxId: string,
  { inflateRaw }: Pick<StreamDeps, 'inflateRaw'>,
): ByteStream {
  const [near, far] = byteStreamPair(portBytesMax)
  const session = new SpdySession(far, 'server', inflateRaw)
  const disconnected = new AbortController()
  const disconnect = () => disconnected.abort()
  void session.run().then(disconnect, disconnect)
  void servePorts(session, (port) => streams.connect(sandboxId, port, disconnected.signal))
  return near
}

const portBytesMax = 256 * 1024

/** Streams come in pairs with a common request id: data and error. */
async function servePorts(session: SpdySession, connect: (port: number) => Promise<ByteStream>): Promise<void> {
  const errors = new Map<string, ByteStream>()
  for await (const stream of session.incoming) {
    const { streamtype, port = '', requestid = '' } = stream.headers
    if (streamtype === 'error') {
      errors.set(requestid, stream)
      continue
    }
    const error = errors.get(requestid)
    errors.delete(requestid)
    void connect(Number(port))
      .then((connection) => joinStreams(stream, connection))
      .catch((failure: unknown) =>
        error?.write(new TextEncoder().encode(`error forwarding port ${port} to pod: ${errorText(failure)}`)),
      )
      .catch(() => {}) // the client has disconnected
      .finally(() => {
        error?.end()
        stream.end()
      })
  }
}
