// The stream protocols of Kubernetes clients and runtimes, and their negotiation.
import { parseHeaderList, type RequestHeaders } from '../websocket/websocket-handshake.ts'
import type { ChannelEncoding } from '../websocket/websocket-channels.ts'

export const spdyVersion = 'SPDY/3.1'
export const spdyProtocolHeader = 'x-stream-protocol-version'

/** For exec and attach over SPDY; v5 differs from it only on a WebSocket. */
export const commandProtocol = 'v4.channel.k8s.io'
export const portForwardProtocol = 'portforward.k8s.io'
/** Port forwarding over SPDY in a WebSocket, which kubectl requests since 1.31. */
export const tunneledPortForwardProtocol = `${spdyVersion}+${portForwardProtocol}`

/** For exec and attach over WebSocket, and for port forwarding with one pair of channels per port. */
export const channelProtocols: Readonly<Record<string, ChannelEncoding>> = {
  'v5.channel.k8s.io': 'binary',
  'v4.channel.k8s.io': 'binary',
  'v4.base64.channel.k8s.io': 'base64',
  'channel.k8s.io': 'binary',
  'base64.channel.k8s.io': 'base64',
}

/** Before v4 the error channel carried a message, and nothing for success. */
export const sendsStatus = (protocol: string | undefined): boolean => /^v[45]\./.test(protocol ?? '')

export const isSpdyUpgrade = (headers: RequestHeaders): boolean =>
  headers['upgrade']?.toLowerCase() === spdyVersion.toLowerCase()

/** The protocols that a SPDY client offers, best first. */
export const offeredSpdyProtocols = (headers: RequestHeaders): readonly string[] =>
  parseHeaderList(headers[spdyProtocolHeader] ?? '')

/** The headers of a SPDY upgrade request and of its response. */
export const spdyUpgradeHeaders = (protocol: string): Record<string, string> => ({
  connection: 'Upgrade',
  upgrade: spdyVersion,
  [spdyProtocolHeader]: protocol,
})
