// Listeners for tests, with and without the TLS thread, on a virtual clock.
import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { realClock } from '../../../base/time/clock.ts'
import { systemRandom } from '../../../base/random/random.ts'
import { eventLoopTurn } from '../../../base/async/event-loop-turn.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { Authority } from '../../../pki/authority.ts'
import type { ShedReason } from '../../limits/listen-limits.ts'
import type { Listener, ListenOptions } from '../../http/listener.ts'
import { nodeCrypto } from '../crypto.ts'
import { createListeners } from './listener.ts'

export const authority = Authority.create('ca', { clock: realClock, random: systemRandom, crypto: nodeCrypto })
export const serving = authority.issue({
  subject: { commonName: 'server', organizations: [] },
  uses: ['server'],
  addresses: ['127.0.0.1'],
})
export const jane = authority.issue({ subject: { commonName: 'jane', organizations: [] }, uses: ['client'] })
/** TLS options of a client without a certificate, and of one with. */
export const trusting = { host: '127.0.0.1', ca: authority.certificate }
export const asJane = { ...trusting, cert: jane.certificate, key: jane.key }

export interface Listening extends AsyncDisposable {
  readonly listener: Listener
  readonly port: number
  /** It starts at the current time. */
  readonly clock: VirtualClock
  /** How much was shed, by reason. */
  readonly shed: Map<ShedReason, number>
}

export type Listen = (options: Pick<ListenOptions, 'handle' | 'limits'>) => Promise<Listening>

const listenAs =
  (hasTlsThread: boolean, isThreadAllowed = true): Listen =>
  async (options) => {
    const clock = new VirtualClock(realClock.nowMs())
    const shed = new Map<ShedReason, number>()
    const listeners = createListeners(clock, isThreadAllowed)
    const listener = await (hasTlsThread ? listeners.startTlsThread() : listeners).listen({
      host: '127.0.0.1',
      port: 0,
      tls: { certificate: serving.certificate, key: serving.key, clientAuthorities: { users: authority.certificate } },
      onShed: (reason, count) => void shed.set(reason, (shed.get(reason) ?? 0) + count),
      ...options,
    })
    return { listener, port: listener.port, clock, shed, [Symbol.asyncDispose]: () => listener.close(0) }
  }

/** The two ways to accept connections. */
export const acceptors: Readonly<Record<string, Listen>> = {
  'in the event loop': listenAs(false),
  'in a thread': listenAs(true),
}

/** A listener that is configured with a TLS thread, while the thread is turned off. */
export const listenWithThreadOff = listenAs(true, false)

export const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await eventLoopTurn()
}

export async function tcp(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connectTcp({ host: '127.0.0.1', port, localAddress })
  socket.on('error', () => {})
  // A rejected connection may be reset before `connect`.
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))
  return socket
}

export async function tls(
  port: number,
  options: ConnectionOptions & { localAddress?: string } = trusting,
): Promise<TLSSocket> {
  const socket = connectTls({ port, ...options })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  return socket
}

/** Everything that is received until the peer closes. */
export async function allFrom(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece))
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  return text
}
