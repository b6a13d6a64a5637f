// How a client finds the end of an HTTP/1.1 response.
import type { WireResponse } from '../http/listener.ts'
import type { RequestHead } from './request-head.ts'

export interface ResponseFraming {
  /** The length of the body in bytes; chunked; until the connection is closed; or no body. */
  readonly length: number | 'chunked' | 'until the end' | 'none'
  readonly connection: 'close' | 'keep-alive' | undefined
}

/** `wholeBytes` is the length of a body that is not streamed. */
export function responseFraming(
  head: RequestHead,
  { status, length: declaredBytes }: Pick<WireResponse, 'status' | 'length'>,
  { wholeBytes, isLast }: { readonly wholeBytes: number | undefined; readonly isLast: boolean },
): ResponseFraming {
  const streamed = head.isHttp10 ? 'until the end' : 'chunked'
  const length = declaredBytes ?? wholeBytes ?? (hasNoBody(head, status) ? 'none' : streamed)
  return {
    length: status === 204 || status === 304 ? 'none' : length,
    connection: isLast || length === 'until the end' ? 'close' : head.isHttp10 ? 'keep-alive' : undefined,
  }
}

/** Whether the response ends after its head, whatever that says about a length. */
export const hasNoBody = ({ method }: RequestHead, status: number): boolean =>
  method === 'HEAD' || status === 204 || status === 304
