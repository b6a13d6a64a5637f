// The bytes that the HTTP client sends for a request.
import type { StreamedOutboundRequest } from '../../src/platform/http/outbound.ts'
import { nodeSendOn } from '../../src/platform/node/http/outbound.ts'

/** A character for each byte. Empty if the client rejects the request. Its headers must contain the host. */
export async function sentText({ method, target, headers }: StreamedOutboundRequest): Promise<string> {
  let text = ''
  const stream = {
    pieces: (async function* () {
      yield Buffer.from('HTTP/1.1 204 No Content\r\n\r\n')
    })(),
    write: async (bytes: Uint8Array) => void (text += Buffer.from(bytes).toString('latin1')),
    end: () => {},
    destroy: () => {},
  }
  // An upgrade is not a header for the client, which writes the two headers of one itself.
  const { connection: _, upgrade: protocol, ...others } = headers
  const sent = protocol === undefined ? others : { ...others, 'x-upgrade': protocol }
  await nodeSendOn(stream, { method, target, headers: sent }, new AbortController().signal).catch(() => {})
  return text
}
