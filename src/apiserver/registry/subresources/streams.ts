// What the API server asks of kubelets for a client: logs, exec, attach, port-forward. Here it is decided which kubelet
// and which container; the bytes go past.
import type { Pod } from '../../../api/core/v1/pod.ts'
import { badRequest, methodNotAllowed } from '../../../api/status-error.ts'
import type { Answer } from '../../answer.ts'
import type { KubeletCall, KubeletConnection } from '../../kubelet-connection.ts'
import type { Verb } from '../../request.ts'
import type { ResourceParts, ResourceRequest } from '../parts.ts'
import { get } from '../reads.ts'

/** How the kubelet calls what the API calls otherwise. */
const kubeletPaths = { attach: 'attach', exec: 'exec', log: 'containerLogs', portforward: 'portForward' } as const

export type PodStream = keyof typeof kubeletPaths

export const isPodStream = (subresource: string): subresource is PodStream => subresource in kubeletPaths

export async function podStream(
  parts: ResourceParts,
  request: ResourceRequest,
  stream: PodStream,
  kubelets: KubeletConnection,
): Promise<Answer> {
  const { target, context, upgrade } = request
  if (target.verb !== 'get' && (stream === 'log' || target.verb !== 'create'))
    throw methodNotAllowed(parts.kind, target.verb)
  const pod = (await get(parts, { ...request, query: new URLSearchParams() })).object as Pod
  const container = stream === 'portforward' ? '' : `/${containerOf(pod, request.query.get('container') ?? '')}`
  const { nodeName } = pod.spec
  if (nodeName === undefined) {
    // Nothing was logged by what never ran.
    if (stream === 'log') return { kind: 'text', status: 200, text: '' }
    throw badRequest(`pod ${target.name} does not have a host assigned`)
  }
  const query = kubeletQuery(request.query).toString()
  const call: KubeletCall = {
    node: nodeName,
    method: target.verb === 'get' ? 'GET' : 'POST',
    path: `/${kubeletPaths[stream]}/${target.namespace}/${target.name}${container}${query === '' ? '' : `?${query}`}`,
    headers: upgrade?.headers ?? {},
    body: undefined,
  }
  if (stream === 'log') return { kind: 'wire', answer: await kubelets.call(call, context.signal) }
  if (upgrade === undefined) throw badRequest('Upgrade request required')
  const opened = await kubelets.open(call, context.signal)
  return { kind: 'upgraded', headers: opened.headers, join: (socket) => opened.join(socket) }
}

const methods: Readonly<Partial<Record<Verb, string>>> = {
  create: 'POST',
  delete: 'DELETE',
  get: 'GET',
  patch: 'PATCH',
  update: 'PUT',
}

/** A path of the kubelet's own server. */
export async function nodeProxy(
  parts: ResourceParts,
  request: ResourceRequest,
  kubelets: KubeletConnection,
): Promise<Answer> {
  const { target, query, context } = request
  const { object } = await get(parts, { ...request, query: new URLSearchParams() })
  const search = query.toString()
  const call: KubeletCall = {
    node: object.metadata.name,
    method: methods[target.verb] ?? 'GET',
    path: `${target.path ?? '/'}${search === '' ? '' : `?${search}`}`,
    headers: request.upgrade?.headers ?? {},
    body: undefined,
  }
  return { kind: 'wire', answer: await kubelets.call(call, context.signal) }
}

/** What a client calls stdin and stdout, a kubelet calls input and output. */
const kubeletNames: Readonly<Record<string, string>> = { stdin: 'input', stdout: 'output', stderr: 'error' }

function kubeletQuery(query: URLSearchParams): URLSearchParams {
  const renamed = new URLSearchParams()
  for (const [name, value] of query) {
    const isOn = value === 'true' || value === '1'
    if (name === 'container') continue
    if (name in kubeletNames || name === 'tty') {
      if (isOn) renamed.append(kubeletNames[name] ?? name, '1')
    } else renamed.append(name, value)
  }
  return renamed
}

/** The container that was named, or the only one there is. */
function containerOf({ metadata, spec }: Pod, asked: string): string {
  const [regular, init, ephemeral] = [spec.containers, spec.initContainers ?? [], spec.ephemeralContainers ?? []].map(
    (list) => list.map(({ name }) => name),
  ) as [string[], string[], string[]]
  const only = regular.length === 1 && init.length + ephemeral.length === 0 ? regular[0] : undefined
  if (asked === '' && only !== undefined) return only
  if (asked === '') {
    const others = [
      ...(init.length === 0 ? [] : [` or one of the init containers: [${init.join(' ')}]`]),
      ...(ephemeral.length === 0 ? [] : [` or one of the ephemeral containers: [${ephemeral.join(' ')}]`]),
    ]
    throw badRequest(
      `a container name must be specified for pod ${metadata.name}, choose one of: [${regular.join(' ')}]${others.join('')}`,
    )
  }
  if ([...regular, ...init, ...ephemeral].includes(asked)) return asked
  throw badRequest(`container ${asked} is not valid for pod ${metadata.name}`)
}
