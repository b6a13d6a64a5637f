// A connection of the simulated network: two ends, each a ByteStream that belongs to a program.
import type { Clock } from '../../base/time/clock.ts'
import type { Random } from '../../base/random/random.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { LinkFaults, NetworkHost } from './link-faults.ts'
import { brokenError } from './network-error.ts'
import { PacketPipe } from './packet-pipe.ts'

export interface ConnectionDeps {
  readonly clock: Clock
  readonly random: Random
  readonly faults: Pick<LinkFaults, 'packetDelayMs'>
}

/** How long a peer takes to notice that the other machine is gone: the keep-alive of Go programs, 15 s + 9 × 15 s. */
export const keepAliveMs = 150_000

/** A program that has connections. */
export interface ConnectionOwner {
  /** Called with each end that it gets; the end calls `release` when the connection is closed. */
  hold(end: ConnectionEnd): void
  release(end: ConnectionEnd): void
}

/** The owner of connections that end with their peer. */
export const noOwner: ConnectionOwner = { hold: () => {}, release: () => {} }

export interface ConnectionEnd {
  readonly stream: ByteStream
  /** The program has exited: its machine closes the connection. */
  close(): void
  /** The machine of this end is gone, without a packet to the peer. */
  lose(): void
}

export interface ConnectionLink {
  readonly client: NetworkHost
  readonly server: NetworkHost
  /** The address that the client dialled, for error messages. */
  readonly dialled: string
  /** Whether packets that the client sends now are dropped; not by default. */
  readonly isBlocked?: () => boolean
}

export function openConnection(
  { clock, random, faults }: ConnectionDeps,
  { client, server, dialled: authority, isBlocked = () => false }: ConnectionLink,
  owners: { readonly client: ConnectionOwner; readonly server: ConnectionOwner },
): readonly [client: ConnectionEnd, server: ConnectionEnd] {
  const fail = (code: 'ECONNRESET' | 'ETIMEDOUT') => {
    const error = brokenError(authority, code)
    there.fail(error)
    back.fail(error)
  }
  const onDone = () => {
    if (!there.isDone || !back.isDone) return
    owners.client.release(clientEnd)
    owners.server.release(serverEnd)
  }
  const pipe = (from: NetworkHost, to: NetworkHost) =>
    new PacketPipe({
      clock,
      delayMs: () => (from === client && isBlocked() ? undefined : faults.packetDelayMs(from, to, random)),
      onTimeout: () => fail('ETIMEDOUT'),
      onDone,
      resetError: () => brokenError(authority, 'ECONNRESET'),
    })
  const there = pipe(client, server)
  const back = pipe(server, client)
  const endOf = (incoming: PacketPipe, outgoing: PacketPipe): ConnectionEnd => {
    let isLost = false
    const close = () => {
      if (isLost) return
      outgoing.end()
      incoming.leave()
    }
    const stream: ByteStream = {
      pieces: incoming.read(),
      write: (piece) => outgoing.write(piece),
      end: () => outgoing.end(),
      destroy: close,
    }
    const lose = () => {
      isLost = true
      there.cut()
      back.cut()
      clock.after(keepAliveMs, () => fail('ETIMEDOUT'))
    }
    return { stream, close, lose }
  }
  const clientEnd = endOf(back, there)
  const serverEnd = endOf(there, back)
  owners.client.hold(clientEnd)
  owners.server.hold(serverEnd)
  return [clientEnd, serverEnd]
}
