// A client that sends what a browser sends: it logs in with a kubeconfig, then uses the session cookie.
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { parse } from 'yaml'

interface Access {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
  ]
  readonly users: readonly [
    { readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string } },
  ]
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  readonly body: any
}

export interface Browser {
  readonly origin: string
  readonly cookie: string
  /** With the cookie and the headers that the page sends; `more` replaces or, if empty, removes some. */
  call(method: string, path: string, body?: unknown, more?: Record<string, string>): Promise<Answer>
  /** The lines of the stream, until one satisfies `isLast`. */
  follow(path: string, isLast: (line: Answer['body']) => boolean): Promise<Answer['body'][]>
}

const decoded = (text: string) => Buffer.from(text, 'base64')

const send = (options: RequestOptions, url: string, body?: unknown): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = httpsRequest(url, options, resolve).on('error', reject)
    sent.on('upgrade', (response: IncomingMessage, socket) => {
      socket.destroy()
      resolve(response)
    })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })

async function answerOf(response: IncomingMessage): Promise<Answer> {
  let text = ''
  if (response.statusCode !== 101) for await (const piece of response) text += String(piece)
  const isJson = response.headers['content-type']?.startsWith('application/json') === true
  return { status: response.statusCode ?? 0, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

/** The one-time code of a login link for the user of the kubeconfig or of a token, and the server's URL and certificate. */
export async function loginCode(
  kubeconfig: string,
  token?: string,
): Promise<{ origin: string; ca: Buffer; code: string }> {
  const { clusters, users } = parse(kubeconfig) as Access
  const { server: origin, 'certificate-authority-data': authority } = clusters[0].cluster
  const { 'client-certificate-data': certificate, 'client-key-data': key } = users[0].user
  const ca = decoded(authority)
  const user =
    token === undefined
      ? { cert: decoded(certificate), key: decoded(key) }
      : { headers: { authorization: `Bearer ${token}` } }
  const { body } = await answerOf(await send({ ca, ...user, method: 'POST' }, `${origin}/ui/login`))
  return { origin, ca, code: body.code }
}

/** Opens a session for the user of the kubeconfig. */
export async function logIn(kubeconfig: string): Promise<Browser> {
  const { origin, ca, code } = await loginCode(kubeconfig)
  const headers = {
    origin,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
    'x-coxswain-ui': '1',
    'content-length': String(JSON.stringify({ code }).length),
  }
  const opened = await send({ ca, method: 'POST', headers }, `${origin}/ui/session`, { code })
  const { headers: set } = await answerOf(opened)
  const cookie = String(set['set-cookie']).split(';')[0] ?? ''
  const { 'content-length': _, ...usual } = headers
  const options = (method: string, more: Record<string, string>) => {
    const all = Object.entries({ ...usual, cookie, ...more }).filter(([, value]) => value !== '')
    return { ca, method, headers: Object.fromEntries(all) }
  }
  return {
    origin,
    cookie,
    call: async (method, path, body, more = {}) =>
      answerOf(await send(options(method, more), `${origin}${path}`, body)),
    async follow(path, isLast) {
      const response = await send(options('GET', {}), `${origin}${path}`)
      const lines: Answer['body'][] = []
      let rest = ''
      for await (const piece of response) {
        const texts = (rest + String(piece)).split('\n')
        rest = texts.pop() ?? ''
        lines.push(...texts.map((text) => JSON.parse(text)))
        if (lines.some(isLast)) break
      }
      response.destroy()
      return lines
    },
  }
}
