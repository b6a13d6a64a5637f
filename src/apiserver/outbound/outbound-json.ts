// Requests to external servers with JSON responses: issuers and webhooks. Time and size are bounded.
import type { Clock } from '../../base/time/clock.ts'
import type { Outbound, OutboundRequest } from '../../platform/http/outbound.ts'
import { parseJson } from '../../schema/json/exact-json.ts'

/** The connection to an external server. */
export interface JsonServer {
  readonly outbound: Outbound
  readonly clock: Clock
  readonly timeoutMs: number
  /** 1 MiB if undefined. */
  readonly responseBytesMax?: number
}

const responseBytesMaxDefault = 1 << 20

export async function exchangeJson(
  server: JsonServer,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly value: unknown }> {
  const { status, text } = await exchangeText(server, request, signal)
  return { status, value: isSuccess(status) ? parseJson(text) : undefined }
}

export const isSuccess = (status: number): boolean => status >= 200 && status < 300

export interface TextResponse {
  readonly status: number
  readonly text: string
  readonly contentType: string
  /** Empty where the server sends none. */
  readonly etag: string
}

/** For servers whose response is not JSON, or not used. */
export async function exchangeText(
  { outbound, clock, timeoutMs, responseBytesMax = responseBytesMaxDefault }: JsonServer,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<TextResponse> {
  const late = new AbortController()
  const timer = clock.after(timeoutMs, () => late.abort(new Error(`no response within ${timeoutMs} ms`)))
  try {
    const response = await outbound.send(request, AbortSignal.any([signal, late.signal]))
    const decoder = new TextDecoder()
    let text = ''
    for await (const piece of response.body) {
      text += decoder.decode(piece, { stream: true })
      if (text.length > responseBytesMax) throw new Error(`the response is larger than ${responseBytesMax} bytes`)
    }
    const { status, headers } = response
    return { status, text, contentType: headers['content-type'] ?? '', etag: headers['etag'] ?? '' }
  } finally {
    timer.cancel()
  }
}
