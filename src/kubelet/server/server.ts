// KubeletServer: the kubelet's own paths: logs of containers, streams into them, its pods and its health. Requests come
// from a listener, or from the API server in the same process without one.
import type { Clock } from '../../base/clock.ts'
import { context } from '../../base/context.ts'
import { noCause, type Cause } from '../../base/flow.ts'
import { errorText, type Log } from '../../base/log.ts'
import type { WireAnswer, WireRequest } from '../../platform/listener.ts'
import type { CommandShape } from '../../wire/remote/command.ts'
import { portForwardProtocol, spdyHeaders } from '../../wire/remote/protocols.ts'
import { admit, type KubeletAccess } from './access.ts'
import type { RecordCall } from '../record-call.ts'
import { measures } from './measures.ts'
import { containerLogs } from './container-logs.ts'
import { KubeletRefusal, runningContainer, runningPod, type KubeletHost } from './host.ts'
import { localPorts, serveCommand } from './local-command.ts'
import { nodeLogs } from './node-logs.ts'
import { openAt, streamCommand, streamPorts, type StreamParts } from './streams.ts'

export interface KubeletServerParts extends StreamParts {
  readonly host: KubeletHost
  readonly access: KubeletAccess
  readonly clock: Clock
  readonly log: Log
  /** Left out where calls to the runtime are not on the record. */
  readonly call?: RecordCall
}

/** A stream into a container that was asked for. */
interface Asked {
  readonly request: WireRequest
  readonly cause: Cause
  readonly namespace: string
  readonly pod: string
  readonly query: URLSearchParams
}

export class KubeletServer {
  readonly #parts: KubeletServerParts

  constructor(parts: KubeletServerParts) {
    this.#parts = parts
  }

  async handle(request: WireRequest, cause = noCause): Promise<WireAnswer> {
    try {
      const url = new URL(request.target, 'https://kubelet')
      const path = url.pathname
        .split('/')
        .filter((part) => part !== '')
        .map(decodeURIComponent)
      await admit(request, path, this.#parts.access)
      return await this.#answer(request, path, url, cause)
    } catch (error) {
      return this.#refused(error, request)
    }
  }

  #refused(error: unknown, { target, signal }: WireRequest): WireAnswer {
    const headers = { 'content-type': 'text/plain; charset=utf-8' }
    if (error instanceof KubeletRefusal) return { status: error.status, headers, body: error.message }
    if (!signal.aborted)
      this.#parts.log.warn('a request to the kubelet failed', { path: target.split('?')[0], error: errorText(error) })
    return { status: 500, headers, body: errorText(error) }
  }

