// Fetches the scheduler's decision about a pod from a running cluster.
import { decisionsPath } from '../../api/coxswain/v1/flow-protocol.ts'
import type { ObjectKey } from '../../api/meta/object.ts'
import type { Explanation } from '../../scheduler/cycle/decision-record.ts'
import { fetchCoxswainPath } from './coxswain-path.ts'

/** Undefined when there is no decision or it has been overwritten. */
export const fetchSchedulingExplanation = (
  kubeconfig: string,
  pod: ObjectKey,
  signal: AbortSignal,
): Promise<Explanation | undefined> =>
  fetchCoxswainPath(kubeconfig, decisionsPath + pod, signal) as Promise<Explanation | undefined>
