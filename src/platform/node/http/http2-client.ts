import { setOwn } from '../../../base/collections/lookup.ts'
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2'
import { connect as connectSocket, type Socket } from 'node:net'
import type {
  Http2Connection,
  Http2Events,
  Http2Exchange,
  Http2Failure,
  Http2Headers,
  Http2Options,
  Http2Provider,
} from '../../http/http2-client.ts'
import { identityOptions } from './identity-options.ts'

/** How much a server may send before it is read, on one exchange and on the whole connection. */
const exchangeWindowBytes = 1024 * 1024
const connectionWindowBytes = 8 * 1024 * 1024

export const nodeHttp2: Http2Provider = {
  connect(options, signal) {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error)
      const session = open(options)
      const abort = () => session.destroy()
      signal.addEventListener('abort', abort, { once: true })
      let failure: Error | undefined
      session.on('error', (error: Error) => (failure = error))
      session.once('close', () => {
        signal.removeEventListener('abort', abort)
        reject((signal.aborted ? signal.reason : failure) ?? new Error(`${options.endpoint} closed the connection`))
      })
      session.once('connect', (_session, socket) => {
        signal.removeEventListener('abort', abort)
        session.setLocalWindowSize(connectionWindowBytes)
        resolve(connectionOn(session, socket))
      })
    })
  },
}

function open({ endpoint, tls = {}, identity }: Http2Options): ClientHttp2Session {
  const settings = { enablePush: false, initialWindowSize: exchangeWindowBytes }
  const unixPath = /^unix:(?:\/\/)?(\/.*)$/.exec(endpoint)?.[1]
  if (unixPath !== undefined)
    return connect('http://localhost', { settings, createConnection: () => connectSocket(unixPath) })
  return connect(endpoint, {
    settings,
    ...(tls.authority === undefined ? {} : { ca: tls.authority }),
    ...(tls.certificate === undefined ? {} : { cert: tls.certificate }),
    ...(tls.key === undefined ? {} : { key: tls.key }),
    ...(identity === undefined ? {} : identityOptions(identity)),
  })
}

function connectionOn(session: ClientHttp2Session, socket: Socket): Http2Connection {
  const closed = Promise.withResolvers<void>()
  /** The last exchange that the server has processed, according to its GOAWAY. */
  let lastProcessedId = Infinity
  session.on('goaway', (_code, lastStreamId) => (lastProcessedId = lastStreamId))
  session.on('close', () => closed.resolve())
  // After a TLS alert Node.js would wait for the peer to close, without a timeout.
  socket.on('error', () => socket.destroy())
  const isOpen = () => !session.closed && !session.destroyed && lastProcessedId === Infinity
  return {
    get isOpen() {
      return isOpen()
    },
    closed: closed.promise,
    request(headers, events) {
      if (!isOpen()) return closedExchange(events)
      const stream = session.request(headers, { endStream: false })
      return exchangeOn(session, stream, events, () => lastProcessedId)
    },
    ping: () =>
      new Promise((resolve, reject) => {
        if (session.destroyed) return reject(new Error('the connection is closed'))
        session.ping((error) => (error === null ? resolve() : reject(error)))
      }),
    close: () => session.close(),
    destroy: () => session.destroy(new Error('the connection was given up')),
  }
}

function exchangeOn(
  session: ClientHttp2Session,
  stream: ClientHttp2Stream,
  events: Http2Events,
  lastProcessedId: () => number,
): Http2Exchange {
  let error: Error | undefined
  let cancelled = false
  let drained: PromiseWithResolvers<void> | undefined
  const release = () => {
    drained?.resolve()
    drained = undefined
  }
  stream.on('drain', release)
  stream.on('response', (headers) => cancelled || events.headers(plain(headers), headers['set-cookie'] ?? []))
  stream.on('data', (bytes: Buffer) => cancelled || events.data(bytes))
  stream.on('trailers', (headers) => cancelled || events.trailers(plain(headers)))
  stream.on('error', (thrown: Error) => (error = thrown))
  stream.on('close', () => {
    release()
    if (!cancelled) events.closed(failureOf(stream, error, session.closed, lastProcessedId()))
  })
  return {
    write: (bytes) => stream.write(bytes),
    whenDrained() {
      if (!stream.writableNeedDrain || stream.destroyed) return Promise.resolve()
      drained ??= Promise.withResolvers()
      return drained.promise
    },
    end: (bytes) => void (bytes === undefined ? stream.end() : stream.end(bytes)),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    cancel() {
      cancelled = true
      stream.close(constants.NGHTTP2_CANCEL)
    },
  }
}

function closedExchange(events: Http2Events): Http2Exchange {
  let cancelled = false
  const failure = { message: 'the connection is over', resetCode: undefined, unprocessed: true }
  queueMicrotask(() => cancelled || events.closed(failure))
  const nothing = () => {}
  return {
    write: () => true,
    whenDrained: () => Promise.resolve(),
    end: nothing,
    pause: nothing,
    resume: nothing,
    cancel: () => (cancelled = true),
  }
}

function failureOf(
  stream: ClientHttp2Stream,
  error: Error | undefined,
  sessionClosed: boolean,
  lastProcessedId: number,
): Http2Failure | undefined {
  const { id, rstCode } = stream
  if (error === undefined && rstCode === constants.NGHTTP2_NO_ERROR) return undefined
  const unprocessed = rstCode === constants.NGHTTP2_REFUSED_STREAM || id === undefined || id > lastProcessedId
  // Node.js cancels the streams of a lost connection.
  if (sessionClosed && rstCode === constants.NGHTTP2_CANCEL)
    return { message: error?.message ?? 'the connection was lost', resetCode: undefined, unprocessed }
  return { message: error?.message ?? `the stream was reset with ${rstCode}`, resetCode: rstCode, unprocessed }
}

function plain(headers: IncomingHttpHeaders): Http2Headers {
  const found: Record<string, string> = {}
  for (const name in headers) if (name !== 'set-cookie') setOwn(found, name, String(headers[name]))
  return found
}
