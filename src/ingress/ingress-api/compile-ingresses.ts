// Compiles Ingresses to routes and certificates, and finds references to objects that do not exist. Pure.
import type { Secret } from '../../api/core/v1/secret.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { keyOf, namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import type { Ingress } from '../../api/networking/v1/ingress.ts'
import type { IngressBackend, IngressTLS, HTTPIngressPath } from '../../api/networking/v1/ingress-spec.ts'
import { lookup } from '../../base/collections/lookup.ts'
import type { ServerNameCertificate } from '../../platform/http/listener.ts'
import { servicePort } from '../backends/service-endpoints.ts'
import { routeHostOf, type Backend, type Route, type RouteHost, type WeightedBackend } from '../routing/route.ts'

export interface IngressSources {
  service(key: ObjectKey): Service | undefined
  secret(key: ObjectKey): Secret | undefined
  /** Whether the text is a certificate and its key. */
  isKeyPair(certificate: string, key: string): boolean
}

/** A reference that cannot be followed. It becomes an event. */
export interface Problem {
  readonly reason: 'ServiceNotFound' | 'ServicePortNotFound' | 'SecretNotFound' | 'InvalidCertificate' | 'Unsupported'
  readonly message: string
}

export interface CompiledIngress {
  readonly routes: readonly Route[]
  readonly certificates: readonly ServerNameCertificate[]
  readonly problems: readonly Problem[]
}

export function compileIngress(ingress: Ingress, sources: IngressSources): CompiledIngress {
  const problems: Problem[] = []
  const report = (reason: Problem['reason'], message: string) => void problems.push({ reason, message })
  const { rules = [], defaultBackend, tls = [] } = ingress.spec
  const routeOf = (host: RouteHost, path: Route['match']['path'], backend: IngressBackend, order: string): Route => ({
    name: `ingress/${keyOf(ingress)}`,
    host,
    match: { path, headers: [], query: [] },
    order: `${ingress.metadata.creationTimestamp ?? ''} ${keyOf(ingress)} ${order}`,
    filters: [],
    backends: backendsOf(ingress, backend, sources, report),
    emptyStatus: 404,
    requestMsMax: undefined,
    backendMsMax: undefined,
  })
  const routes = rules.flatMap(({ host, http }, rule) =>
    (http?.paths ?? []).map((path, index) =>
      routeOf(routeHostOf(host ?? '', 'one'), pathMatch(path), path.backend, `${padded(rule)} ${padded(index)}`),
    ),
  )
  if (defaultBackend !== undefined)
    for (const host of defaultHosts(ingress))
      routes.push(routeOf(host, { kind: 'prefix', value: '/' }, defaultBackend, 'default'))
  const certificates = tls.flatMap((each) => certificatesOf(ingress, each, sources, report))
  return { routes, certificates, problems: distinct(problems) }
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

type Report = (reason: Problem['reason'], message: string) => void

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

function certificatesOf(
  ingress: Ingress,
  { hosts, secretName = '' }: IngressTLS,
  sources: IngressSources,
  report: Report,
): readonly ServerNameCertificate[] {
  if (secretName === '') return []
  const found = sources.secret(objectKey(namespaceOf(ingress), secretName))
  if (found === undefined) {
    report(
      'SecretNotFound',
      `Secret "${secretName}" does not exist; its hosts are served with the fallback certificate`,
    )
    return []
  }
  const pair = keyPairOf(found)
  if (pair === undefined || !sources.isKeyPair(pair.certificate, pair.key)) {
    report('InvalidCertificate', `Secret "${secretName}" does not contain a certificate and its key`)
    return []
  }
  const names = hosts ?? (ingress.spec.rules ?? []).flatMap(({ host }) => host ?? [])
  return names.map((name) => ({ name: name.toLowerCase(), ...pair }))
}

/** The certificate and key in a Secret of type kubernetes.io/tls. */
export function keyPairOf({ data }: Secret): { readonly certificate: string; readonly key: string } | undefined {
  const [certificate, key] = [lookup(data, 'tls.crt'), lookup(data, 'tls.key')]
  if (certificate === undefined || key === undefined) return undefined
  return { certificate: textOf(certificate), key: textOf(key) }
}

const textOf = (base64: string): string => new TextDecoder().decode(Uint8Array.fromBase64(base64))

const padded = (index: number): string => String(index).padStart(4, '0')

const distinct = (problems: readonly Problem[]): readonly Problem[] => [
  ...new Map(problems.map((problem) => [problem.message, problem])).values(),
]
