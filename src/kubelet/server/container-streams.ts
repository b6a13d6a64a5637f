// Streams into containers: exec, attach and port forwarding. SPDY clients are connected to the runtime's streaming
// server byte for byte; the channels of WebSocket clients are converted to SPDY streams.
import { lookup } from '../../base/collections/lookup.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { InflateRaw } from '../../platform/inflate.ts'
import type { WireResponse, WireRequest } from '../../platform/http/listener.ts'
import type { OutboundExchange, OutboundProvider } from '../../platform/http/outbound.ts'
import { copyStream, joinStreams } from '../../wire/byte-pipe.ts'
import {
  joinCommandStreams,
  openSpdyStreams,
  webSocketStreams,
  type CommandStreamOptions,
  type CommandStreams,
} from '../../wire/remote-command/command-streams.ts'
import {
  isSpdyUpgrade,
  channelProtocols,
  commandProtocol,
  offeredSpdyProtocols,
  portForwardProtocol,
  spdyUpgradeHeaders,
  sendsStatus,
  tunneledPortForwardProtocol,
} from '../../wire/remote-command/stream-protocols.ts'
import { SpdySession } from '../../wire/spdy/spdy-session.ts'
import { WebSocketChannels } from '../../wire/websocket/websocket-channels.ts'
import { webSocketTunnel, WebSocketConnection } from '../../wire/websocket/websocket-connection.ts'
import {
  isWebSocketUpgrade,
  offeredWebSocketProtocols,
  webSocketUpgradeHeaders,
} from '../../wire/websocket/websocket-handshake.ts'
import { KubeletHttpError } from './kubelet-host.ts'

export interface StreamDeps {
  readonly outbound: Pick<OutboundProvider, 'exchange'>
  readonly sha1: (text: string) => Uint8Array
  readonly inflateRaw: InflateRaw
}

/** The negotiated protocol of a client; throws when there is none in common. */
export type ClientProtocol =
  | { readonly kind: 'spdy'; readonly protocol: string }
  | { readonly kind: 'tunnel'; readonly protocol: string }
  /** Without a subprotocol the client uses the first one. */
  | { readonly kind: 'channels'; readonly protocol: string | undefined; readonly encoding: 'binary' | 'base64' }

export function clientProtocol({ headers, upgrade }: WireRequest, spdyProtocol: string): ClientProtocol {
  if (!upgrade) throw new KubeletHttpError(400, 'Upgrade request required')
  if (isWebSocketUpgrade(headers)) {
    const offered = offeredWebSocketProtocols(headers)
    if (spdyProtocol === portForwardProtocol && offered.includes(tunneledPortForwardProtocol))
      return { kind: 'tunnel', protocol: tunneledPortForwardProtocol }
    if (offered.length === 0) return { kind: 'channels', protocol: undefined, encoding: 'binary' }
    const protocol = offered.find((name) => Object.hasOwn(channelProtocols, name))
    const encoding = lookup(channelProtocols, protocol ?? '')
    if (protocol !== undefined && encoding !== undefined) return { kind: 'channels', protocol, encoding }
    throw negotiationError(offered, Object.keys(channelProtocols))
  }
  if (!isSpdyUpgrade(headers)) throw new KubeletHttpError(400, 'unable to upgrade: missing upgrade headers in request')
  const offered = offeredSpdyProtocols(headers)
  if (offered.includes(spdyProtocol)) return { kind: 'spdy', protocol: spdyProtocol }
  throw negotiationError(offered, [spdyProtocol])
}

const negotiationError = (offered: readonly string[], accepted: readonly string[]): KubeletHttpError =>
  new KubeletHttpError(
    403,
    `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(' ')}], server accepts [${accepted.join(' ')}]`,
  )

/** Accepts a WebSocket upgrade. */
export const webSocketUpgrade = (
  { headers }: WireRequest,
  protocol: string | undefined,
  sha1: StreamDeps['sha1'],
  takeOver: (connection: WebSocketConnection) => Promise<void>,
): WireResponse => ({
  status: 101,
  headers: webSocketUpgradeHeaders(headers, protocol, sha1),
  body: '',
  onUpgrade: (socket) => takeOver(new WebSocketConnection(socket)),
})

