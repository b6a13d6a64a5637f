// ReachTarget: where traffic goes, as text: `pod/b:80`, `pod/<namespace>/b:http`, `service/web`, `service/<namespace>/web:80`,
// `10.1.2.3:80` or `[fd00::1]:80`. A protocol may follow the port: `service/dns:53/udp`.
import { joinHostPort } from '../../base/net/host-port.ts'
import { isIp } from '../../base/net/ip-bytes.ts'
import { portLast, protocols, type Protocol } from '../../network-policy/rules/compiled-policy.ts'

export interface ObjectPort {
  /** A number, or the name of a port; undefined for the only port of the object. */
  readonly port: number | string | undefined
  /** Undefined: that of the port, or TCP. */
  readonly protocol: Protocol | undefined
}

export type ReachTarget =
  | (ObjectPort & { readonly kind: 'pod' | 'service'; readonly namespace: string; readonly name: string })
  | { readonly kind: 'address'; readonly address: string; readonly port: number; readonly protocol: Protocol }

export const targetForms =
  'pod/<name>:<port>, service/<name>[:<port>], either with pod/<namespace>/<name>, or <address>:<port>; a protocol may follow the port (:53/udp)'

const pattern =
  /^(?:\[(?<ipv6>[0-9a-fA-F:.]+)\]|(?<ipv4>[0-9.]+)|(?<kind>[a-z]+)\/(?:(?<home>[a-z0-9-]+)\/)?(?<name>[a-z0-9.-]+))(?::(?<port>[a-z0-9-]+)(?:\/(?<protocol>[a-zA-Z]+))?)?$/

const kindNames: ReadonlyMap<string, 'pod' | 'service'> = new Map([
  ['po', 'pod'],
  ['pod', 'pod'],
  ['pods', 'pod'],
  ['service', 'service'],
  ['services', 'service'],
  ['svc', 'service'],
])

/** Undefined if the text has none of the forms. `namespace` is that of a name without one. */
export function parseReachTarget(text: string, namespace: string): ReachTarget | undefined {
  const { ipv6, ipv4, kind, home, name, port: portText, protocol: word } = pattern.exec(text)?.groups ?? {}
  const port = portText === undefined ? undefined : parsePort(portText)
  const protocol = protocols.find((each) => each === word?.toUpperCase())
  if ((portText !== undefined && port === undefined) || (word !== undefined && protocol === undefined)) return undefined
  const address = ipv6 ?? ipv4
  if (address !== undefined)
    return typeof port === 'number' && isIp(address)
      ? { kind: 'address', address, port, protocol: protocol ?? 'TCP' }
      : undefined
  const known = kindNames.get(kind ?? '')
  return known === undefined || name === undefined
    ? undefined
    : { kind: known, namespace: home ?? namespace, name, port, protocol }
}

function parsePort(text: string): number | string | undefined {
  if (!/^\d+$/.test(text)) return /[a-z]/.test(text) ? text : undefined
  const port = Number(text)
  return port > 0 && port <= portLast ? port : undefined
}

/** `service/web:80`; the namespace is named if it is another one. */
export function targetText(target: ReachTarget, namespace: string): string {
  if (target.kind === 'address') return `${joinHostPort(target.address, target.port)}/${target.protocol}`
  const home = target.namespace === namespace ? '' : `${target.namespace}/`
  const port = target.port === undefined ? '' : `:${target.port}`
  return `${target.kind}/${home}${target.name}${port}${target.protocol === undefined ? '' : `/${target.protocol}`}`
}
