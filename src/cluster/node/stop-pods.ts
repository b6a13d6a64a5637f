// Ends what runs on a real node: for the next start, which goes on from there, or for good.
import type { ContainerRuntime } from '../../machine/runtime/container-runtime.ts'

/** How long containers have to end when their machine stops. */
const stopGraceMs = 2_000
/** Sandboxes of one pod; more than any pod leaves. */
const sandboxesMax = 100

/** Every container ends and gives its address back; what is known of it stays. */
export async function stopPods(runtime: ContainerRuntime, signal: AbortSignal): Promise<void> {
  await Promise.all(
    (await runtime.podUids(signal)).map(async (uid) => {
      const pod = await runtime.inspect(uid, signal)
      if (pod === undefined) return
      const running = pod.containers.filter(({ state }) => state === 'running')
      await Promise.all(running.map(({ id }) => runtime.stopContainer(id, stopGraceMs, signal)))
      await runtime.stopSandbox(pod.sandboxId, signal)
    }),
  )
}

/** Nothing of them stays; returns whose it was. */
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
