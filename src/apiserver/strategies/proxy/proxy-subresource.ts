// The proxy subresource: paths of kubelets, of pods, and of the pods behind a service.
import { endpoints as endpointsKind } from '../../../api/core/v1/service/endpoints.ts'
import type { EndpointAddress } from '../../../api/core/v1/service/endpoint-subset.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import { pod as podKind, type Pod } from '../../../api/core/v1/pod/pod.ts'
import type { Service } from '../../../api/core/v1/service/service.ts'
import { badRequest, notFound } from '../../../api/errors/status-error.ts'
import type { WireResponse } from '../../../platform/http/listener.ts'
import type { ApiResponse } from '../../request/response.ts'
import type { KubeletConnection } from '../../kubelet-client/kubelet-connection.ts'
import { kubeletAddress } from '../../kubelet-client/node-address.ts'
import { originOf } from '../../kubelet-client/proxy-origin.ts'
import { isProxyableAddress } from '../../kubelet-client/proxyable-address.ts'
import type { ResourceDeps } from '../../registry/resource/resource-deps.ts'
import type { RegistryServices } from '../../registry/subresources/subresource-handler.ts'
import { get } from '../../registry/verbs/reads.ts'
import { callKubelet } from '../../kubelet-client/call-kubelet.ts'
import { podPort, portNumber, proxyName, serviceBackends, servicePortName } from './proxy-location.ts'
import { rewriteLinks } from './proxy-links.ts'
import type { ResourceRequest } from '../../request/request.ts'

/** A path of the kubelet: `nodes/n/proxy/configz`; or of another port of the node: `nodes/n:9100/proxy/`. */
export async function nodeProxy(
  deps: ResourceDeps,
  request: ResourceRequest,
  { kubelets }: RegistryServices,
): Promise<ApiResponse> {
  const requested = proxyName(request.target.name, 'node')
  const node = (await getNamed(deps, request, requested.name)).object as Node
  const toKubelet = async () => {
    const call = { node: requested.name, isProxied: true, ...forwardedRequest(request) } as const
    return callKubelet(deps, request, { call, what: `${call.method} ${request.target.path ?? '/'}` }, kubelets)
  }
  if (requested.port === '') return proxyRequest(request, '', toKubelet)
  const { host, port: kubeletPort } = kubeletAddress(node)
  const port = portNumber(requested.port)
  if (port === kubeletPort) return proxyRequest(request, `${host}:${port}`, toKubelet)
  const origin = originOf(requested.scheme, host, port)
  return proxyRequest(request, `${host}:${port}`, () => callServer(request, kubelets, origin))
}

/** A path of a server in a pod: `pods/web:8080/proxy/index.html`. */
export async function podProxy(
  deps: ResourceDeps,
  request: ResourceRequest,
  { kubelets }: RegistryServices,
): Promise<ApiResponse> {
  const requested = proxyName(request.target.name, 'pod')
  const pod = (await getNamed(deps, request, requested.name)).object as Pod
  return proxyToAddress(request, kubelets, requested.scheme, pod.status?.podIP ?? '', podPort(pod, requested))
}

/** A path of a pod behind a service: `services/web:http/proxy/`. */
export async function serviceProxy(
  deps: ResourceDeps,
  request: ResourceRequest,
  { kubelets }: RegistryServices,
): Promise<ApiResponse> {
  const requested = proxyName(request.target.name, 'service')
  const { namespace } = request.target
  const service = (await getNamed(deps, request, requested.name)).object as Service
  const portName = servicePortName(service, requested)
  const endpoints = deps.lister.get(endpointsKind, namespace, requested.name)
  if (endpoints === undefined) throw notFound(deps.kind, requested.name)
  const isBacked = (address: EndpointAddress) => isOfPod(deps, namespace, address)
  const backends = serviceBackends(endpoints, requested, portName, isBacked)
  const { address, port } = backends[deps.random.below(backends.length)] ?? { address: '', port: 0 }
  return proxyToAddress(request, kubelets, requested.scheme, address, port)
}

