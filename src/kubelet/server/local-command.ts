// Commands in containers of a runtime without a streaming server: what the runtime prints is handed to the client here.
import type { WireAnswer, WireRequest } from '../../platform/listener.ts'
import {
  acceptOverSpdy,
  failureStatus,
  overWebSocket,
  type Carrier,
  type CommandShape,
  type CommandStreams,
} from '../../wire/remote/command.ts'
import { commandProtocol, spdyHeaders } from '../../wire/remote/protocols.ts'
import { SpdySession } from '../../wire/spdy/session.ts'
import { WebSocketChannels } from '../../wire/websocket/channels.ts'
import { errorText } from '../../base/log.ts'
import { clientProtocol, sayConnected, webSocketTaken, type StreamParts } from './streams.ts'

/** Writes what the command prints; resolves with how it ended. The signal is aborted when the client goes away. */
export type LocalCommand = (streams: CommandStreams, signal: AbortSignal) => Promise<Uint8Array>

export function serveCommand(
  request: WireRequest,
  shape: CommandShape,
  command: LocalCommand,
  { sha1 }: Pick<StreamParts, 'sha1'>,
): WireAnswer {
  const client = clientProtocol(request, commandProtocol)
  if (client.kind === 'channels')
    return webSocketTaken(request, client.protocol, sha1, async (connection) => {
      const channels = new WebSocketChannels(connection, client.encoding)
      const streams = overWebSocket(channels, shape)
      const running = channels.run()
      running.catch(() => {}) // serve looks at it at its end
      await sayConnected(streams)
      await serve(channels, streams, running, command)
    })
  return {
    status: 101,
    headers: spdyHeaders(commandProtocol),
    body: '',
    async takeOver(socket) {
      const session = new SpdySession(socket, 'server')
      const running = session.run()
      running.catch(() => {}) // serve looks at it at its end
      await serve(session, await acceptOverSpdy(session, shape), running, command)
    },
  }
}

async function serve(
  carrier: Carrier,
  streams: CommandStreams,
  running: Promise<void>,
  command: LocalCommand,
): Promise<void> {
  const gone = new AbortController()
  const leave = () => gone.abort(new DOMException('the client went away', 'AbortError'))
  const over = running.then(leave, leave)
  const input = streams.get('stdin')
  const dropped = input === undefined ? Promise.resolve() : drop(input.pieces)
  const status = await command(streams, gone.signal).catch((error: unknown) => failureStatus(errorText(error)))
  await streams
    .get('error')
    ?.write(status)
    .catch(() => {}) // nobody is there to be told
  for (const stream of streams.values()) stream.end()
  await carrier.close()
  await Promise.all([over, dropped])
}

async function drop(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of pieces);
}
