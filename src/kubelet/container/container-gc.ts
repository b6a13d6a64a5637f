// Removes exited containers of finished pods when disk space is needed, after their statuses have been reported, and
// regularly the containers that no sandbox contains.
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ContainerRuntime } from '../../machine/runtime/container-runtime.ts'

export async function removeExitedContainers(
  runtime: Pick<ContainerRuntime, 'inspect' | 'removeContainer'>,
  pods: readonly Pod[],
  signal: AbortSignal,
): Promise<void> {
  for (const { metadata } of pods.filter(isPodFinished)) {
    const containers = (await runtime.inspect(metadata.uid, signal))?.containers ?? []
    for (const { id, state } of containers) if (state === 'exited') await runtime.removeContainer(id, signal)
  }
}

/** As upstream's container garbage collection. */
const lostContainersEveryMs = 60_000

export interface LostContainersDeps {
  readonly runtime: Pick<ContainerRuntime, 'removeLostContainers'>
  readonly clock: Clock
  readonly log: Log
}

/** At the start and every minute. Returns at once if the runtime leaves no such containers. */
export async function collectLostContainers(
  { runtime, clock, log }: LostContainersDeps,
  signal: AbortSignal,
): Promise<void> {
  if (runtime.removeLostContainers === undefined) return
  for (;;) {
    await runtime.removeLostContainers(signal).catch((error: unknown) => {
      signal.throwIfAborted()
      log.warn('containers without a sandbox could not be removed', { error: errorText(error) })
    })
    await clock.sleep(lostContainersEveryMs, signal)
  }
}