/** Writers of Endpoints can set any address, so only addresses of pods are proxied to. */
function isOfPod({ lister }: ResourceDeps, namespace: string, { ip, targetRef }: EndpointAddress): boolean {
  if (targetRef?.kind !== 'Pod' || targetRef.namespace !== namespace) return false
  const { podIPs = [] } = lister.get(podKind, namespace, targetRef.name ?? '')?.status ?? {}
  return podIPs.some((each) => each.ip === ip)
}

async function proxyToAddress(
  request: ResourceRequest,
  kubelets: KubeletConnection,
  scheme: 'http' | 'https',
  address: string,
  port: number,
): Promise<ApiResponse> {
  if (!isProxyableAddress(address)) throw badRequest('address not allowed')
  const origin = originOf(scheme, address, port)
  return proxyRequest(request, new URL(origin).host, () => callServer(request, kubelets, origin))
}

const callServer = (request: ResourceRequest, kubelets: KubeletConnection, origin: string): Promise<WireResponse> =>
  kubelets.callPod({ origin, host: clientHostOf(request), ...forwardedRequest(request) }, request.context.signal)

/** The host that the client named, which servers use in links. */
const clientHostOf = ({ proxied }: ResourceRequest): string | undefined =>
  proxied?.headers['host'] ?? proxied?.headers[':authority']

/** Browsers resolve links against the path of the proxy, so it must end with a slash. */
async function proxyRequest(
  request: ResourceRequest,
  host: string,
  send: () => Promise<WireResponse>,
): Promise<ApiResponse> {
  const { path, search } = sentTo(request)
  const { method } = request.proxied ?? { method: 'GET' }
  const isBare = request.target.path === '/' && !path.endsWith('/')
  if ((method === 'GET' || method === 'HEAD') && isBare) {
    const headers = { location: `${path}/${search}`, 'cache-control': 'no-cache, private' }
    return { kind: 'wire', response: { status: 301, headers, body: '' } }
  }
  const response = await send()
  const place = { root: proxyRoot(request), host, clientHost: clientHostOf(request) ?? '' }
  return { kind: 'wire', response: rewriteLinks(response, place) }
}

/** `/api/v1/nodes/n/proxy` */
function proxyRoot({ target: { resource, namespace, name } }: ResourceRequest): string {
  const scope = resource.namespaced ? `/namespaces/${namespace}` : ''
  return `/api/${resource.version}${scope}/${resource.plural}/${name}/proxy`
}

const getNamed = (deps: ResourceDeps, request: ResourceRequest, name: string) =>
  get(deps, { ...request, target: { ...request.target, name }, query: new URLSearchParams() })

/** Path and query as the client sent them. */
function sentTo({ origin, target, query }: ResourceRequest): { readonly path: string; readonly search: string } {
  const uri = origin?.uri ?? `/proxy${target.path ?? '/'}${query.size === 0 ? '' : `?${query}`}`
  const mark = uri.indexOf('?')
  return mark < 0 ? { path: uri, search: '' } : { path: uri.slice(0, mark), search: uri.slice(mark) }
}

function forwardedRequest(request: ResourceRequest) {
  const { proxied, target, origin } = request
  const { method, headers, body } = proxied ?? { method: 'GET', headers: {}, body: new Uint8Array() }
  const { search } = sentTo(request)
  const via = [headers['x-forwarded-for'], origin?.remoteAddress].filter((each) => each !== undefined && each !== '')
  return {
    method,
    headers: {
      ...headers,
      // Links in compressed pages could not be rewritten.
      'accept-encoding': undefined,
      'x-forwarded-uri': `${proxyRoot(request)}${target.path ?? '/'}`,
      ...(via.length === 0 ? {} : { 'x-forwarded-for': via.join(', ') }),
    },
    body,
    path: `${target.path ?? '/'}${search}`,
  }
}
