// Sends requests to the HTTPS port of a component, without verifying its certificate.
import { once } from 'node:events'
import { get } from 'node:https'

export async function read(port: number, path: string, token?: string): Promise<{ status: number; text: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const request = get({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false, agent: false })
  const [response] = (await once(request, 'response')) as [AsyncIterable<Buffer> & { statusCode?: number }]
  let text = ''
  for await (const piece of response) text += piece.toString()
  return { status: response.statusCode ?? 0, text }
}
