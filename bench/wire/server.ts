// A server in a separate process that answers every request with 2 KB, through node:https or our listener.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { nodeListeners } from '../../src/platform/node/http/listener.ts'

const body = Buffer.alloc(2048, 'x')
const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache, private' }
const answer = { status: 200, headers, body }

export interface ServerOrder {
  readonly by: 'node:https' | 'listener'
  readonly certificate: string
  readonly key: string
}

async function serve({ by, certificate, key }: ServerOrder): Promise<number> {
  if (by === 'listener') {
    const tls = { certificate, key, clientAuthorities: {} }
    return (await nodeListeners.listen({ host: '127.0.0.1', port: 0, tls, handle: () => Promise.resolve(answer) })).port
  }
  const server = createServer({ cert: certificate, key }, (_request, response) => {
    response.writeHead(200, { ...headers, 'content-length': body.length })
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

process.once('message', (order) => void serve(order as ServerOrder).then((port) => process.send?.(port)))
