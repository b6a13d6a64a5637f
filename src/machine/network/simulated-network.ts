// SimulatedNetwork: connections between hosts in memory and in the time of a clock. Hosts are looked up when a connection
// is opened, so that pods without connections cost nothing.
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { authorityOf } from '../dialer/pod-dialer.ts'
import type { NetworkHost } from './link-faults.ts'
import { dialError } from './network-error.ts'
import {
  openConnection,
  type ConnectionDeps,
  type ConnectionLink,
  type ConnectionOwner,
} from './simulated-connection.ts'

/** Accepts a connection. An error closes it. */
export type SimulatedAcceptor = (connection: ByteStream, peer: NetworkPeer) => void | Promise<void>

/** The client, as the server sees it. */
export interface NetworkPeer {
  readonly address: string
}

/** A program that listens. */
export interface NetworkListener {
  readonly owner: ConnectionOwner
  readonly accept: SimulatedAcceptor
}

export interface ReachableHost extends NetworkHost {
  /** Undefined when nothing listens on the port. */
  readonly listenerAt: (port: number) => NetworkListener | undefined
}

export interface NetworkTarget {
  readonly address: string
  readonly port: number
  /** The address that the server sees; the client's own by default. */
  readonly sourceAddress?: string
  /** The address and port that the client dialled, for error messages; the target by default. */
  readonly dialled?: string
  /** Whether packets that the client sends now are dropped; not by default. */
  readonly isBlocked?: () => boolean
}

export interface SimulatedNetworkDeps extends ConnectionDeps {
  /** Undefined when no host has the address now. */
  readonly hostAt: (address: string) => ReachableHost | undefined
}

/** As Linux: the first packet of a connection is sent seven times, after 1 s, 2 s and so on, and fails after 127 s. */
const dialMsFirst = 1_000
const dialAttemptsMax = 7
/** How long a router takes to find out that no host has an address. */
export const unreachableMs = 3_000

export class SimulatedNetwork {
  readonly #deps: SimulatedNetworkDeps

  constructor(deps: SimulatedNetworkDeps) {
    this.#deps = deps
  }

  /** Rejects with NetworkError, or with the reason of the signal. */
  async connect(
    client: NetworkHost,
    target: NetworkTarget,
    owner: ConnectionOwner,
    signal: AbortSignal,
  ): Promise<ByteStream> {
    const { address, port, sourceAddress = client.address, dialled = authorityOf({ host: address, port }) } = target
    const server = await this.#reach(client, target, dialled, signal)
    const listener = server.listenerAt(port)
    if (listener === undefined) throw dialError(dialled, 'ECONNREFUSED')
    const { isBlocked = neverBlocked } = target
    return openTo(listener, this.#deps, { client, server, owner, dialled, sourceAddress, isBlocked })
  }

  /** Never resolves before the signal is aborted or the time of a dial has passed: every packet is dropped. */
  async dropped(dialled: string, signal: AbortSignal): Promise<never> {
    await this.#deps.clock.sleep(dialMsFirst * (2 ** dialAttemptsMax - 1), signal)
    throw dialError(dialled, 'ETIMEDOUT')
  }

  /** Sends the first packet until it and its reply arrive. */
  async #reach(
    client: NetworkHost,
    { address, isBlocked = neverBlocked }: NetworkTarget,
    dialled: string,
    signal: AbortSignal,
  ): Promise<ReachableHost> {
    const { clock, random, faults, hostAt } = this.#deps
    signal.throwIfAborted()
    for (let attempt = 0; attempt < dialAttemptsMax; attempt++) {
      const server = hostAt(address)
      if (server === undefined) {
        await clock.sleep(unreachableMs, signal)
        throw dialError(dialled, 'EHOSTUNREACH')
      }
      const thereMs = isBlocked() ? undefined : faults.packetDelayMs(client, server, random)
      const backMs = thereMs === undefined ? undefined : faults.packetDelayMs(server, client, random)
      if (thereMs !== undefined && backMs !== undefined) {
        if (thereMs + backMs > 0) await clock.sleep(thereMs + backMs, signal)
        // The host may have left while the packet was on its way.
        const reached = hostAt(address)
        if (reached !== undefined) return reached
      } else await clock.sleep(dialMsFirst * 2 ** attempt, signal)
    }
    throw dialError(dialled, 'ETIMEDOUT')
  }
}

const neverBlocked = (): boolean => false

export interface OpenedLink extends ConnectionLink {
  /** Of the client's end. */
  readonly owner: ConnectionOwner
  readonly sourceAddress: string
}

/** Opens a connection to a listener; returns the client's end. */
export function openTo(listener: NetworkListener, deps: ConnectionDeps, link: OpenedLink): ByteStream {
  const owners = { client: link.owner, server: listener.owner }
  const [ours, theirs] = openConnection(deps, link, owners)
  void accept(listener, theirs.stream, link.sourceAddress)
  return ours.stream
}

async function accept({ accept: take }: NetworkListener, stream: ByteStream, address: string): Promise<void> {
  try {
    await take(stream, { address })
  } catch {
    stream.destroy()
  }
}
