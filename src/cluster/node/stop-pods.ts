// Stops or removes the pods of a real node.
import type { ContainerRuntime } from '../../machine/runtime/container-runtime.ts'

/** Grace period of containers when their machine stops. */
const stopGraceMs = 2_000
/** Maximum number of sandboxes of one pod. */
const sandboxesMax = 100

/** Stops every container and releases its address. Its state is kept for the next start. Returns how many pods had one. */
export async function stopPods(runtime: ContainerRuntime, signal: AbortSignal): Promise<number> {
  const stopped = await Promise.all(
    (await runtime.podUids(signal)).map(async (uid) => {
      const pod = await runtime.inspect(uid, signal)
      if (pod === undefined) return false
      const running = pod.containers.filter(({ state }) => state === 'running')
      await Promise.all(running.map(({ id }) => runtime.stopContainer(id, stopGraceMs, signal)))
      await runtime.stopSandbox(pod.sandboxId, signal)
      return running.length > 0
    }),
  )
  return stopped.filter((had) => had).length
}

/** Removes all pods; returns their uids. */
export async function removePods(runtime: ContainerRuntime, signal: AbortSignal): Promise<readonly string[]> {
  const uids = await runtime.podUids(signal)
  for (const uid of uids)
    for (let count = 0; count < sandboxesMax; count++) {
      const pod = await runtime.inspect(uid, signal)
      if (pod === undefined) break
      await runtime.removeSandbox(pod.sandboxId, signal)
    }
  return uids
}
