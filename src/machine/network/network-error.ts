// NetworkError: why a connection of the simulated network failed. Messages are those of Go programs, codes those of
// Node.js.
import { Unreachable } from '../../platform/http/outbound.ts'

const reasons = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
} as const

export type ConnectionErrorCode = keyof typeof reasons

export class NetworkError extends Unreachable {
  override name = 'NetworkError'
  /** ENOTFOUND: the name does not exist; EAI_AGAIN: it could not be resolved. */
  readonly code: ConnectionErrorCode | 'EAI_AGAIN' | 'ENOTFOUND'

  constructor(code: NetworkError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** `dial tcp 192.0.2.1:80: connect: connection refused` */
export const dialError = (authority: string, code: ConnectionErrorCode): NetworkError =>
  new NetworkError(code, `dial tcp ${authority}: connect: ${reasons[code]}`)

/** The failure of an established connection. */
export const brokenError = (authority: string, code: 'ECONNRESET' | 'ETIMEDOUT'): NetworkError =>
  new NetworkError(code, `tcp ${authority}: ${reasons[code]}`)
