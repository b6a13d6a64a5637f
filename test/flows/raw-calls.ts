// Raw HTTP requests, for flows whose client is not a component, such as requests with errors.
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  readonly body: any
}

export interface RawCalls extends AsyncDisposable {
  /** A string `body` is sent unchanged. */
  call(method: string, target: string, body?: object | string, headers?: Record<string, string>): Promise<RawAnswer>
}

/** With the identity of a kubeconfig, or with none. */
export function rawCalls(kubeconfig: string, as: 'admin' | 'anonymous' = 'admin'): RawCalls {
  const { server, authority, identity } = parseKubeconfig(kubeconfig)
  const tls = as === 'admin' ? { authority, ...identity } : { authority }
  const outbound = nodePlatform.outbound.connect({ origin: server, tls })
  return {
    async call(method, target, body, headers = {}) {
      const sent = { 'content-type': 'application/json', 'user-agent': 'client/1', ...headers }
      const sentBody = typeof body === 'object' ? JSON.stringify(body) : body
      const request = { method, target, headers: sent, ...(sentBody === undefined ? {} : { body: sentBody }) }
      const answer = await outbound.send(request, new AbortController().signal)
      const text = Buffer.concat(await Array.fromAsync(answer.body)).toString()
      const isJson = (answer.headers['content-type'] ?? '').startsWith('application/json')
      return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
    },
    [Symbol.asyncDispose]: () => outbound.close(),
  }
}