/** Connects a client with a command of the runtime's streaming server at `url`. */
export async function streamCommand(
  request: WireRequest,
  shape: CommandStreamOptions,
  url: string,
  deps: StreamDeps,
): Promise<WireResponse> {
  const client = clientProtocol(request, commandProtocol)
  const opened = await openAt(url, commandProtocol, deps, request.signal)
  if (opened.kind === 'answer') return opened
  if (client.kind !== 'channels') return upgradeResponse(opened)
  const { protocol, encoding } = client
  return webSocketUpgrade(request, protocol, deps.sha1, async (connection) => {
    const session = new SpdySession(opened.stream, 'client', deps.inflateRaw)
    const channels = new WebSocketChannels(connection, encoding)
    const streams = webSocketStreams(channels, shape, sendsStatus(protocol))
    const running = channels.run()
    const sessionRunning = session.run()
    for (const promise of [running, sessionRunning]) promise.catch(() => {}) // joinCommand awaits them
    try {
      await sendConnected(streams)
      await joinCommandStreams(
        { connection: channels, streams, running },
        { connection: session, streams: await openSpdyStreams(session, shape), running: sessionRunning },
      )
    } finally {
      opened.stream.end()
    }
  })
}

/** WebSocket clients treat the first, empty message as the confirmation of the connection. */
export const sendConnected = async (streams: CommandStreams): Promise<void> =>
  (streams.get('stdout') ?? streams.get('stderr') ?? streams.get('error'))?.write(new Uint8Array())

/** Connects a client with forwarded ports of the streaming server that `open` connects to. */
export async function streamPorts(
  request: WireRequest,
  ports: readonly number[],
  open: () => Promise<UpgradedExchange | ({ readonly kind: 'answer' } & WireResponse)>,
  deps: Pick<StreamDeps, 'sha1' | 'inflateRaw'>,
): Promise<WireResponse> {
  const client = clientProtocol(request, portForwardProtocol)
  if (client.kind === 'channels' && ports.length === 0)
    throw new KubeletHttpError(400, 'query parameter "port" is required')
  const opened = await open()
  if (opened.kind === 'answer') return opened
  if (client.kind === 'spdy') return upgradeResponse(opened)
  return webSocketUpgrade(request, client.protocol, deps.sha1, (connection) =>
    client.kind === 'tunnel'
      ? joinStreams(webSocketTunnel(connection), opened.stream)
      : joinPorts(
          new WebSocketChannels(connection, client.encoding),
          new SpdySession(opened.stream, 'client', deps.inflateRaw),
          ports,
        ),
  )
}

/** Two channels per port: data and errors. Each starts with the port number. */
async function joinPorts(channels: WebSocketChannels, session: SpdySession, ports: readonly number[]): Promise<void> {
  const pairs = ports.map((port, index) => ({
    port,
    data: channels.channel(index * 2),
    error: channels.channel(index * 2 + 1),
  }))
  const sessionRunning = session.run().catch(() => {}) // its streams end with it
  const close = () => session.close()
  const channelsRunning = channels.run().then(close, close)
  const forward = async (port: number, data: ByteStream, error: ByteStream, index: number) => {
    const headers = { port: String(port), requestid: String(index) }
    const errorStream = await session.open({ ...headers, streamtype: 'error' })
    errorStream.end()
    const dataStream = await session.open({ ...headers, streamtype: 'data' })
    for (const channel of [data, error]) await channel.write(Uint8Array.of(port & 0xff, port >> 8))
    const upload = copyStream(data.pieces, dataStream)
    await Promise.all([copyStream(dataStream.pieces, data), copyStream(errorStream.pieces, error)])
    data.destroy() // clients cannot half-close a channel
    await upload
  }
  await Promise.allSettled(pairs.map(({ port, data, error }, index) => forward(port, data, error, index)))
  await channels.close()
  await session.close()
  await Promise.all([sessionRunning, channelsRunning])
}

type UpgradedExchange = Extract<OutboundExchange, { kind: 'upgraded' }>

export async function openAt(
  url: string,
  protocol: string,
  { outbound }: StreamDeps,
  signal: AbortSignal,
): Promise<UpgradedExchange | ({ readonly kind: 'answer' } & WireResponse)> {
  const { origin, pathname, search } = new URL(url)
  const request = { method: 'POST', target: `${pathname}${search}`, headers: spdyUpgradeHeaders(protocol) }
  return outbound.exchange({ origin, tls: {} }, request, signal)
}

const upgradeResponse = ({ headers, stream }: UpgradedExchange): WireResponse => ({
  status: 101,
  headers,
  body: '',
  onUpgrade: (socket) => joinStreams(socket, stream),
})
