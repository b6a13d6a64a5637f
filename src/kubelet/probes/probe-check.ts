// runProbe: performs one probe (exec, HTTP, TCP or gRPC) within its timeout.
import { hostOfUrl } from '../../base/net/host-port.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Probe } from '../../api/core/v1/container/probe.ts'
import { authorityOf, type PodDialer, type DialTarget } from '../../machine/dialer/pod-dialer.ts'
import { ExecTimeout, type ContainerRuntime } from '../../machine/runtime/container-runtime.ts'
import { durationTextOfMs } from '../../schema/scalar/duration.ts'
import { GrpcError, goNameOf } from '../../wire/grpc/grpc-status.ts'
import { isHost } from '../pod-config/host-text.ts'
import { httpGet, type HttpGetDeps } from './http-get.ts'
import { httpTargetOf, probePortOf, requestTarget, urlOf, type HttpTarget } from './http-target.ts'

export interface ProbeCheckDeps extends HttpGetDeps {
  readonly runtime: Pick<ContainerRuntime, 'exec'>
  readonly clock: Clock
}

export interface ProbeTarget {
  readonly container: Container
  readonly containerId: string
  readonly podIp: string
}

export type ProbeOutcome =
  | { readonly kind: 'success' }
  /** A success with a warning event. */
  | { readonly kind: 'warning'; readonly message: string }
  | { readonly kind: 'failure'; readonly message: string }

const success: ProbeOutcome = { kind: 'success' }
const failure = (message: string): ProbeOutcome => ({ kind: 'failure', message })

const outputBytesMax = 10 * 1024
const redirectsMax = 10
/** Others are not followed, whether they have a location or not. */
const followedStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Rejects when the probe cannot be performed, which says nothing about the container. */
export async function runProbe(
  probe: Probe,
  checked: ProbeTarget,
  deps: ProbeCheckDeps,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const { runtime, dialer, clock } = deps
  const timeoutMs = probe.timeoutSeconds * 1000
  if (probe.exec !== undefined)
    return checkExec(probe.exec.command ?? [], checked.containerId, timeoutMs, runtime, signal)
  const timedOut = new AbortController()
  const timer = clock.after(timeoutMs, () => timedOut.abort())
  const ended = AbortSignal.any([signal, timedOut.signal])
  try {
    const { container, podIp } = checked
    if (probe.httpGet !== undefined)
      return await checkHttp(httpTargetOf(probe.httpGet, container, podIp), deps, ended, timedOut.signal)
    if (probe.tcpSocket !== undefined) {
      const host = probe.tcpSocket.host || podIp
      const port = probePortOf(probe.tcpSocket.port, container)
      if (!isHost(host)) return failure(`dial tcp: lookup ${host}: no such host`)
      return await checkTcp({ host, port }, dialer, ended, timedOut.signal)
    }
    if (probe.grpc !== undefined) {
      const { port, service } = probe.grpc
      return await checkGrpc({ host: podIp, port }, service ?? '', probe.timeoutSeconds, dialer, ended, timedOut.signal)
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    timer.cancel()
  }
  throw new Error(`missing probe handler for ${checked.container.name}`)
}

async function checkExec(
  command: readonly string[],
  containerId: string,
  timeoutMs: number,
  runtime: ProbeCheckDeps['runtime'],
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  try {
    const { exitCode, stdout, stderr } = await runtime.exec(containerId, command, timeoutMs, signal)
    if (exitCode === 0) return success
    const decoder = new TextDecoder()
    return failure((decoder.decode(stdout) + decoder.decode(stderr)).slice(0, outputBytesMax))
  } catch (error) {
    if (error instanceof ExecTimeout) {
      const words = JSON.stringify(command.join(' '))
      return failure(`command timed out: ${words} timed out after ${durationTextOfMs(timeoutMs)}`)
    }
    throw error
  }
}

async function checkHttp(
  first: HttpTarget,
  deps: HttpGetDeps,
  signal: AbortSignal,
  timedOut: AbortSignal,
): Promise<ProbeOutcome> {
  let target = first
  for (let hops = 0; ; hops++) {
    const get = `Get ${JSON.stringify(urlOf(target))}`
    if (hops > redirectsMax) return failure(`${get}: stopped after ${redirectsMax} redirects`)
    const head = await httpGet(target, deps, signal).catch((error: unknown) => {
      if (timedOut.aborted)
        return failure(`${get}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`)
      signal.throwIfAborted()
      return failure(`${get}: ${(error as Error).message}`)
    })
    if ('kind' in head) return head
    const { status, location, body } = head
    if (status < 200 || status >= 400) return failure(`HTTP probe failed with statuscode: ${status}`)
    if (status < 300) return success
    const next = location === undefined || !followedStatuses.has(status) ? undefined : redirected(target, location)
    // Redirects to other hosts are not followed.
    if (next === undefined || next.host !== first.host)
      return { kind: 'warning', message: `Probe terminated redirects, Response body: ${body}` }
    target = next
  }
}

function redirected(from: HttpTarget, location: string): HttpTarget | undefined {
  const url = URL.parse(location, urlOf(from))
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  const scheme = url.protocol === 'https:' ? 'https' : 'http'
  const host = hostOfUrl(url)
  if (!isHost(host)) return undefined
  return {
    scheme,
    host,
    port: url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port),
    path: requestTarget(url.pathname, url.search),
    headers: from.headers,
  }
}

async function checkTcp(
  target: DialTarget,
  dialer: PodDialer,
  signal: AbortSignal,
  timedOut: AbortSignal,
): Promise<ProbeOutcome> {
  try {
    const stream = await dialer.connect(target, false, signal)
    stream.destroy()
    return success
  } catch (error) {
    if (timedOut.aborted) return failure(`dial tcp ${authorityOf(target)}: i/o timeout`)
    signal.throwIfAborted()
    return failure((error as Error).message)
  }
}

async function checkGrpc(
  target: DialTarget,
  service: string,
  timeoutSeconds: number,
  dialer: PodDialer,
  signal: AbortSignal,
  timedOut: AbortSignal,
): Promise<ProbeOutcome> {
  try {
    const status = await dialer.checkHealth(target, service, signal)
    return status === 'SERVING' ? success : failure(`service unhealthy (responded with ${JSON.stringify(status)})`)
  } catch (error) {
    if (timedOut.aborted) return failure(`timeout: health rpc did not complete within ${timeoutSeconds}s`)
    signal.throwIfAborted()
    if (!(error instanceof GrpcError)) return failure(`error: health rpc probe failed: ${(error as Error).message}`)
    const { code, details } = error
    if (code === 'UNIMPLEMENTED')
      return failure(
        `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${details}`,
      )
    if (code === 'UNAVAILABLE' && error.unprocessed)
      return failure(
        `timeout: failed to connect service ${JSON.stringify(authorityOf(target))} within ${timeoutSeconds}s: context deadline exceeded`,
      )
    return failure(`error: health rpc probe failed: rpc error: code = ${goNameOf(code)} desc = ${details}`)
  }
}
