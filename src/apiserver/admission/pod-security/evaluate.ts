// Whether a pod keeps to a policy, and the words for where it does not.
import { baseline } from './baseline.ts'
import type { Check, PodLook, Violation } from './check.ts'
import type { Policy } from './level.ts'
import { restricted } from './restricted.ts'

const none: readonly Violation[] = []

export const violationsOf = (policy: Policy, pod: PodLook): readonly Violation[] =>
  policy.level === 'privileged'
    ? none
    : checksOf(policy)
        .map((check) => check.look(pod, policy.minor))
        .filter((violation) => violation !== undefined)

export const violationText = ({ reason, detail }: Violation): string => `${reason} (${detail})`

function checksOf({ level, minor }: Policy): readonly Check[] {
  const isThere = ({ since = 0 }: Check) => since <= minor
  if (level === 'baseline') return baseline.filter(isThere)
  const strict = restricted.filter(isThere)
  const replaced = new Set(strict.flatMap(({ replaces = [] }) => replaces))
  return [...baseline.filter((check) => isThere(check) && !replaced.has(check.id)), ...strict]
}
