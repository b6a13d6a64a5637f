// Errors of outbound requests in Go's words, which users search for.
import { lookup } from '../../../base/collections/lookup.ts'
import { Unreachable } from '../../http/outbound.ts'
import { tlsFailure } from '../../http/tls-failure.ts'
import type { ExchangeProgress } from './undici-exchange.ts'

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  ECONNRESET: 'read: connection reset by peer',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
  UND_ERR_CONNECT_TIMEOUT: 'i/o timeout',
  UND_ERR_SOCKET: 'read: connection reset by peer',
}

export const unreachable = (authority: string, error: NodeJS.ErrnoException): Unreachable =>
  new Unreachable(tlsFailure(error) ?? `dial tcp ${authority}: ${lookup(reasons, error.code ?? '') ?? error.message}`, {
    cause: error,
  })

const quotedCharactersMax = 100

/** undici's error. */
interface ResponseError extends Error {
  readonly code?: unknown
  /** Of bytes that are not HTTP, those from the first that is not valid; empty at the end of the connection. */
  readonly data?: string
}

/** The error of a response that is incomplete or not HTTP, on a connection that was open. */
export function brokenResponse(error: ResponseError, progress: ExchangeProgress): Error {
  const { name, code, data = '' } = error
  const isMalformed = name === 'HTTPParserError'
  const isShort = code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && progress === 'head'
  if (code === 'UND_ERR_SOCKET' || isShort || (isMalformed && data === ''))
    return new Error(progress === 'sent' ? 'EOF' : 'unexpected EOF', { cause: error })
  if (!isMalformed) return error
  const [line = ''] = data.split('\r\n', 1)
  return new Error(`malformed HTTP response ${JSON.stringify(line.slice(0, quotedCharactersMax))}`, { cause: error })
}
