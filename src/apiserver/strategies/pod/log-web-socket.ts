// A log over WebSocket: each piece is one message, and the connection is closed at the end of the log.
import { badRequest } from '../../../api/errors/status-error.ts'
import type { WireResponse } from '../../../platform/http/listener.ts'
import { WebSocketConnection } from '../../../wire/websocket/websocket-connection.ts'
import {
  offeredWebSocketProtocols,
  webSocketUpgradeHeaders,
  type RequestHeaders,
} from '../../../wire/websocket/websocket-handshake.ts'
import type { ApiResponse } from '../../request/response.ts'

type Encoding = 'binary' | 'base64'

const encodings = new Map<string, Encoding>([
  ['binary.k8s.io', 'binary'],
  ['base64.binary.k8s.io', 'base64'],
])

/** `ask` requests the log as plain bytes. */
export async function logOverWebSocket(
  headers: RequestHeaders,
  ask: (headers: RequestHeaders) => Promise<WireResponse>,
): Promise<ApiResponse> {
  const offered = offeredWebSocketProtocols(headers)
  const protocol = offered.find((name) => encodings.has(name))
  const encoding = encodings.get(protocol ?? '') ?? 'binary'
  // As upstream: the protocol is negotiated after the log has been opened.
  const { body } = await ask({})
  if (offered.length > 0 && protocol === undefined)
    throw badRequest(`unable to upgrade: none of the protocols [${offered.join(' ')}] is known`)
  const digest = await sha1Of(headers)
  return {
    kind: 'wire',
    response: {
      status: 101,
      headers: webSocketUpgradeHeaders(headers, protocol, () => digest),
      body: '',
      onUpgrade: (socket) => sendLog(new WebSocketConnection(socket), body, encoding),
    },
  }
}

/** The SHA-1 digest of the handshake. */
async function sha1Of(headers: RequestHeaders): Promise<Uint8Array> {
  let text = ''
  webSocketUpgradeHeaders(headers, undefined, (offered) => {
    text = offered
    return new Uint8Array()
  })
  return new Uint8Array(await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text)))
}

async function sendLog(connection: WebSocketConnection, body: WireResponse['body'], encoding: Encoding): Promise<void> {
  const incoming = drained(connection)
  try {
    for await (const piece of piecesOf(body)) {
      const bytes = typeof piece === 'string' ? new TextEncoder().encode(piece) : piece
      await (encoding === 'binary' ? connection.sendBinary(bytes) : connection.sendText(bytes.toBase64()))
    }
  } catch {
    // The client or the kubelet has closed the connection.
  } finally {
    await connection.close()
    await incoming
  }
}

/** Clients send only pings and a close. */
async function drained(connection: WebSocketConnection): Promise<void> {
  try {
    for await (const _ of connection.messages());
  } catch {
    // The connection has reported the protocol error to the client.
  }
}

const piecesOf = (body: WireResponse['body']): AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string> =>
  typeof body === 'string' || body instanceof Uint8Array ? [body] : 'take' in body ? [] : body
