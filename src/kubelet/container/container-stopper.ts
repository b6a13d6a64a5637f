// ContainerStopper: stops containers: preStop hook, then the containers that must stop first, then the stop signal, and
// SIGKILL when the grace period is over. The grace period is shared by all containers of a pod.
import type { Context } from '../../base/observability/context.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ContainerRuntime, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { runHook, type HookDeps } from './lifecycle-hooks.ts'
import type { ContainerStop } from '../pod/pod-actions.ts'
import type { RecordPodEvent } from '../events/pod-events.ts'
import type { RecordCall } from '../events/record-call.ts'
import { secondsAsMs } from '../../schema/scalar/int64.ts'

export interface ContainerStopperDeps extends HookDeps {
  readonly runtime: ContainerRuntime
  readonly hostIp: string
  readonly recordEvent: RecordPodEvent
  readonly call: RecordCall
}

/** Minimum time between the stop signal and SIGKILL, even when the hook has used up the grace period. */
const graceMsMin = 2_000

export class ContainerStopper {
  readonly #deps: ContainerStopperDeps

  constructor(deps: ContainerStopperDeps) {
    this.#deps = deps
  }

  /** Resolves when all containers have stopped. */
  async stop(
    pod: Pod | undefined,
    running: RuntimePod,
    stops: readonly ContainerStop[],
    context: Context,
  ): Promise<void> {
    const ended = new Map(stops.map(({ container }) => [container.name, Promise.withResolvers<void>()]))
    const stopOne = async (stop: ContainerStop) => {
      try {
        await this.#stop(pod, running, stop, (name) => ended.get(name)?.promise ?? Promise.resolve(), context)
      } finally {
        ended.get(stop.container.name)?.resolve()
      }
    }
    const results = await Promise.allSettled(stops.map(stopOne))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason as Error
  }

  async #stop(
    pod: Pod | undefined,
    running: RuntimePod,
    stop: ContainerStop,
    endOf: (name: string) => Promise<void>,
    context: Context,
  ): Promise<void> {
    const { runtime, clock, recordEvent, call } = this.#deps
    const { container, graceSeconds, message, after } = stop
    const { id, name } = container
    const untilMs = clock.monotonicMs() + secondsAsMs(graceSeconds)
    if (pod !== undefined) recordEvent(pod, { type: 'Normal', reason: 'Killing', message, container: name }, context)
    if (pod !== undefined && graceSeconds > 0) await this.#preStop(pod, running, stop, untilMs, context)
    if (after.length > 0) await within(clock, untilMs, Promise.all(after.map(endOf)), context.signal)
    const graceMs = Math.max(graceMsMin, untilMs - clock.monotonicMs())
    await call(`stop container ${name}`, pod, context, () => runtime.stopContainer(id, graceMs, context.signal))
  }

  /** A hook that exceeds the grace period is aborted. */
  async #preStop(
    pod: Pod,
    running: RuntimePod,
    { container, spec }: ContainerStop,
    untilMs: number,
    context: Context,
  ): Promise<void> {
    const { clock, hostIp, recordEvent, call } = this.#deps
    const handler = spec?.lifecycle?.preStop
    if (spec === undefined || handler === undefined || container.state !== 'running') return
    const { name } = spec
    const podIp = pod.spec.hostNetwork ? hostIp : (running.ips[0] ?? '')
    const over = new AbortController()
    const signal = AbortSignal.any([context.signal, over.signal])
    const run = call(`preStop hook of container ${name}`, pod, context, () =>
      runHook(handler, { container: spec, containerId: container.id, podIp }, this.#deps, signal),
    ).catch(() => {
      if (signal.aborted) return
      // The output of the hook may contain secrets, so the event does not include it.
      const note = { type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed' } as const
      recordEvent(pod, { ...note, container: name }, context)
    })
    await within(clock, untilMs, run, context.signal)
    over.abort()
  }
}

/** Waits for a promise, but not beyond `untilMs`. */
async function within(
  clock: HookDeps['clock'],
  untilMs: number,
  waited: Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  const over = Promise.withResolvers<void>()
  const timer = clock.after(Math.max(0, untilMs - clock.monotonicMs()), () => over.resolve())
  const abort = () => over.reject(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([waited, over.promise])
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', abort)
  }
}
