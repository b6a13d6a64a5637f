// Conflicts between the listeners of a Gateway and of its ListenerSets: a port has one protocol, and a hostname has one listener of a port.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { EvaluatedListener, Scheme } from './evaluate-listener.ts'
import { met, unmet, type Outcome } from './outcome.ts'

const noConflict = unmet('NoConflicts', 'no other listener conflicts with it')
const protocolConflict = (other: string, port: number): Outcome =>
  met('ProtocolConflict', `listener ${other} has another protocol on port ${port}`)
const hostnameConflict = (other: string, port: number): Outcome =>
  met('HostnameConflict', `listener ${other} has the same hostname on port ${port}`)

/** TCP is not supported, but what has the port conflicts with it. */
const needsPort = ({ listener, scheme }: EvaluatedListener): boolean =>
  scheme !== undefined || listener.protocol === 'TCP'

const hostnameOf = ({ listener }: EvaluatedListener): string => listener.hostname ?? ''

/** A listener among all of a Gateway, each of which conflicts with the others. A Gateway has at most 64. */
export function conflictAmong(evaluated: EvaluatedListener, all: readonly EvaluatedListener[]): Outcome {
  const { listener, scheme } = evaluated
  const others = all.filter(
    (each) => each.listener !== listener && each.listener.port === listener.port && each.scheme !== undefined,
  )
  const protocol = needsPort(evaluated) ? others.find((each) => each.scheme !== scheme) : undefined
  if (protocol !== undefined) return protocolConflict(protocol.listener.name, listener.port)
  const hostname = others.find((each) => each.scheme === scheme && hostnameOf(each) === hostnameOf(evaluated))
  return hostname === undefined ? noConflict : hostnameConflict(hostname.listener.name, listener.port)
}

interface HeldPort {
  readonly scheme: Scheme
  /** The name of the first listener. */
  readonly holder: string
  /** The names of listeners by hostname. */
  readonly byHostname: Map<string, string>
}

/** The ports of listeners that do not conflict. Later listeners conflict with them; there may be thousands. */
export class HeldPorts {
  readonly #ports = new Map<number, HeldPort>()

  hold(evaluated: EvaluatedListener): void {
    const { listener, scheme } = evaluated
    if (scheme === undefined) return
    const held = getOrInsert(this.#ports, listener.port, () => ({
      scheme,
      holder: listener.name,
      byHostname: new Map<string, string>(),
    }))
    held.byHostname.set(hostnameOf(evaluated), listener.name)
  }

  conflictOf(evaluated: EvaluatedListener): Outcome {
    const { listener, scheme } = evaluated
    const held = this.#ports.get(listener.port)
    if (held === undefined || !needsPort(evaluated)) return noConflict
    if (held.scheme !== scheme) return protocolConflict(held.holder, listener.port)
    const other = held.byHostname.get(hostnameOf(evaluated))
    return other === undefined ? noConflict : hostnameConflict(other, listener.port)
  }
}
