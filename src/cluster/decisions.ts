// What the scheduler of a cluster that runs elsewhere decided about a pod.
import { decisionsPath } from '../api/flow-wire.ts'
import type { ObjectKey } from '../api/object.ts'
import type { Explanation } from '../scheduler/decisions.ts'
import { fetchOwnPath } from './own-path.ts'

/** Undefined when nothing was decided, or that has been forgotten. */
export const fetchExplanation = (
  kubeconfig: string,
  pod: ObjectKey,
  signal: AbortSignal,
): Promise<Explanation | undefined> =>
  fetchOwnPath(kubeconfig, decisionsPath + pod, signal) as Promise<Explanation | undefined>
