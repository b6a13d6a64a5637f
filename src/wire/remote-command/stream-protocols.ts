// The protocols in which clients and runtimes of Kubernetes speak about streams, and which of them is chosen.
import { parseHeaderList, type RequestHeaders } from '../websocket/websocket-handshake.ts'
import type { ChannelEncoding } from '../websocket/websocket-channels.ts'

export const spdyVersion = 'SPDY/3.1'
export const spdyProtocolHeader = 'x-stream-protocol-version'

/** Of exec and attach over SPDY; v5 differs from it on a WebSocket only. */
export const commandProtocol = 'v4.channel.k8s.io'
export const portForwardProtocol = 'portforward.k8s.io'
/** Ports over SPDY, and that inside of a WebSocket: what kubectl asks for from 1.31 on. */
export const tunneledPortForwardProtocol = `${spdyVersion}+${portForwardProtocol}`

/** Of exec, attach and, with one pair of channels for each port, port-forward over WebSocket. */
export const channelProtocols: Readonly<Record<string, ChannelEncoding>> = {
  'v5.channel.k8s.io': 'binary',
  'v4.channel.k8s.io': 'binary',
  'v4.base64.channel.k8s.io': 'base64',
  'channel.k8s.io': 'binary',
  'base64.channel.k8s.io': 'base64',
}

/** Before v4 the error channel carried a message, and nothing where the command succeeded. */
export const sendsStatus = (protocol: string | undefined): boolean => /^v[45]\./.test(protocol ?? '')

export const isSpdyUpgrade = (headers: RequestHeaders): boolean =>
  headers['upgrade']?.toLowerCase() === spdyVersion.toLowerCase()

/** What a client of SPDY offers, best first. */
export const offeredSpdyProtocols = (headers: RequestHeaders): readonly string[] =>
  parseHeaderList(headers[spdyProtocolHeader] ?? '')

/** The headers with which SPDY is asked for and agreed to. */
export const spdyUpgradeHeaders = (protocol: string): Record<string, string> => ({
  connection: 'Upgrade',
  upgrade: spdyVersion,
  [spdyProtocolHeader]: protocol,
})
