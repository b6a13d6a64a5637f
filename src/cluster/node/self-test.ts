// The self-test of a node before it reports that it is ready: an empty sandbox is started and removed, which needs control
// groups, namespaces, the low-level runtime and the snapshotter of the machine.
import { errorText } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Cgroups } from '../../machine/cgroups/cgroups.ts'
import type { ContainerRuntime } from '../../machine/runtime/container-runtime.ts'
import { plainSandbox } from '../../machine/runtime/runtime-config.ts'

const testUid = 'coxswain-self-test'
const testMsMax = 60_000

export interface SelfTestDeps {
  readonly runtime: ContainerRuntime
  readonly cgroups: Pick<Cgroups, 'remove'>
  readonly clock: Clock
  /** The control group of all pods. */
  readonly cgroupRoot: string
}

/** Throws the reason why no container can run. A machine on which containers run needs no test. */
export async function selfTest(
  { runtime, cgroups, clock, cgroupRoot }: SelfTestDeps,
  signal: AbortSignal,
): Promise<void> {
  if (await hasRunningPod(runtime, signal)) return
  const late = new AbortController()
  const timer = clock.after(testMsMax, () => late.abort(new Error(`it was not ready after ${testMsMax / 1_000} s`)))
  const bound = AbortSignal.any([signal, late.signal])
  const cgroupParent = `${cgroupRoot}/${testUid}`
  // In the network of the machine: the pod network may come later, and the test must not take one of its addresses.
  const namespaces = { network: 'node', processes: 'container', ipc: 'pod' } as const
  try {
    // An interrupted test, or a failed one, may have left its sandbox.
    const left = await runtime.inspect(testUid, bound)
    if (left !== undefined) await runtime.removeSandbox(left.sandboxId, bound)
    const sandbox = { ...plainSandbox(testUid, 'coxswain', 'self-test'), hostname: '', cgroupParent, namespaces }
    const id = await runtime.runSandbox(sandbox, bound)
    await runtime.removeSandbox(id, bound)
  } catch (error) {
    if (signal.aborted) throw error
    throw new Error(`no container can be started on this machine: ${errorText(error)}`, { cause: error })
  } finally {
    timer.cancel()
    await cgroups.remove(cgroupParent).catch(() => {}) // the original error is more useful
  }
}

async function hasRunningPod(runtime: ContainerRuntime, signal: AbortSignal): Promise<boolean> {
  for (const uid of await runtime.podUids(signal))
    if (uid !== testUid && (await runtime.inspect(uid, signal))?.isReady === true) return true
  return false
}
