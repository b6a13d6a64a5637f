// HTTPS on one port: HTTP/2 by Node.js or HTTP/1.1 by http1/, as negotiated by ALPN; or plain HTTP/1.1.
import { every, realClock, type Clock } from '../../../base/time/clock.ts'
import { FairTurns } from '../../../base/work/fair-turns.ts'
import { TimeSlicedWork } from '../../../base/work/time-sliced-work.ts'
import { onNextTurn } from '../../../base/async/event-loop-turn.ts'
import { thenMaybe } from '../../../base/async/maybe-promise.ts'
import { httpDate } from '../../http1/http-date.ts'
import { connectionsToClose } from '../../limits/idle-connections.ts'
import { listenLimitsDefault } from '../../limits/listen-limits.ts'
import type { Listener, ListenerProvider, ListenOptions } from '../../http/listener.ts'
import { MemoryBudget } from '../../limits/memory-budget.ts'
import type { ServedConnection } from '../../http/served-connection.ts'
import { startInTurns } from '../../http/start-in-turns.ts'
import { isExpired } from '../socket/client-certificate.ts'
import { compressed } from './compression.ts'
import { probeFileDescriptors } from '../process/file-descriptors.ts'
import type { AcceptedConnection, OpenAcceptor } from '../acceptor/acceptor.ts'
import { Http2ServerConnection } from './http2-server.ts'
import { openEventLoopAcceptor } from '../acceptor/event-loop-acceptor.ts'
import { openThreadAcceptor, startThread } from '../tls-thread/thread-acceptor.ts'

/** COXSWAIN_TLS_THREAD=0 turns the TLS thread off, to exclude it as the cause of a problem. */
export const allowsTlsThread = (environment: Readonly<NodeJS.ProcessEnv>): boolean =>
  environment['COXSWAIN_TLS_THREAD'] !== '0'

/**
 * The clock is for the timeouts of clients; the TLS thread uses real time. Without `isThreadAllowed` TLS always runs in the
 * event loop.
 */
export const createListeners = (clock: Clock, isThreadAllowed = true): ListenerProvider => {
  const listenInEventLoop = (options: ListenOptions) =>
    listen(options, clock, (acceptorOptions, serve) => openEventLoopAcceptor({ ...acceptorOptions, clock }, serve))
  return {
    listen: listenInEventLoop,
    startTlsThread() {
      if (!isThreadAllowed) return { listen: listenInEventLoop, async [Symbol.asyncDispose]() {} }
      const thread = startThread()
      return {
        listen: (options) =>
          listen(options, clock, (acceptorOptions, serve) =>
            openThreadAcceptor(thread, { ...acceptorOptions, tls: options.tls }, serve),
          ),
        [Symbol.asyncDispose]: () => thread.stop(),
      }
    },
  }
}

/** How long connections are checked in one turn of the event loop. */
const tickMs = 5

async function listen(
  { host, port, tls, acceptsH2c = false, handle, compresses = true, limits: given, onShed = () => {} }: ListenOptions,
  clock: Clock,
  open: OpenAcceptor,
): Promise<Listener> {
  const limits = { ...listenLimitsDefault, ...given }
  let seconds = 0
  const connections = new Map<ServedConnection, AcceptedConnection>()
  const options = {
    handle: compresses
      ? (((request) => thenMaybe(handle(request), (known) => compressed(request, known))) as typeof handle)
      : handle,
    second: () => seconds,
    date: httpDate(clock),
    turns: new TimeSlicedWork(realClock),
    budget: new MemoryBudget(limits, (bytes) => onShed('memory', 1, bytes)),
    onShed,
    verifiesClients: Object.keys(tls?.clientAuthorities ?? {}).length > 0,
  }
  const turns = new FairTurns<object>(realClock)
  const serve = (accepted: AcceptedConnection) => {
    const { remoteAddress, certificate: shown, client } = accepted
    // A resumed TLS session may outlive the certificate.
    const certificate = shown && isExpired(shown, clock.nowMs()) ? { ...shown, trustedFor: [] } : shown
    const handleInTurns = startInTurns(options.handle, turns, accepted)
    const connectionOptions = { ...options, handle: handleInTurns, remoteAddress, certificate, client }
    const connection = accepted.isHttp2
      ? new Http2ServerConnection(accepted, connectionOptions)
      : accepted.serveHttp1(connectionOptions)
    connections.set(connection, accepted)
    accepted.onClosed(() => connections.delete(connection))
  }
  const acceptor = await open({ host, port, limits, onShed, acceptsH2c, ...(tls && { tls }) }, serve)
  let isTicking = false
  /** Connections may be many: other work is done between them. */
  const tick = (rest: MapIterator<[ServedConnection, AcceptedConnection]>): void => {
    const untilMs = clock.monotonicMs() + tickMs
    const nowMs = clock.nowMs()
    isTicking = true
    for (let next = rest.next(); next.done !== true; next = rest.next()) {
      const [connection, { certificate }] = next.value
      if (certificate !== undefined && isExpired(certificate, nowMs)) connection.revoke()
      connection.tick()
      if (clock.monotonicMs() >= untilMs) return onNextTurn(() => tick(rest))
    }
    isTicking = false
    const idle = connectionsToClose([...connections.keys()], limits)
    if (idle.length > 0) onShed('idle', idle.length, 0)
    for (const connection of idle) connection.drain()
  }
  const timer = every(clock, 1_000, () => {
    seconds++
    probeFileDescriptors(() => onShed('descriptors', 1, 0))
    if (!isTicking) tick(connections.entries())
  })
  return {
    host: acceptor.host,
    port: acceptor.port,
    renew: (fresh) => acceptor.renew(fresh),
    async close(graceMs) {
      acceptor.stopAccepting()
      await drained(connections, graceMs)
      await acceptor.close()
      timer.cancel()
    },
  }
}

export const nodeListeners = createListeners(realClock, allowsTlsThread(process.env))

/** Waits up to `graceMs` for current responses; each connection closes after its last one. */
async function drained(connections: ReadonlyMap<ServedConnection, AcceptedConnection>, graceMs: number): Promise<void> {
  const busy = [...connections].filter(([{ isBusy }]) => isBusy)
  for (const connection of connections.keys()) connection.drain()
  if (busy.length === 0 || graceMs === 0) return
  const given = new AbortController()
  await Promise.race([
    Promise.all(busy.map(([, accepted]) => new Promise<void>((resolve) => accepted.onClosed(resolve)))),
    realClock.sleep(graceMs, given.signal).catch(() => {}),
  ])
  given.abort()
}
