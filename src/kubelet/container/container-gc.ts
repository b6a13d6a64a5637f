// Removes exited containers of finished pods when disk space is needed. Their statuses have been reported before.
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
