// The server that a proxied request goes to, for a node, a pod or a service. Only the objects and the name in the path
// decide, never the rest of the path.
import type { Endpoints } from '../../../api/core/v1/service/endpoints.ts'
import type { EndpointAddress } from '../../../api/core/v1/service/endpoint-subset.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { Service } from '../../../api/core/v1/service/service.ts'
import { badRequest, StatusError } from '../../../api/errors/status-error.ts'

/** `name`, `name:port` or `scheme:name:port`, as in the path. */
export interface ProxyName {
  readonly text: string
  readonly scheme: 'http' | 'https'
  readonly hasScheme: boolean
  readonly name: string
  /** A number, the name of a port, or '' for the default. */
  readonly port: string
}

export function proxyName(text: string, what: 'node' | 'pod' | 'service'): ProxyName {
  const fields = text.split(':')
  const [scheme = '', name = '', port = ''] = fields.length === 3 ? fields : ['', ...fields]
  const isScheme = scheme === '' || scheme === 'http' || scheme === 'https'
  if (fields.length > 3 || name === '' || !isScheme) throw badRequest(`invalid ${what} request ${JSON.stringify(text)}`)
  return { text, scheme: scheme === 'https' ? 'https' : 'http', hasScheme: scheme !== '', name, port }
}

const isNumber = (text: string): boolean => /^\d{1,5}$/.test(text)

export function portNumber(text: string): number {
  const port = isNumber(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw badRequest(`invalid port ${JSON.stringify(text)}`)
  return port
}

/** The requested port by number or name, or the first port that a container declares. */
export function podPort({ spec }: Pod, { port, scheme }: ProxyName): number {
  const ports = spec.containers.flatMap((container) => container.ports ?? [])
  const found = port === '' ? ports[0] : ports.find((candidate) => candidate.name === port)
  if (found !== undefined) return found.containerPort
  return port === '' ? (scheme === 'https' ? 443 : 80) : portNumber(port)
}

export interface Backend {
  readonly address: string
  readonly port: number
}

/** The name of the requested port: a number is that of a port of the service. */
export function servicePortName({ spec }: Service, { name, port }: ProxyName): string {
  if (!isNumber(port)) return port
  const found = (spec.ports ?? []).find((candidate) => candidate.port === Number(port))
  if (found === undefined)
    throw unavailable(`no service port ${Number(port)} found for service ${JSON.stringify(name)}`)
  return found.name ?? ''
}

/** The ready addresses of a service at a port. `isBacked` returns whether a pod has the address. */
export function serviceBackends(
  { subsets = [] }: Endpoints,
  { text, name }: ProxyName,
  portName: string,
  isBacked: (address: EndpointAddress) => boolean,
): readonly Backend[] {
  // As upstream: the service is named as in the path only if it has endpoints at all.
  if (subsets.length === 0) throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`)
  const backends = subsets.flatMap(({ addresses = [], ports = [] }) => {
    const number = ports.find((candidate) => (candidate.name ?? '') === portName)?.port
    return number === undefined ? [] : addresses.filter(isBacked).map(({ ip }) => ({ address: ip, port: number }))
  })
  if (backends.length === 0) throw unavailable(`no endpoints available for service ${JSON.stringify(text)}`)
  return backends
}

const unavailable = (message: string): StatusError => new StatusError(503, 'ServiceUnavailable', message)
