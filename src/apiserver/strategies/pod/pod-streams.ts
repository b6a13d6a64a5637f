// Streams of pods that the API server opens at kubelets: logs, exec, attach, port-forward. This file chooses the
// kubelet and the container; the bytes are passed through.
import { lookup } from '../../../base/collections/lookup.ts'
import { pod as podKind, type Pod } from '../../../api/core/v1/pod/pod.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import { badRequest, invalidObject, methodNotAllowed, StatusError } from '../../../api/errors/status-error.ts'
import type { WireResponse } from '../../../platform/http/listener.ts'
import { isWebSocketUpgrade } from '../../../wire/websocket/websocket-handshake.ts'
import { forbidden, invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import type { ApiResponse } from '../../request/response.ts'
import type { KubeletCall, KubeletConnection } from '../../kubelet-client/kubelet-connection.ts'
import { parseInteger } from '../../request/query-values.ts'
import type { ResourceDeps } from '../../registry/resource/resource-deps.ts'
import type { SubresourceHandler } from '../../registry/subresources/subresource-handler.ts'
import { get } from '../../registry/verbs/reads.ts'
import { callKubelet } from '../../kubelet-client/call-kubelet.ts'
import { logOverWebSocket } from './log-web-socket.ts'
import type { ResourceRequest } from '../../request/request.ts'

/** The kubelet's paths of these subresources. */
const kubeletPaths = { attach: 'attach', exec: 'exec', log: 'containerLogs', portforward: 'portForward' } as const

/** Their names in the flow record. */
const recordedNames = { attach: 'attach', exec: 'exec', log: 'logs', portforward: 'port-forward' } as const

type PodStream = keyof typeof kubeletPaths

export const podStreamHandler = (stream: PodStream): SubresourceHandler => ({
  kind: podKind,
  subresource: stream,
  // A log is not a connection: its options do not pass admission, and permission to get is enough.
  ...(stream === 'log' ? {} : { getRequiresCreate: true }),
  handle: (deps, request, { kubelets }) => podStream(deps, request, stream, kubelets),
})

async function podStream(
  deps: ResourceDeps,
  request: ResourceRequest,
  stream: PodStream,
  kubelets: KubeletConnection,
): Promise<ApiResponse> {
  const { target, upgrade } = request
  if (target.verb !== 'get' && (stream === 'log' || target.verb !== 'create')) throw methodNotAllowed()
  const pod = (await get(deps, { ...request, query: new URLSearchParams() })).object as Pod
  const container = stream === 'portforward' ? '' : `/${containerOf(pod, request.query.get('container') ?? '')}`
  if (stream === 'log') {
    const errors = logErrors(request.query)
    if (errors.length > 0) throw invalidObject('', 'PodLogOptions', target.name, errors)
  }
  const { nodeName } = pod.spec
  if (nodeName === undefined) {
    // A pod that never ran has an empty log.
    if (stream === 'log') return { kind: 'wire', response: { status: 204, headers: {}, body: '' } }
    throw badRequest(`pod ${target.name} does not have a host assigned`)
  }
  if (stream !== 'log' && upgrade === undefined) throw badRequest('Upgrade request required')
  // A WebSocket handshake is a GET. Port-forwards are tunnelled, and the kubelet rejects what it does not support.
  const isWebSocket = upgrade !== undefined && isWebSocketUpgrade(upgrade.headers)
  if (isWebSocket && target.verb === 'create' && stream !== 'portforward') throw methodNotAllowed()
  const callAtKubelet = async (call: KubeletCall): Promise<WireResponse> => {
    const response = await callKubelet(deps, request, { call, what: recordedNames[stream] }, kubelets)
    if (stream === 'log' && response.status >= 300) throw await statusOfKubeletError(response, deps.kind, target.name)
    return response
  }
  const query = kubeletQuery(request.query).toString()
  const call: KubeletCall = {
    node: nodeName,
    method: target.verb === 'get' ? 'GET' : 'POST',
    path: `/${kubeletPaths[stream]}/${target.namespace}/${target.name}${container}${query === '' ? '' : `?${query}`}`,
    headers: upgrade?.headers ?? {},
    body: undefined,
  }
  if (stream === 'log' && isWebSocket)
    return logOverWebSocket(upgrade.headers, (headers) => callAtKubelet({ ...call, headers }))
  const response = await callAtKubelet(call)
  return { kind: 'wire', response }
}

/** Errors in the options of a log. */
function logErrors(query: URLSearchParams): readonly FieldError[] {
  const atLeast = (name: string, minimum: number, detail: string): readonly FieldError[] => {
    const text = query.get(name)
    if (text === null) return []
    const value = parseInteger(text)
    return value < minimum ? [invalid(name, value, detail)] : []
  }
  const isBoth = query.has('sinceSeconds') && query.has('sinceTime')
  return [
    ...atLeast('tailLines', 0, 'must be greater than or equal to 0'),
    ...atLeast('limitBytes', 1, 'must be greater than 0'),
    ...(isBoth ? [forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified')] : []),
    ...atLeast('sinceSeconds', 1, 'must be greater than 0'),
  ]
}

const errorBytesMax = 50_000

/** The plain-text error of a kubelet as a Status. */
async function statusOfKubeletError({ status, body }: WireResponse, kind: Kind, name: string): Promise<StatusError> {
  let text = ''
  const decoder = new TextDecoder()
  const pieces = typeof body === 'string' || body instanceof Uint8Array ? [body] : 'take' in body ? [] : body
  for await (const piece of pieces)
    if (text.length < errorBytesMax) text += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
  if (status === 400) return badRequest(text)
  if (status === 500)
    return new StatusError(500, 'InternalError', `Internal error occurred: ${text}`, {
      causes: [{ reason: '', message: text }],
    })
  const details = {
    name,
    kind: kind.plural,
    causes: [{ reason: 'UnexpectedServerResponse', message: text }],
  }
  if (status === 404)
    return new StatusError(
      404,
      'NotFound',
      `the server could not find the requested resource ( ${kind.plural} ${name})`,
      details,
    )
  if (status === 401)
    return new StatusError(401, 'Unauthorized', 'the server has asked for the client to provide credentials', details)
  if (status === 403) return new StatusError(403, 'Forbidden', text === '' ? 'forbidden' : text, details)
  return new StatusError(
    status,
    '',
    `the server responded with the status code ${status} but did not return more information`,
    details,
  )
}

/** The kubelet's names of the parameters stdin, stdout and stderr. */
const kubeletNames: Readonly<Record<string, string>> = { stdin: 'input', stdout: 'output', stderr: 'error' }

function kubeletQuery(query: URLSearchParams): URLSearchParams {
  const renamed = new URLSearchParams()
  for (const [name, value] of query) {
    const isOn = value === 'true' || value === '1'
    if (name === 'container') continue
    if (Object.hasOwn(kubeletNames, name) || name === 'tty') {
      if (isOn) renamed.append(lookup(kubeletNames, name) ?? name, '1')
    } else renamed.append(name, value)
  }
  return renamed
}

/** The requested container, or the only one of the pod. */
function containerOf({ metadata, spec }: Pod, requested: string): string {
  const [regular, init, ephemeral] = [spec.containers, spec.initContainers ?? [], spec.ephemeralContainers ?? []].map(
    (list) => list.map(({ name }) => name),
  ) as [string[], string[], string[]]
  const only = regular.length === 1 && init.length + ephemeral.length === 0 ? regular[0] : undefined
  if (requested === '' && only !== undefined) return only
  if (requested === '') {
    const others = [
      ...(init.length === 0 ? [] : [` or one of the init containers: [${init.join(' ')}]`]),
      ...(ephemeral.length === 0 ? [] : [` or one of the ephemeral containers: [${ephemeral.join(' ')}]`]),
    ]
    throw badRequest(
      `a container name must be specified for pod ${metadata.name}, choose one of: [${regular.join(' ')}]${others.join('')}`,
    )
  }
  if ([...regular, ...init, ...ephemeral].includes(requested)) return requested
  throw badRequest(`container ${requested} is not valid for pod ${metadata.name}`)
}
