// Paths of other servers, reached through the API server: of kubelets, of pods, and of the pods behind a service.
import type { Pod } from '../../../api/core/v1/pod.ts'
import type { Service } from '../../../api/core/v1/service.ts'
import { endpointSlice } from '../../../api/discovery/v1/endpoint-slice.ts'
import { badRequest, StatusError } from '../../../api/status-error.ts'
import type { Answer } from '../../answer.ts'
import type { KubeletConnection } from '../../kubelet-connection.ts'
import type { ResourceParts, ResourceRequest } from '../parts.ts'
import { get } from '../reads.ts'
import { callKubelet } from './call-kubelet.ts'

/** A path of a kubelet's own server. */
export async function nodeProxy(
  parts: ResourceParts,
  request: ResourceRequest,
  kubelets: KubeletConnection,
): Promise<Answer> {
  const { object } = await named(parts, request, request.target.name)
  const call = { node: object.metadata.name, ...onward(request) }
  const what = `${call.method} ${request.target.path ?? '/'}`
  return { kind: 'wire', answer: await callKubelet(parts, request, { call, what }, kubelets) }
}

/** A path of a server in a pod: `pods/web:8080/proxy/index.html`. */
export async function podProxy(
  parts: ResourceParts,
  request: ResourceRequest,
  kubelets: KubeletConnection,
): Promise<Answer> {
  const { name, port } = splitName(request.target.name)
  const { spec, status } = (await named(parts, request, name)).object as Pod
  const ports = spec.containers.flatMap((container) => container.ports ?? [])
  const found = port === '' ? ports[0] : ports?.find((candidate) => candidate.name === port)
  return passOn(request, kubelets, status?.podIP ?? '', found?.containerPort ?? (port === '' ? 80 : portNumber(port)))
}

/** A path of a pod that is behind a service: `services/web:http/proxy/`. */
export async function serviceProxy(
  parts: ResourceParts,
  request: ResourceRequest,
  kubelets: KubeletConnection,
): Promise<Answer> {
  const { name, port } = splitName(request.target.name)
  const { spec } = (await named(parts, request, name)).object as Service
  const wanted = (spec?.ports ?? []).find((candidate) =>
    port === '' ? true : candidate.name === port || String(candidate.port) === port,
  )
  if (wanted === undefined)
    throw unavailable(`no service port ${JSON.stringify(port)} found for service ${JSON.stringify(name)}`)
  const slices = parts.reads
    .list(endpointSlice, request.target.namespace)
    .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name)
  const backends = slices.flatMap(({ endpoints, ports }) => {
    const number = ports?.find((candidate) => (candidate.name ?? '') === (wanted.name ?? ''))?.port
    const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false)
    return number === undefined
      ? []
      : ready.flatMap(({ addresses }) => addresses.map((address) => ({ address, number })))
  })
  const backend = backends[parts.random.below(Math.max(1, backends.length))]
  if (backend === undefined) throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`)
  return passOn(request, kubelets, backend.address, backend.number)
}

const unavailable = (message: string): StatusError => new StatusError(503, 'ServiceUnavailable', message)

async function passOn(
  request: ResourceRequest,
  kubelets: KubeletConnection,
  address: string,
  port: number,
): Promise<Answer> {
  // Nothing on the API server's own machine is reached this way.
  if (address === '' || /^(127\.|169\.254\.|0\.|::1?$|fe80:)/i.test(address)) throw badRequest('address not allowed')
  const origin = `http://${address.includes(':') ? `[${address}]` : address}:${port}`
  return { kind: 'wire', answer: await kubelets.callPod({ origin, ...onward(request) }, request.context.signal) }
}

const named = (parts: ResourceParts, request: ResourceRequest, name: string) =>
  get(parts, { ...request, target: { ...request.target, name }, query: new URLSearchParams() })

/** `[scheme:]name[:port]` */
function splitName(text: string): { name: string; port: string } {
  const fields = text.split(':')
  const [scheme, name = '', port = ''] = fields.length === 3 ? fields : ['', ...fields]
  if (fields.length > 3 || (scheme !== '' && scheme !== 'http'))
    throw badRequest(`invalid proxy request ${JSON.stringify(text)}: only http is passed on`)
  return { name, port }
}

function portNumber(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw badRequest(`invalid port ${JSON.stringify(text)}`)
  return port
}

function onward({ proxied, target, query }: ResourceRequest) {
  const { method, headers, body } = proxied ?? { method: 'GET', headers: {}, body: new Uint8Array() }
  const search = query.toString()
  return { method, headers, body, path: `${target.path ?? '/'}${search === '' ? '' : `?${search}`}` }
}
