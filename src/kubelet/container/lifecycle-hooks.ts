// Lifecycle hooks: the postStart and preStop handlers of containers.
import type { Clock } from '../../base/time/clock.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import type { LifecycleHandler } from '../../api/core/v1/container/probe.ts'
import type { ContainerRuntime } from '../../machine/runtime/container-runtime.ts'
import { httpGet, type HttpGetDeps } from '../probes/http-get.ts'
import { httpTargetOf, urlOf } from '../probes/http-target.ts'
import { secondsAsMs } from '../../schema/scalar/int64.ts'

export interface HookDeps extends HttpGetDeps {
  readonly runtime: Pick<ContainerRuntime, 'exec'>
  readonly clock: Clock
}

export interface HookTarget {
  readonly container: Container
  readonly containerId: string
  readonly podIp: string
}

/** A hook command has no timeout of its own; this bound only ends commands that are not awaited any more. */
export const hookMsMax = 4 * 3_600_000

/** Rejects when the hook fails. */
export async function runHook(
  handler: LifecycleHandler,
  { container, containerId, podIp }: HookTarget,
  { runtime, dialer, sendOn, clock }: HookDeps,
  signal: AbortSignal,
): Promise<void> {
  if (handler.exec !== undefined) {
    const command = handler.exec.command ?? []
    const { exitCode } = await runtime.exec(containerId, command, hookMsMax, signal)
    if (exitCode !== 0) throw new Error(`command '${command.join(' ')}' exited with ${exitCode}`)
  } else if (handler.httpGet !== undefined) {
    const target = httpTargetOf(handler.httpGet, container, podIp)
    const { status } = await httpGet(target, { dialer, sendOn }, signal)
    if (status < 200 || status >= 400) throw new Error(`Get ${JSON.stringify(urlOf(target))}: status ${status}`)
  } else if (handler.sleep !== undefined) await clock.sleep(secondsAsMs(handler.sleep.seconds), signal)
  else throw new Error(`invalid handler of container ${container.name}`)
}
