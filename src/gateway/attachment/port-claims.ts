// PortClaims: the ports and hostnames of the proxy that are in use. Older Gateways claim first.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { keyOf, namespaceOf } from '../../api/meta/object.ts'
import type { Scheme } from './evaluate-listener.ts'
import { listenersPerNamespaceMax, portsMax, portsPerNamespaceMax } from './gateway-limits.ts'
import { isServed, type ListenerVerdict, type ServedListener } from './listener-verdict.ts'
import { unmet } from './outcome.ts'

interface Usage {
  ports: number
  listeners: number
}

export class PortClaims {
  readonly #ports = new Map<number, { readonly scheme: Scheme; readonly hostnames: Map<string, string> }>()
  readonly #usage = new Map<string, Usage>()
  /** Ports that Gateways have opened. */
  #opened = 0

  /** `others` are the ports of Ingresses. */
  constructor(others: ReadonlyMap<number, Scheme>) {
    for (const [port, scheme] of others) this.#ports.set(port, { scheme, hostnames: new Map() })
  }

  /** A listener whose port is not available is not accepted. */
  readonly claim = (verdict: ListenerVerdict): ListenerVerdict => {
    if (!isServed(verdict)) return verdict
    const problem = this.#problemOf(verdict)
    if (problem !== undefined) return { ...verdict, accepted: unmet('PortUnavailable', problem) }
    const { listener, scheme, gateway } = verdict
    const usage = this.#usageOf(verdict)
    usage.listeners++
    const claimed = getOrInsert(this.#ports, listener.port, () => {
      usage.ports++
      this.#opened++
      return { scheme, hostnames: new Map<string, string>() }
    })
    claimed.hostnames.set(listener.hostname ?? '', keyOf(gateway))
    return verdict
  }

  #problemOf(verdict: ServedListener): string | undefined {
    const { listener, scheme, gateway } = verdict
    const { port, hostname = '' } = listener
    const { ports, listeners } = this.#usageOf(verdict)
    const home = `the Gateways of namespace ${namespaceOf(gateway)}`
    if (listeners >= listenersPerNamespaceMax) return `${home} have ${listenersPerNamespaceMax} listeners already`
    const claimed = this.#ports.get(port)
    if (claimed === undefined && ports >= portsPerNamespaceMax)
      return `${home} have ${portsPerNamespaceMax} ports already`
    if (claimed === undefined && this.#opened >= portsMax) return `all Gateways have ${portsMax} ports already`
    if (claimed !== undefined && claimed.scheme !== scheme)
      return `port ${port} is in use for ${claimed.scheme.toUpperCase()}`
    const owner = claimed?.hostnames.get(hostname)
    if (owner === undefined) return undefined
    return `Gateway ${owner} has port ${port} ${hostname === '' ? 'for all hostnames' : `for the hostname ${hostname}`}`
  }

  #usageOf({ gateway }: ListenerVerdict): Usage {
    return getOrInsert(this.#usage, namespaceOf(gateway), () => ({ ports: 0, listeners: 0 }))
  }
}
