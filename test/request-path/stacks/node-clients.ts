// Clients that programs for Node.js use: undici, node:https and @kubernetes/client-node.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { ApiException, CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { Pool } from 'undici'
import { originOf } from '../../access.ts'
import { exchangeOf, namespace, overConnections, type Exchange } from './exchange.ts'
import type { Stack } from './stack.ts'

const connections = 16

const headersOf = ({ body, contentType }: Exchange) => (body === '' ? {} : { 'content-type': contentType })

const undici = (name: string, part: number, pipelining: number): Stack => ({
  name,
  part,
  async run({ access }, count) {
    const { ca, cert, key } = access
    const pool = new Pool(originOf(access), { connections, pipelining, connect: { ca, cert, key } })
    await overConnections(count, connections * pipelining, async (index) => {
      const exchange = exchangeOf(index)
      const { method, path, body } = exchange
      const response = await pool.request({ method, path, headers: headersOf(exchange), body: body || null })
      exchange.check(response.statusCode, await response.body.text())
    })
    await pool.close()
    return { answered: count, left: 0 }
  },
})

const nodeHttps: Stack = {
  name: 'node:https',
  part: 0.05,
  async run({ access }, count) {
    const { ca, cert, key } = access
    const agent = new Agent({ keepAlive: true, maxSockets: connections, ca, cert, key })
    await overConnections(count, connections, async (index) => {
      const exchange = exchangeOf(index)
      const { method, path, body } = exchange
      const request = httpsRequest(`${originOf(access)}${path}`, { agent, method, headers: headersOf(exchange) })
      // Head and body are two pieces.
      request.flushHeaders()
      request.end(body)
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      const pieces: Buffer[] = []
      for await (const piece of response) pieces.push(piece as Buffer)
      exchange.check(response.statusCode ?? 0, Buffer.concat(pieces).toString())
    })
    agent.destroy()
    return { answered: count, left: 0 }
  },
}

/** The response of a call as a status and a body, also if the client throws it. */
async function answerOf(call: Promise<object>, status: number): Promise<[status: number, body: string]> {
  try {
    return [status, JSON.stringify(await call)]
  } catch (error) {
    if (error instanceof ApiException) return [error.code, String(error.body)]
    throw error
  }
}

const clientNode: Stack = {
  name: '@kubernetes/client-node',
  part: 0.02,
  async run({ kubeconfig }, count) {
    const config = new KubeConfig()
    config.loadFromFile(kubeconfig)
    const api = config.makeApiClient(CoreV1Api)
    await overConnections(count, connections, async (index) => {
      // Patches of this client need a middleware that sets their type.
      const exchange = exchangeOf(index % 4 === 3 ? index - 1 : index)
      const name = exchange.path.split('/').at(-1) ?? ''
      const [status, body] =
        exchange.method === 'POST'
          ? await answerOf(
              api.createNamespacedConfigMap({
                namespace,
                body: JSON.parse(exchange.body) as object,
                dryRun: 'All',
              }),
              201,
            )
          : await answerOf(api.readNamespacedConfigMap({ namespace, name }), 200)
      exchange.check(status, body)
    })
    return { answered: count, left: 0 }
  },
}

export const nodeClients: readonly Stack[] = [
  undici('undici', 0.06, 1),
  undici('undici, pipelining', 0.04, 8),
  nodeHttps,
  clientNode,
]
