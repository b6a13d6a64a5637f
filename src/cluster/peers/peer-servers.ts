// PeerServers: the other API servers of the cluster, as their Leases show them, and requests to them in the name of this one.
import { context } from '../../base/observability/context.ts'
import { isLoopbackAddress } from '../../base/net/address-kind.ts'
import { parseIp } from '../../base/net/ip-address.ts'
import { lookup } from '../../base/collections/lookup.ts'
import type { Client } from '../../client/client.ts'
import type { OutboundProvider, OutboundTls } from '../../platform/http/outbound.ts'
import { serverLeases, machineOf } from '../bootstrap/server-identity.ts'
import { apiServerUser } from '../client/component-users.ts'

/** At which address a server listens, in the Lease that shows its identity. */
export const originAnnotation = 'coxswain.dev/origin'

/** More servers are not asked. Control planes have up to five. */
const peersMax = 8
const refusalCharsMax = 200

export interface PeerServer {
  /** Differs between the processes of one server. */
  readonly holder: string
  /** For people. */
  readonly name: string
  /** `https://192.0.2.1:6443`; undefined if it cannot be reached from this machine. */
  readonly origin: string | undefined
}

/** The name of the own Lease, and of the own machine. */
export interface OwnServer {
  readonly lease: string
  readonly machine: string
}

export interface PeerServersDeps {
  readonly client: Client
  readonly outbound: OutboundProvider
  /** The CA of servers, and the certificate of this one as a front proxy: servers accept the users that front proxies name. */
  readonly tls: () => OutboundTls
  /** Undefined until this server is known to others. */
  readonly own: () => OwnServer | undefined
}

export class PeerServers {
  readonly #deps: PeerServersDeps

  constructor(deps: PeerServersDeps) {
    this.#deps = deps
  }

  /** Also servers that were killed within the last hour. */
  async list(signal: AbortSignal): Promise<readonly PeerServer[]> {
    const { client, own } = this.#deps
    const self = own()
    if (self === undefined) return []
    const leases = await serverLeases(client, context(signal))
    return leases
      .filter(({ metadata }) => metadata.name !== self.lease)
      .slice(0, peersMax)
      .map((each) => {
        const { metadata, spec } = each
        const machine = machineOf(each)
        return {
          holder: spec.holderIdentity ?? metadata.name,
          name: `${metadata.name} on ${machine}`,
          origin: reachableOrigin(lookup(metadata.annotations, originAnnotation), machine === self.machine),
        }
      })
  }

  /** The CA of the servers. */
  get authority(): string | undefined {
    return this.#deps.tls().authority
  }

  /** The text of a response. Throws unless it is a success. */
  async *read(
    { origin = '' }: PeerServer,
    target: string,
    signal: AbortSignal,
    accept = 'application/json',
  ): AsyncGenerator<string> {
    const { outbound, tls } = this.#deps
    const connection = outbound.connect({ origin, tls: tls() })
    try {
      const headers = { accept, 'x-remote-user': apiServerUser.name }
      const { status, body } = await connection.send({ method: 'GET', target, headers }, signal)
      const decoder = new TextDecoder()
      let refusal = ''
      for await (const bytes of body) {
        const text = decoder.decode(bytes, { stream: true })
        if (status === 200) yield text
        else if (refusal.length < refusalCharsMax) refusal += text
      }
      if (status !== 200) throw new Error(`it answered ${status}: ${refusal.slice(0, refusalCharsMax)}`)
    } finally {
      await connection.close()
    }
  }
}

function reachableOrigin(origin: string | undefined, isThisMachine: boolean): string | undefined {
  if (origin === undefined || !URL.canParse(origin)) return undefined
  const { protocol, hostname } = new URL(origin)
  const address = parseIp(hostname.replace(/^\[|\]$/g, ''))
  const isLoopback = address === undefined ? hostname === 'localhost' : isLoopbackAddress(address)
  return protocol === 'https:' && (isThisMachine || !isLoopback) ? origin : undefined
}
