// The pod failure policy and the success policy of a Job.
import type { Job } from '../../api/batch/v1/job.ts'
import type { PodFailurePolicyRule } from '../../api/batch/v1/job-spec.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { keyOf } from '../../api/meta/object.ts'
import { IndexSet } from './completion-indexes.ts'

export interface FailureVerdict {
  readonly action: PodFailurePolicyRule['action']
  readonly message: string
}

/** The action of the first matching rule for a failed pod; undefined if none matches, then the failure counts. */
export function failureVerdict({ spec }: Job, pod: Pod): FailureVerdict | undefined {
  if (pod.status.phase !== 'Failed') return undefined
  for (const [index, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const why = matches(rule, pod)
    if (why !== undefined)
      return { action: rule.action, message: `${why} matching ${rule.action} rule at index ${index}` }
  }
  return undefined
}

export const isIgnored = (job: Job, pod: Pod): boolean => failureVerdict(job, pod)?.action === 'Ignore'

function matches({ onExitCodes, onPodConditions = [] }: PodFailurePolicyRule, pod: Pod): string | undefined {
  if (onExitCodes !== undefined) {
    const { containerName, operator, values } = onExitCodes
    const statuses = [...(pod.status.containerStatuses ?? []), ...(pod.status.initContainerStatuses ?? [])]
    const found = statuses.find(({ name, state }) => {
      const code = state?.terminated?.exitCode ?? 0
      if (code === 0 || (containerName !== undefined && containerName !== name)) return false
      return values.includes(code) === (operator === 'In')
    })
    if (found === undefined) return undefined
    return `Container ${found.name} for pod ${keyOf(pod)} failed with exit code ${found.state?.terminated?.exitCode}`
  }
  const met = onPodConditions.find(({ type, status }) =>
    pod.status.conditions?.some((condition) => condition.type === type && condition.status === (status || 'True')),
  )
  return met === undefined ? undefined : `Pod ${keyOf(pod)} has condition ${met.type}`
}

/** The message of the first matching success rule. */
export function successMatch({ spec }: Job, succeeded: IndexSet): string | undefined {
  for (const [index, rule] of (spec.successPolicy?.rules ?? []).entries()) {
    const { succeededIndexes, succeededCount } = rule
    const wanted = succeededIndexes === undefined ? undefined : IndexSet.parse(succeededIndexes, spec.completions ?? 0)
    const met = wanted === undefined ? succeeded.size : wanted.countIn(succeeded)
    if (met >= (succeededCount ?? wanted?.size ?? Infinity)) return `Matched rules at index ${index}`
  }
  return undefined
}
