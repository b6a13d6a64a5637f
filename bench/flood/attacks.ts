// The attacks of the flood: each opens one connection, does one hostile thing, and ends. The responses do not matter;
// what matters is that other clients are served.
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectHttp2, type ClientHttp2Stream } from 'node:http2'
import { connect as connectTls, type TLSSocket } from 'node:tls'

export interface Target {
  readonly host: string
  readonly port: number
  readonly ca: string
  /** The token of an account that may edit objects in the namespace `hostile`; empty for an anonymous client. */
  readonly token: string
}

export type Attack = (target: Target, signal: AbortSignal) => Promise<void>

const hostile = '/api/v1/namespaces/hostile'
const bodyBytes = 3 << 20
/** How long an attack that expects no response holds its connection. */
const holdMs = 20_000

/** Resolves when the connection is closed, or when the time of the flood is over. */
const ended = (socket: Socket, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      signal.removeEventListener('abort', end)
      socket.destroy()
      resolve()
    }
    signal.addEventListener('abort', end, { once: true })
    socket.once('close', end).once('error', end).setTimeout(holdMs, end)
  })

const secured = ({ host, port, ca }: Target): TLSSocket => connectTls({ host, port, ca, ALPNProtocols: ['http/1.1'] })

const headOf = (target: Target, method: string, path: string, headers: Record<string, string>): string =>
  [
    `${method} ${path} HTTP/1.1`,
    'host: flood',
    ...(target.token === '' ? [] : [`authorization: Bearer ${target.token}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n')

/** Sends one request and waits for the first bytes of the response. */
const request =
  (method: string, path: string, body: () => string = () => '', headers: Record<string, string> = {}): Attack =>
  async (target, signal) => {
    const socket = secured(target)
    const text = body()
    const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)), ...headers }
    socket.write(headOf(target, method, path, all))
    socket.write(text)
    socket.once('data', () => socket.destroy())
    await ended(socket, signal)
  }

const memo = (make: () => string): (() => string) => {
  let text: string | undefined
  return () => (text ??= make())
}
const filled = (pieces: (index: number) => string, bytes = bodyBytes) => {
  const parts: string[] = []
  for (let size = 0, index = 0; size < bytes; index++) {
    const piece = pieces(index)
    parts.push(piece)
    size += piece.length
  }
  return parts.join('')
}

const yaml = memo(() => `data:\n${filled((index) => `  k${index}: v\n`).slice(0, bodyBytes - 100)}`)
const denseJson = memo(() => `{"metadata":{"name":"dense"},"data":[${filled(() => '{},').slice(0, bodyBytes - 200)}0]}`)
const wideMap = memo(() =>
  JSON.stringify({
    metadata: { name: 'wide' },
    data: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 'v'])),
  }),
)
const jsonPatch = memo(() =>
  JSON.stringify(
    Array.from({ length: 9_000 }, (_, index) => ({ op: 'add', path: '/metadata/finalizers/0', value: `a.b/${index}` })),
  ),
)
const setOrder = memo(() =>
  JSON.stringify({
    metadata: { ['$setElementOrder/finalizers']: Array.from({ length: 40_000 }, (_, index) => `a.b/${index}`) },
  }),
)
const widePod = memo(() =>
  JSON.stringify({
    metadata: { name: 'wide' },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'i',
          env: Array.from({ length: 40_000 }, (_, index) => ({ name: `E${index % 1000}`, value: '' })),
        },
      ],
    },
  }),
)

/** A request head that never ends. */
const slowHead: Attack = async (target, signal) => {
  const socket = secured(target)
  socket.write('GET /livez HTTP/1.1\r\nx: ')
  await ended(socket, signal)
}

/** A connection that never speaks TLS. */
const silent: Attack = ({ host, port }, signal) => ended(connectPlain({ host, port }), signal)

/** A body that is announced and never sent. */
const slowBody: Attack = async (target, signal) => {
  const socket = secured(target)
  socket.write(
    headOf(target, 'POST', `${hostile}/configmaps`, {
      'content-type': 'application/json',
      'content-length': '3000000',
    }),
  )
  socket.write('{')
  await ended(socket, signal)
}

/** A long response that is never read. */
const unread: Attack = async (target, signal) => {
  const socket = secured(target)
  socket.pause()
  socket.write(headOf(target, 'GET', `${hostile}/configmaps`, {}))
  await ended(socket, signal)
}

type StreamAttack = (stream: ClientHttp2Stream) => void

/** Many streams on one connection, each with an unfinished body, an unread response, or an early reset. */
const http2 =
  (method: string, path: string, streams: number, act: StreamAttack): Attack =>
  async ({ host, port, ca, token }, signal) => {
    const session = connectHttp2(`https://${host}:${port}`, { ca, settings: { initialWindowSize: 0 } })
    session.on('error', () => {})
    const authorization = token === '' ? {} : { authorization: `Bearer ${token}` }
    session.once('connect', () => {
      for (let index = 0; index < streams && !session.destroyed; index++) {
        const headers = { ':method': method, ':path': path, 'content-type': 'application/json', ...authorization }
        const stream = session.request(headers, { endStream: method === 'GET' })
        stream.on('error', () => {})
        act(stream)
      }
    })
    await new Promise<void>((resolve) => {
      const timer = setTimeout(end, holdMs)
      function end(): void {
        clearTimeout(timer)
        session.destroy()
        resolve()
      }
      session.once('close', end)
      signal.addEventListener('abort', end, { once: true })
    })
  }

const selector = `a${' '.repeat(20_000)}!`
const encoded = encodeURIComponent(selector)

/** By name. Anonymous connections run them in turn without a token, the other half with one. */
export const attacks: Readonly<Record<string, Attack>> = {
  'a long field selector': request('GET', `/api/v1/pods?fieldSelector=${encoded}`),
  'a long label selector': request('GET', `/api/v1/pods?labelSelector=${encoded}`),
  'a long timeout': request('GET', `/api/v1/pods?timeout=${'1'.repeat(20_000)}x`),
  'a long Connection header': request('GET', '/api/v1/pods', undefined, { connection: `${' ,'.repeat(15_000)}x` }),
  'a long Accept-Encoding': request('GET', '/api', undefined, { 'accept-encoding': `gzip${' '.repeat(20_000)}x` }),
  'prototype names': request('GET', '/api/v1/pods?__proto__=1&labelSelector=constructor', undefined, {
    accept: 'constructor/__proto__',
  }),
  'YAML of 3 MiB': request('POST', `${hostile}/configmaps`, yaml, { 'content-type': 'application/yaml' }),
  'dense JSON of 3 MiB': request('POST', `${hostile}/configmaps`, denseJson),
  'a wide object': request('POST', `${hostile}/configmaps`, wideMap),
  'a long JSON patch': request('PATCH', `${hostile}/configmaps/target`, jsonPatch, {
    'content-type': 'application/json-patch+json',
  }),
  'a long element order': request('PATCH', `${hostile}/configmaps/target`, setOrder, {
    'content-type': 'application/strategic-merge-patch+json',
  }),
  'a pod with 40,000 variables': request('POST', `${hostile}/pods?dryRun=All`, widePod),
  'a head that never ends': slowHead,
  'a connection that never speaks TLS': silent,
  'a body that is never sent': slowBody,
  'a response that is not read': unread,
  '100 unfinished bodies over HTTP/2': http2('POST', `${hostile}/configmaps`, 100, (stream) => void stream.write('{')),
  '100 unread responses over HTTP/2': http2('GET', `${hostile}/configmaps`, 100, () => {}),
  '1,000 streams reset at once over HTTP/2': http2('GET', '/api', 1_000, (stream) => stream.close(8)),
}
