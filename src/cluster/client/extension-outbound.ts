// extensionOutbound: requests of a component to extensions, through the API server of its process. They are forwarded as bytes,
// because this server does not know the types.
import { noCause } from '../../base/observability/flow-recorder.ts'
import { pathNotFound } from '../../api/errors/status-error.ts'
import type { ApiRequest } from '../../apiserver/request/request.ts'
import { requestTargetOf } from '../../apiserver/routing/request-target.ts'
import type { ApiServer } from '../../apiserver/server.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import type { Outbound, OutboundResponse } from '../../platform/http/outbound.ts'

export type ComponentIdentity = Pick<ApiRequest, 'credentials' | 'sender' | 'agent'>

export const extensionOutbound = (server: () => ApiServer, identity: ComponentIdentity): Outbound => ({
  async send({ method, target: uri, headers, body }, signal) {
    const mark = uri.indexOf('?')
    const [path, query] = mark < 0 ? [uri, ''] : [uri.slice(0, mark), uri.slice(mark)]
    const parameters = new URLSearchParams(query)
    const current = server()
    const { extension, target } = requestTargetOf(method, path, parameters, '', current)
    if (extension === undefined) throw pathNotFound()
    const single = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    const response = await current.handle({
      ...identity,
      context: { signal, cause: noCause },
      user: undefined,
      target,
      extension,
      query: parameters,
      body: { kind: 'none' },
      proxied: { method, uri, headers: single, body: typeof body === 'string' ? utf8.encode(body) : (body ?? noBytes) },
    })
    if (response.kind !== 'wire') throw pathNotFound()
    return outboundResponse(response.response)
  },
  close: () => Promise.resolve(),
})

const utf8 = new TextEncoder()
const noBytes = new Uint8Array()

const outboundResponse = ({ status, headers, body }: WireResponse): OutboundResponse => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  body: pieces(body),
})

async function* pieces(body: WireResponse['body']): AsyncGenerator<Uint8Array, void> {
  if (typeof body === 'string') yield utf8.encode(body)
  else if (body instanceof Uint8Array) yield body
  else if (Symbol.asyncIterator in body)
    for await (const piece of body) yield typeof piece === 'string' ? utf8.encode(piece) : piece
}
