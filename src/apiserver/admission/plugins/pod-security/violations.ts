// The violations of a policy by a pod.
import { baseline } from './baseline.ts'
import type { Check, CheckedPod, Violation } from './pod-security-check.ts'
import type { Policy } from './pod-security-level.ts'
import { restricted } from './restricted.ts'

const none: readonly Violation[] = []

export const violationsOf = (policy: Policy, pod: CheckedPod): readonly Violation[] =>
  policy.level === 'privileged'
    ? none
    : checksOf(policy)
        .map((check) => check.check(pod, policy.minor))
        .filter((violation) => violation !== undefined)

export const violationText = ({ reason, detail }: Violation): string => `${reason} (${detail})`

function checksOf({ level, minor }: Policy): readonly Check[] {
  const isThere = ({ since = 0 }: Check) => since <= minor
  if (level === 'baseline') return baseline.filter(isThere)
  const strict = restricted.filter(isThere)
  const replaced = new Set(strict.flatMap(({ replaces = [] }) => replaces))
  return [...baseline.filter((check) => isThere(check) && !replaced.has(check.id)), ...strict]
}
