// What the scheduler of a cluster that runs elsewhere decided about a pod.
import { decisionsPath } from '../../api/coxswain/v1/flow-protocol.ts'
import type { ObjectKey } from '../../api/meta/object.ts'
import type { Explanation } from '../../scheduler/cycle/decision-record.ts'
import { fetchCoxswainPath } from './coxswain-path.ts'

/** Undefined when nothing was decided, or that has been forgotten. */
export const fetchSchedulingExplanation = (
  kubeconfig: string,
  pod: ObjectKey,
  signal: AbortSignal,
): Promise<Explanation | undefined> =>
  fetchCoxswainPath(kubeconfig, decisionsPath + pod, signal) as Promise<Explanation | undefined>
