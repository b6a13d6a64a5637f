// Which pods a drain evicts, which it leaves, and which prevent it, with the rules and words of `kubectl drain`.
import { mirrorPodAnnotation } from '../../api/core/v1/pod/pod-annotations.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import { controllerOf, keyOf, namespaceOf } from '../../api/meta/object.ts'
import { lookup } from '../../base/collections/lookup.ts'

export interface DrainRules {
  /** Leaves pods of DaemonSets. */
  readonly ignoresDaemonSets: boolean
  /** Evicts pods with emptyDir volumes, whose data is lost. */
  readonly deletesLocalData: boolean
  /** Evicts pods without a controller, which nothing creates again. */
  readonly isForced: boolean
}

export interface DrainPlan {
  readonly evicted: readonly Pod[]
  /** Reasons with the pods that they concern. Nothing is evicted if there are any. */
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

type Verdict =
  | { readonly kind: 'evict'; readonly warnings: readonly string[] }
  | { readonly kind: 'leave'; readonly warnings: readonly string[] }
  | { readonly kind: 'error'; readonly reason: string }

const evict: Verdict = { kind: 'evict', warnings: [] }

/** Whether a DaemonSet exists is asked by its namespace and name. */
export function drainPlan(
  pods: readonly Pod[],
  rules: DrainRules,
  hasDaemonSet: (namespace: string, name: string) => boolean,
): DrainPlan {
  const evicted: Pod[] = []
  const errors = new Map<string, string[]>()
  const warnings = new Map<string, string[]>()
  const note = (notes: Map<string, string[]>, reason: string, pod: Pod) =>
    notes.set(reason, [...(notes.get(reason) ?? []), keyOf(pod)])
  for (const pod of pods) {
    const verdict = verdictOf(pod, rules, hasDaemonSet)
    if (verdict.kind === 'error') note(errors, verdict.reason, pod)
    else for (const warning of verdict.warnings) note(warnings, warning, pod)
    if (verdict.kind === 'evict') evicted.push(pod)
  }
  const lines = (notes: ReadonlyMap<string, readonly string[]>) =>
    Array.from(notes, ([reason, keys]) => `${reason}: ${keys.join(', ')}`)
  return { evicted, errors: lines(errors), warnings: lines(warnings) }
}

function verdictOf(pod: Pod, rules: DrainRules, hasDaemonSet: (namespace: string, name: string) => boolean): Verdict {
  // The kubelet creates them from files of the node.
  if (lookup(pod.metadata.annotations, mirrorPodAnnotation) !== undefined) return { kind: 'leave', warnings: [] }
  const { ignoresDaemonSets, deletesLocalData, isForced } = rules
  const isFinished = isPodFinished(pod)
  const controller = controllerOf(pod)
  if (controller?.kind === 'DaemonSet' && !isFinished) {
    if (!hasDaemonSet(namespaceOf(pod), controller.name)) {
      const reason = `daemonsets.apps ${JSON.stringify(controller.name)} not found`
      return isForced ? { kind: 'evict', warnings: [reason] } : { kind: 'error', reason }
    }
    return ignoresDaemonSets
      ? { kind: 'leave', warnings: ['ignoring DaemonSet-managed Pods'] }
      : { kind: 'error', reason: 'cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)' }
  }
  if (isFinished) return evict
  const warnings: string[] = []
  if ((pod.spec.volumes ?? []).some(({ emptyDir }) => emptyDir !== undefined)) {
    if (!deletesLocalData)
      return {
        kind: 'error',
        reason: 'cannot delete Pods with local storage (use --delete-emptydir-data to override)',
      }
    warnings.push('deleting Pods with local storage')
  }
  if (controller === undefined) {
    if (!isForced)
      return { kind: 'error', reason: 'cannot delete Pods that declare no controller (use --force to override)' }
    warnings.push('deleting Pods that declare no controller')
  }
  return { kind: 'evict', warnings }
}
