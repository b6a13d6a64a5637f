// /containerLogs: selects the attempt and the options of a log request.
import { lookup } from '../../base/collections/lookup.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import { readLog, type LogOptions } from '../logs/read-log.ts'
import { inspect, KubeletHttpError, type KubeletHost } from './kubelet-host.ts'

export interface LogRequest {
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly query: URLSearchParams
}

export async function containerLogs(
  host: KubeletHost,
  { namespace, pod: podName, container: name, query }: LogRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<WireResponse> {
  const pod = host.pod(namespace, podName)
  if (pod === undefined) throw new KubeletHttpError(404, `pod ${JSON.stringify(podName)} does not exist\n`)
  const containerId = loggedContainer(pod, name, isTrue(query, 'previous'))
  const options = logOptions(query, clock.nowMs())
  const find = async () =>
    (await inspect(host, pod, signal))?.containers.find(({ id }) => containerId.endsWith(`//${id}`))
  const found = await find()
  const source = {
    files: host.logs,
    path: found?.logPath ?? '',
    isRunning: async () => (await find())?.state === 'running',
  }
  const body =
    found === undefined ? `unable to retrieve container logs for ${containerId}` : readLog(source, options, signal)
  return { status: 200, headers: { 'content-type': 'text/plain' }, body }
}

const isTrue = (query: URLSearchParams, name: string): boolean => ['true', '1', ''].includes(query.get(name) ?? 'false')

function logOptions(query: URLSearchParams, nowMs: number): LogOptions {
  const number = (name: string): number | undefined => {
    const text = query.get(name)
    if (text === null || text === '') return undefined
    if (!/^\d+$/.test(text)) throw new KubeletHttpError(400, '{"message": "Unable to decode query."}')
    return Number(text)
  }
  const sinceSeconds = number('sinceSeconds')
  const sinceTime = query.get('sinceTime') ?? ''
  const sinceMs =
    sinceSeconds !== undefined ? nowMs - sinceSeconds * 1000 : sinceTime === '' ? undefined : Date.parse(sinceTime)
  return {
    follow: isTrue(query, 'follow'),
    timestamps: isTrue(query, 'timestamps'),
    tailLines: number('tailLines'),
    sinceMs,
    limitBytes: number('limitBytes'),
  }
}

/** Waiting reasons with a message of their own. */
const waitingMessages: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
}

/** The container id, as in the status, of the attempt whose log is shown. */
export function loggedContainer({ metadata, status }: Pod, name: string, previous: boolean): string {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {}
  const found = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].find(
    (container) => container.name === name,
  )
  const reject = (what: string): never => {
    throw new KubeletHttpError(400, what)
  }
  const inPod = `container ${JSON.stringify(name)} in pod ${JSON.stringify(metadata.name)}`
  if (found === undefined) return reject(`${inPod} is not available`)
  const { running, terminated, waiting } = found.state ?? {}
  const before = found.lastState?.terminated
  const beforeId = before?.containerID ?? ''
  if (previous) return beforeId === '' ? reject(`previous terminated ${inPod} not found`) : beforeId
  if (running !== undefined) return found.containerID ?? ''
  if (terminated !== undefined || before !== undefined) {
    const id = terminated?.containerID ?? ''
    if (id !== '') return id
    return beforeId === '' ? reject(`${inPod} is terminated`) : beforeId
  }
  if (waiting === undefined) return reject(`${inPod} is waiting to start - no logs yet`)
  const reason = waiting.reason ?? ''
  return reject(`${inPod} is waiting to start: ${lookup(waitingMessages, reason) ?? reason}`)
}