  #answer(
    request: WireRequest,
    path: readonly string[],
    { pathname, searchParams: query }: URL,
    cause: Cause,
  ): Promise<WireAnswer> {
    const { host, clock } = this.#parts
    const [what, namespace = '', pod = '', ...rest] = path
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    // A uid may stand between the pod and its container.
    const container = rest.at(-1) ?? ''
    if (what === 'healthz' && path.length === 1 && isRead) return Promise.resolve(text('ok'))
    if (what === 'pods' && path.length === 1 && isRead) return podList(host, request.signal)
    if (what === 'configz' && path.length === 1 && isRead) return Promise.resolve(configuration(host))
    if (what === 'logs' && isRead) return nodeLogs(host, pathname)
    if ((what === 'stats' || what === 'metrics') && isRead) return measures(host, path, query, request.signal)
    if (what === 'containerLogs' && rest.length === 1 && isRead)
      return containerLogs(host, { namespace, pod, container, query }, clock, request.signal)
    const isContainer = rest.length === 1 || rest.length === 2
    const asked = { request, cause, namespace, pod, query }
    if (what === 'exec' && isContainer) return this.#exec(asked, container)
    if (what === 'attach' && isContainer) return this.#attach(asked, container)
    if (what === 'portForward' && pod !== '' && rest.length < 2) return this.#ports(asked)
    throw new KubeletRefusal(404, '404 page not found\n')
  }

  async #exec(asked: Asked, name: string): Promise<WireAnswer> {
    const { request, namespace, pod, query } = asked
    const shape = shapeOf(query)
    const command = query.getAll('command')
    const { id } = runningContainer(await runningPod(this.#parts.host, namespace, pod, request.signal), name)
    const { streams } = this.#parts.host.runtime
    // Not with which words: a command may hold a secret.
    const call = this.#recorded(`exec in container ${name}`, asked)
    if (streams.kind === 'local')
      return serveCommand(
        request,
        shape,
        (io, signal) => call(() => streams.exec(id, command, io, signal)),
        this.#parts,
      )
    const url = await call(() => streams.execUrl(id, { command, ...shape }, request.signal))
    return streamCommand(request, shape, url, this.#parts)
  }

  async #attach(asked: Asked, name: string): Promise<WireAnswer> {
    const { request, namespace, pod, query } = asked
    const shape = shapeOf(query)
    const { id } = runningContainer(await runningPod(this.#parts.host, namespace, pod, request.signal), name)
    const { streams } = this.#parts.host.runtime
    const call = this.#recorded(`attach to container ${name}`, asked)
    if (streams.kind === 'local')
      return serveCommand(request, shape, (io, signal) => call(() => streams.attach(id, io, signal)), this.#parts)
    const url = await call(() => streams.attachUrl(id, shape, request.signal))
    return streamCommand(request, shape, url, this.#parts)
  }

  async #ports(asked: Asked): Promise<WireAnswer> {
    const { request, namespace, pod, query } = asked
    const { host } = this.#parts
    const { sandboxId } = await runningPod(host, namespace, pod, request.signal)
    const ports = [...query.getAll('ports'), ...query.getAll('port')].flatMap((value) => value.split(',')).map(Number)
    if (ports.some((port) => !Number.isInteger(port) || port < 1 || port > 65_535))
      throw new KubeletRefusal(400, `unable to parse "${query.get('ports') ?? ''}" as a port`)
    const { streams } = host.runtime
    const open = this.#recorded('forward ports', asked)
    const opened = async () => {
      if (streams.kind === 'local')
        return {
          kind: 'upgraded',
          headers: spdyHeaders(portForwardProtocol),
          stream: localPorts(streams, sandboxId),
        } as const
      const url = await streams.portForwardUrl(sandboxId, ports, request.signal)
      return openAt(url, portForwardProtocol, this.#parts, request.signal)
    }
    return streamPorts(request, ports, () => open(opened), this.#parts)
  }

  /** Puts a call to the runtime on the record, under what the API server asked for. */
  #recorded(what: string, { request, cause, namespace, pod }: Asked): <T>(action: () => Promise<T>) => Promise<T> {
    const { call, host } = this.#parts
    if (call === undefined) return (action) => action()
    return (action) => call(what, host.pod(namespace, pod), context(request.signal, cause), action)
  }
}

const text = (body: string): WireAnswer => ({
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
})

const configuration = ({ configuration: kubeletconfig }: KubeletHost): WireAnswer => {
  if (kubeletconfig === undefined) throw new KubeletRefusal(404, '404 page not found\n')
  const headers = { 'content-type': 'application/json' }
  return { status: 200, headers, body: JSON.stringify({ kubeletconfig }) }
}

const podList = async (host: KubeletHost, signal: AbortSignal): Promise<WireAnswer> => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: await host.pods(signal) }),
})

/** As the API server names the streams when it asks a kubelet. With a terminal there is no stream of errors beside it. */
function shapeOf(query: URLSearchParams): CommandShape {
  const isOn = (name: string) => query.get(name) === '1' || query.get(name) === 'true'
  const tty = isOn('tty')
  const shape = { tty, stdin: isOn('input'), stdout: isOn('output'), stderr: isOn('error') && !tty }
  if (!shape.stdin && !shape.stdout && !shape.stderr)
    throw new KubeletRefusal(400, 'you must specify at least 1 of stdin, stdout, stderr')
  return shape
}
