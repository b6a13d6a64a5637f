// PortClaims: the ports of each place, and their hostnames, that are in use. Older Gateways claim first.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { keyOf, namespaceOf } from '../../api/meta/object.ts'
import type { Scheme } from './evaluate-listener.ts'
import { listenersPerNamespaceMax, portsMax, portsPerNamespaceMax } from './gateway-limits.ts'
import { isServed, type ListenerVerdict, type ServedListener } from './listener-verdict.ts'
import { unmet } from './outcome.ts'

interface ClaimedPort {
  readonly scheme: Scheme
  /** The Gateways by hostname. */
  readonly hostnames: Map<string, string>
}

interface Usage {
  ports: number
  listeners: number
}

export class PortClaims {
  /** By place and port. */
  readonly #ports = new Map<string, ClaimedPort>()
  readonly #usage = new Map<string, Usage>()
  /** Ports that Gateways have opened. */
  #opened = 0

  /** `others` are the ports of Ingresses, which have the address `address`. */
  constructor(others: ReadonlyMap<number, Scheme>, address = '') {
    for (const [port, scheme] of others) this.#ports.set(portKey(address, port), { scheme, hostnames: new Map() })
  }

  /** A listener whose port is not available is not accepted. */
  readonly claim = (verdict: ListenerVerdict): ListenerVerdict => {
    if (!isServed(verdict)) return verdict
    const problem = this.#problemOf(verdict)
    if (problem !== undefined) return { ...verdict, accepted: unmet('PortUnavailable', problem) }
    const { listener, scheme, gateway } = verdict
    const usage = this.#usageOf(verdict)
    usage.listeners++
    for (const key of portKeys(verdict)) {
      const claimed = getOrInsert(this.#ports, key, () => {
        usage.ports++
        this.#opened++
        return { scheme, hostnames: new Map<string, string>() }
      })
      claimed.hostnames.set(listener.hostname ?? '', keyOf(gateway))
    }
    return verdict
  }

  #problemOf(verdict: ServedListener): string | undefined {
    const { listener, scheme, owner: holder } = verdict
    const { port, hostname = '' } = listener
    const { ports, listeners } = this.#usageOf(verdict)
    const home = `the Gateways of namespace ${namespaceOf(holder.object)}`
    if (listeners >= listenersPerNamespaceMax) return `${home} have ${listenersPerNamespaceMax} listeners already`
    const keys = portKeys(verdict)
    const claims = keys.flatMap((key) => this.#ports.get(key) ?? [])
    const added = keys.length - claims.length
    if (added > 0 && ports + added > portsPerNamespaceMax) return `${home} have ${portsPerNamespaceMax} ports already`
    if (added > 0 && this.#opened + added > portsMax) return `all Gateways have ${portsMax} ports already`
    const other = claims.find((each) => each.scheme !== scheme)
    if (other !== undefined) return `port ${port} is in use for ${other.scheme.toUpperCase()}`
    const owner = claims.map((each) => each.hostnames.get(hostname)).find((each) => each !== undefined)
    if (owner === undefined) return undefined
    return `Gateway ${owner} has port ${port} ${hostname === '' ? 'for all hostnames' : `for the hostname ${hostname}`}`
  }

  #usageOf({ owner }: ListenerVerdict): Usage {
    return getOrInsert(this.#usage, namespaceOf(owner.object), () => ({ ports: 0, listeners: 0 }))
  }
}

const portKey = (place: string, port: number): string => `${place} ${port}`

/** The port of a listener at each place of its Gateway. */
const portKeys = ({ places, listener: { port } }: ListenerVerdict): readonly string[] =>
  (places.length === 0 ? [''] : places).map((place) => portKey(place, port))
