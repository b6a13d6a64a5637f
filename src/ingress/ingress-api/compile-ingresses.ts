// Compiles an Ingress to routes and certificates, and finds references to objects that do not exist. Pure.
import type { Secret } from '../../api/core/v1/secret.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { ageOrder } from '../routing/older-first.ts'
import { keyOf, namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import type { Ingress } from '../../api/networking/v1/ingress.ts'
import type { IngressBackend, HTTPIngressPath } from '../../api/networking/v1/ingress-spec.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import type { KeyPair } from '../../platform/http/listener.ts'
import { servicePort } from '../backends/service-endpoints.ts'
import type { OwnCertificates } from '../routing/certificate-table.ts'
import { routeHostOf, type Backend, type Route, type RouteHost, type WeightedBackend } from '../routing/route.ts'

/** Paths of one Ingress, and hosts with a certificate; further ones are not served. They bound the time of one change. */
export const routesPerIngressMax = 10_000
export const serverNamesPerIngressMax = 10_000
/** Paths between two checks of the slice. */
const routesPerCheck = 64
/** Problems of one Ingress that are remembered. */
const problemsMax = 100

export interface IngressSources {
  service(key: ObjectKey): Service | undefined
  secret(key: ObjectKey): Secret | undefined
  /** The certificate in a Secret, if it is valid. */
  keyPair(secret: Secret): KeyPair | undefined
}

/** A reference that cannot be followed, or a part of an Ingress that is not served. It becomes an event. */
export interface Problem {
  readonly reason:
    | 'ServiceNotFound'
    | 'ServicePortNotFound'
    | 'SecretNotFound'
    | 'InvalidCertificate'
    | 'TooManyHosts'
    | 'TooManyPaths'
    | 'Unsupported'
  readonly message: string
}

export interface CompiledIngress {
  readonly routes: readonly Route[]
  readonly certificates: OwnCertificates
  readonly problems: readonly Problem[]
}

/** In slices: an Ingress may have thousands of paths and hosts. */
export function* compileIngress(ingress: Ingress, sources: IngressSources, slice: Slice): Sliced<CompiledIngress> {
  const problems = new Map<string, Problem>()
  const report: Report = (reason, message) => {
    if (problems.size < problemsMax) problems.set(message, { reason, message })
  }
  const routes = yield* routesOf(ingress, sources, report, slice)
  const certificates = { order: ageOrder(ingress), names: certificatesOf(ingress, sources, report) }
  return { routes, certificates, problems: [...problems.values()] }
}

type Report = (reason: Problem['reason'], message: string) => void

function* routesOf(ingress: Ingress, sources: IngressSources, report: Report, slice: Slice): Sliced<readonly Route[]> {
  const { rules = [], defaultBackend } = ingress.spec
  const routes: Route[] = []
  const name = `ingress/${keyOf(ingress)}`
  const order = ageOrder(ingress)
  const backends = new Map<string, readonly WeightedBackend[]>()
  const add = (host: RouteHost, path: Route['match']['path'], backend: IngressBackend, position: string): boolean => {
    if (routes.length >= routesPerIngressMax) {
      report('TooManyPaths', `only the first ${routesPerIngressMax} paths are served`)
      return false
    }
    routes.push({
      name,
      host,
      match: { path, headers: [], query: [] },
      order: `${order} ${position}`,
      filters: [],
      backends: getOrInsert(backends, backendKey(backend), () => backendsOf(ingress, backend, sources, report)),
      emptyStatus: 404,
      requestMsMax: undefined,
      backendMsMax: undefined,
    })
    return true
  }
  // Before the paths, so that these do not displace it.
  if (defaultBackend !== undefined)
    for (const host of defaultHosts(ingress))
      if (!add(host, { kind: 'prefix', value: '/' }, defaultBackend, 'default')) return routes
  for (const [index, { host, http }] of rules.entries())
    for (const [at, path] of (http?.paths ?? []).entries()) {
      if (!add(routeHostOf(host ?? '', 'one'), pathMatch(path), path.backend, `${padded(index)} ${padded(at)}`))
        return routes
      if (routes.length % routesPerCheck === 0 && slice.isUsedUp()) yield
    }
  return routes
}

/** ImplementationSpecific is treated as a prefix. */
const pathMatch = ({ path, pathType }: HTTPIngressPath): Route['match']['path'] => ({
  kind: pathType === 'Exact' ? 'exact' : 'prefix',
  value: path === undefined || path === '' ? '/' : path,
})

/** The default backend serves what no rule matches: the paths of the hosts of its own rules, and all other hosts. */
const defaultHosts = ({ spec: { rules = [] } }: Ingress): readonly RouteHost[] => {
  const names = new Set(['', ...rules.map(({ host }) => host ?? '')])
  return Array.from(names, (name) => routeHostOf(name, 'one'))
}

/** Many paths have the same backend. */
const backendKey = ({ service, resource }: IngressBackend): string =>
  service === undefined
    ? `${resource?.kind ?? ''} ${resource?.name ?? ''}`
    : `${service.name} ${service.port.name ?? ''} ${service.port.number ?? ''}`

/** Without the Service the backend is kept: it has no endpoints, and the response is 503. */
function backendsOf(
  ingress: Ingress,
  { service, resource }: IngressBackend,
  sources: IngressSources,
  report: Report,
): readonly WeightedBackend[] {
  if (service === undefined) {
    report('Unsupported', `resource backends are not supported: ${resource?.kind ?? ''} ${resource?.name ?? ''}`)
    return []
  }
  const { name, port } = service
  const namespace = namespaceOf(ingress)
  const wanted = port.name === undefined || port.name === '' ? (port.number ?? 0) : port.name
  const found = sources.service(objectKey(namespace, name))
  const foundPort = servicePort(found, wanted)
  if (found === undefined) report('ServiceNotFound', `Service "${name}" does not exist`)
  else if (foundPort === undefined) report('ServicePortNotFound', `Service "${name}" has no port ${wanted}`)
  const backend: Backend = { namespace, service: name, port: wanted, protocol: protocolOf(foundPort?.appProtocol) }
  return [{ backend, weight: 1, filters: [] }]
}

/** The values that Kubernetes documents, and `grpc`, which others use. */
export const protocolOf = (appProtocol: string | undefined): Backend['protocol'] =>
  appProtocol === 'kubernetes.io/h2c' || appProtocol === 'grpc' ? 'h2c' : 'http1'

/** By name, in lower case. Of several certificates for a name the first is used. */
function certificatesOf(ingress: Ingress, sources: IngressSources, report: Report): ReadonlyMap<string, KeyPair> {
  const { rules = [], tls = [] } = ingress.spec
  const names = new Map<string, KeyPair>()
  let hasAllHosts = false
  for (const { hosts, secretName = '' } of tls) {
    // An entry without hosts is for those of all rules, so a second one has no effect.
    if (secretName === '' || (hosts === undefined && hasAllHosts)) continue
    const pair = secretPair(objectKey(namespaceOf(ingress), secretName), secretName, sources, report)
    if (pair === undefined) continue
    hasAllHosts ||= hosts === undefined
    for (const host of hosts ?? rules.flatMap((rule) => rule.host ?? [])) {
      const name = host.toLowerCase()
      if (names.has(name)) continue
      if (names.size >= serverNamesPerIngressMax) {
        report(
          'TooManyHosts',
          `only the first ${serverNamesPerIngressMax} hosts of tls are served with their certificate`,
        )
        return names
      }
      names.set(name, pair)
    }
  }
  return names
}

function secretPair(key: ObjectKey, name: string, sources: IngressSources, report: Report): KeyPair | undefined {
  const found = sources.secret(key)
  if (found === undefined) {
    report('SecretNotFound', `Secret "${name}" does not exist; its hosts are served with the fallback certificate`)
    return undefined
  }
  const pair = sources.keyPair(found)
  if (pair === undefined) report('InvalidCertificate', `Secret "${name}" does not contain a certificate and its key`)
  return pair
}

const padded = (index: number): string => String(index).padStart(6, '0')
