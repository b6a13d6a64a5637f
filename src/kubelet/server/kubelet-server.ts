// KubeletServer: the kubelet's HTTP API: container logs, streams, pods, stats and health. Requests come from a
// listener, or directly from an API server in the same process.
import type { Clock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { noCause, type Cause } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { WireResponse, WireRequest } from '../../platform/http/listener.ts'
import type { CommandStreamOptions } from '../../wire/remote-command/command-streams.ts'
import { portForwardProtocol, spdyUpgradeHeaders } from '../../wire/remote-command/stream-protocols.ts'
import { authorizeRequest, type KubeletAuth } from './kubelet-auth.ts'
import type { RecordCall } from '../events/record-call.ts'
import { statsEndpoint } from './stats-endpoints.ts'
import { containerLogs } from './container-logs.ts'
import { KubeletHttpError, runningContainer, runningPod, type KubeletHost } from './kubelet-host.ts'
import { localPorts, serveCommand } from './local-streams.ts'
import { nodeLogs } from './node-logs.ts'
import { runningPods } from './running-pods.ts'
import { openAt, streamCommand, streamPorts, type StreamDeps } from './container-streams.ts'
import { jsonText } from '../../schema/json/exact-json.ts'

export interface KubeletServerDeps extends StreamDeps {
  readonly host: KubeletHost
  readonly auth: KubeletAuth
  readonly clock: Clock
  readonly log: Log
  /** Left out where runtime calls are not recorded. */
  readonly call?: RecordCall
}

/** A requested stream into a container. */
interface StreamContext {
  readonly request: WireRequest
  readonly cause: Cause
  readonly namespace: string
  readonly pod: string
  readonly query: URLSearchParams
}

export class KubeletServer {
  readonly #deps: KubeletServerDeps

  constructor(deps: KubeletServerDeps) {
    this.#deps = deps
  }

  async handle(request: WireRequest, cause = noCause): Promise<WireResponse> {
    try {
      const url = new URL(request.target, 'https://kubelet')
      const path = url.pathname
        .split('/')
        .filter((part) => part !== '')
        .map(decodeURIComponent)
      await authorizeRequest(request, path, this.#deps.auth)
      return await this.#route(request, path, url, cause)
    } catch (error) {
      return this.#errorResponse(error, request)
    }
  }

  #errorResponse(error: unknown, { target, signal }: WireRequest): WireResponse {
    const headers = { 'content-type': 'text/plain; charset=utf-8' }
    if (error instanceof KubeletHttpError) return { status: error.status, headers, body: error.message }
    if (!signal.aborted)
      this.#deps.log.warn('a request to the kubelet failed', { path: target.split('?')[0], error: errorText(error) })
    return { status: 500, headers, body: errorText(error) }
  }

  #route(
    request: WireRequest,
    path: readonly string[],
    { pathname, searchParams: query }: URL,
    cause: Cause,
  ): Promise<WireResponse> {
    const { host, clock } = this.#deps
    const [what, namespace = '', pod = '', ...rest] = path
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    // The path may contain the pod's uid before the container.
    const container = rest.at(-1) ?? ''
    if (what === 'healthz' && path.length === 1 && isRead) return Promise.resolve(text('ok'))
    if (what === 'pods' && path.length === 1 && isRead) return podList(host, request.signal)
    if (what === 'runningpods' && path.length === 1 && isRead) return runningPods(host, request.signal)
    if (what === 'configz' && path.length === 1 && isRead) return Promise.resolve(configuration(host))
    if (what === 'logs' && isRead) return nodeLogs(host, pathname)
    if ((what === 'stats' || what === 'metrics') && isRead) return statsEndpoint(host, path, query, request)
    if (what === 'containerLogs' && rest.length === 1 && isRead)
      return containerLogs(host, { namespace, pod, container, query }, clock, request.signal)
    const isContainer = rest.length === 1 || rest.length === 2
    const stream = { request, cause, namespace, pod, query }
    if (what === 'exec' && isContainer) return this.#exec(stream, container)
    if (what === 'attach' && isContainer) return this.#attach(stream, container)
    if (what === 'portForward' && pod !== '' && rest.length < 2) return this.#portForward(stream)
    throw new KubeletHttpError(404, '404 page not found\n')
  }

  async #exec(stream: StreamContext, name: string): Promise<WireResponse> {
    const { request, namespace, pod, query } = stream
    const shape = shapeOf(query)
    const command = query.getAll('command')
    const { id } = runningContainer(await runningPod(this.#deps.host, namespace, pod, request.signal), name)
    const { streams } = this.#deps.host.runtime
    // The command is not recorded, because it may contain secrets.
    const call = this.#recorded(`exec in container ${name}`, stream)
    if (streams.kind === 'local')
      return serveCommand(request, shape, (io, signal) => call(() => streams.exec(id, command, io, signal)), this.#deps)
    const url = await call(() => streams.execUrl(id, { command, ...shape }, request.signal))
    return streamCommand(request, shape, url, this.#deps)
  }

  async #attach(stream: StreamContext, name: string): Promise<WireResponse> {
    const { request, namespace, pod, query } = stream
    const shape = shapeOf(query)
    const { id } = runningContainer(await runningPod(this.#deps.host, namespace, pod, request.signal), name)
    const { streams } = this.#deps.host.runtime
    const call = this.#recorded(`attach to container ${name}`, stream)
    if (streams.kind === 'local')
      return serveCommand(request, shape, (io, signal) => call(() => streams.attach(id, io, signal)), this.#deps)
    const url = await call(() => streams.attachUrl(id, shape, request.signal))
    return streamCommand(request, shape, url, this.#deps)
  }

  async #portForward(stream: StreamContext): Promise<WireResponse> {
    const { request, namespace, pod, query } = stream
    const { host } = this.#deps
    const { sandboxId } = await runningPod(host, namespace, pod, request.signal)
    const ports = [...query.getAll('ports'), ...query.getAll('port')].flatMap((value) => value.split(',')).map(Number)
    if (ports.some((port) => !Number.isInteger(port) || port < 1 || port > 65_535))
      throw new KubeletHttpError(400, `unable to parse "${query.get('ports') ?? ''}" as a port`)
    const { streams } = host.runtime
    const open = this.#recorded('forward ports', stream)
    const opened = async () => {
      if (streams.kind === 'local')
        return {
          kind: 'upgraded',
          headers: spdyUpgradeHeaders(portForwardProtocol),
          stream: localPorts(streams, sandboxId, this.#deps),
        } as const
      const url = await streams.portForwardUrl(sandboxId, ports, request.signal)
      return openAt(url, portForwardProtocol, this.#deps, request.signal)
    }
    return streamPorts(request, ports, () => open(opened), this.#deps)
  }

  /** Records a call to the runtime with the API server's request as its cause. */
  #recorded(
    what: string,
    { request, cause, namespace, pod }: StreamContext,
  ): <T>(action: () => Promise<T>) => Promise<T> {
    const { call, host } = this.#deps
    if (call === undefined) return (action) => action()
    return (action) => call(what, host.pod(namespace, pod), context(request.signal, cause), action)
  }
}

const text = (body: string): WireResponse => ({
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
})

const configuration = ({ configuration: kubeletconfig }: KubeletHost): WireResponse => {
  if (kubeletconfig === undefined) throw new KubeletHttpError(404, '404 page not found\n')
  const headers = { 'content-type': 'application/json' }
  return { status: 200, headers, body: JSON.stringify({ kubeletconfig }) }
}

const podList = async (host: KubeletHost, signal: AbortSignal): Promise<WireResponse> => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: jsonText({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: await host.pods(signal) }),
})

/** Stream options in the API server's query parameters. With a TTY there is no separate stderr. */
function shapeOf(query: URLSearchParams): CommandStreamOptions {
  const isOn = (name: string) => query.get(name) === '1' || query.get(name) === 'true'
  const tty = isOn('tty')
  const shape = { tty, stdin: isOn('input'), stdout: isOn('output'), stderr: isOn('error') && !tty }
  if (!shape.stdin && !shape.stdout && !shape.stderr)
    throw new KubeletHttpError(400, 'you must specify at least 1 of stdin, stdout, stderr')
  return shape
}
