// What to do next for a pod, as data: from the pod as wanted and the pod as it runs. Pure; the worker acts.
import { backoffMs, type Backoff } from '../base/work-queue.ts'
import type { Container } from '../api/core/v1/container.ts'
import type { Pod } from '../api/core/v1/pod.ts'
import type { RuntimeContainer, RuntimePod } from '../machine/runtime/runtime.ts'

export type PodAction =
  | { readonly kind: 'run-sandbox' }
  | { readonly kind: 'start-container'; readonly container: Container; readonly attempt: number }
  | { readonly kind: 'stop-container'; readonly container: RuntimeContainer; readonly graceMs: number }
  /** Made but never started: whoever wanted to start it is gone. */
  | { readonly kind: 'remove-container'; readonly container: RuntimeContainer }
  | { readonly kind: 'remove-sandbox'; readonly sandboxId: string }
  /** Everything has ended: the API server may let go of the object. */
  | { readonly kind: 'release-pod' }
  /** Look again: a back-off runs out. */
  | { readonly kind: 'wait'; readonly ms: number; readonly container: string }

const crashBackoff: Backoff = { initialMs: 10_000, maxMs: 300_000 }

/** The newest attempt of a container. */
export const latest = (running: RuntimePod | undefined, name: string): RuntimeContainer | undefined =>
  running?.containers.findLast((container) => container.name === name)

/** A pod that the API server no longer has, or that is to end. */
export function endPod(graceSeconds: number, running: RuntimePod | undefined, exists: boolean): PodAction[] {
  if (running === undefined) return exists ? [{ kind: 'release-pod' }] : []
  const alive = running.containers.filter(({ state }) => state !== 'exited')
  if (alive.length === 0) return [{ kind: 'remove-sandbox', sandboxId: running.sandboxId }]
  return alive.map((container) => ({ kind: 'stop-container', container, graceMs: graceSeconds * 1000 }))
}

export function runPod({ spec }: Pod, running: RuntimePod | undefined, nowMs: number): PodAction[] {
  if (running === undefined || !running.isReady) {
    return running === undefined
      ? [{ kind: 'run-sandbox' }]
      : [{ kind: 'remove-sandbox', sandboxId: running.sandboxId }]
  }
  const unstarted = running.containers.filter(({ state }) => state === 'created')
  if (unstarted.length > 0) return unstarted.map((container) => ({ kind: 'remove-container', container }))
  // Init containers run one after the other; each must succeed before the next begins.
  for (const container of spec.initContainers ?? []) {
    const seen = latest(running, container.name)
    if (seen?.state === 'exited' && seen.exitCode === 0) continue
    if (seen !== undefined && seen.state !== 'exited') {
      if (container.restartPolicy === 'Always') continue
      return []
    }
    return next(
      container,
      seen,
      container.restartPolicy ?? (spec.restartPolicy === 'Never' ? 'Never' : 'OnFailure'),
      nowMs,
    )
  }
  return spec.containers.flatMap((container) => {
    const seen = latest(running, container.name)
    return seen === undefined || seen.state === 'exited' ? next(container, seen, spec.restartPolicy, nowMs) : []
  })
}

function next(
  container: Container,
  seen: RuntimeContainer | undefined,
  restartPolicy: string,
  nowMs: number,
): PodAction[] {
  if (seen === undefined) return [{ kind: 'start-container', container, attempt: 0 }]
  if (!isRestarted(seen, restartPolicy)) return []
  const waitMs = seen.finishedMs + backoffMs(crashBackoff, seen.attempt) - nowMs
  if (waitMs > 0) return [{ kind: 'wait', ms: waitMs, container: container.name }]
  return [{ kind: 'start-container', container, attempt: seen.attempt + 1 }]
}

export const isRestarted = ({ exitCode }: RuntimeContainer, restartPolicy: string): boolean =>
  restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0)
