// Restart decisions: the pod's policy, the container's own policy and its exit code rules, and the crash backoff, which
// doubles with each crash and is reset after a long run.
import type { Container } from '../../api/core/v1/container/container.ts'
import type { PodSpec } from '../../api/core/v1/pod-spec/pod-spec.ts'

type RestartFields = Pick<Container, 'restartPolicy' | 'restartPolicyRules'>

/** A sidecar is an init container that keeps running beside the main containers. */
export const isSidecar = ({ restartPolicy }: RestartFields): boolean => restartPolicy === 'Always'

export const shouldRestart = (container: RestartFields, { restartPolicy }: PodSpec, exitCode: number): boolean =>
  matchesRule(container, exitCode) || follows(container.restartPolicy ?? restartPolicy, exitCode)

/** An init container that has succeeded is not restarted, whatever the pod's policy is. */
export const shouldRestartInit = (container: RestartFields, { restartPolicy }: PodSpec, exitCode: number): boolean =>
  isSidecar(container) ||
  (exitCode !== 0 &&
    (matchesRule(container, exitCode) ||
      follows(container.restartPolicy ?? (restartPolicy === 'Never' ? 'Never' : 'OnFailure'), exitCode)))

const follows = (policy: string, exitCode: number): boolean =>
  policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)

/** Restart rules of the container, including RestartAllContainers. */
const matchesRule = (container: RestartFields, exitCode: number): boolean =>
  ruleAction(container, exitCode) === 'Restart' || restartsAll(container, exitCode)

/** Whether an exit with this code restarts all containers of the pod. */
export const restartsAll = (container: RestartFields, exitCode: number): boolean =>
  ruleAction(container, exitCode) === 'RestartAllContainers'

/** The first matching rule decides. */
const ruleAction = ({ restartPolicyRules = [] }: RestartFields, exitCode: number): string | undefined =>
  restartPolicyRules.find(({ exitCodes }) => {
    if (exitCodes === undefined) return false
    const isListed = exitCodes.values?.includes(exitCode) ?? false
    return exitCodes.operator === 'In' ? isListed : !isListed
  })?.action

/** The backoff of a container, as of its last start. */
export interface CrashBackoff {
  /** Another image begins without a backoff. */
  readonly image: string
  readonly waitMs: number
  readonly sinceMs: number
}

const crashBackoffMsInitial = 10_000
const crashBackoffMsMax = 300_000

/** The backoff of a container with its present image. */
export function crashBackoffOf(
  backoffs: ReadonlyMap<string, CrashBackoff>,
  { name, image = '' }: Container,
): CrashBackoff | undefined {
  const known = backoffs.get(name)
  return known?.image === image ? known : undefined
}

/** The backoff is reset when the container ran for this long. */
const isBackoffReset = ({ sinceMs }: CrashBackoff, finishedMs: number): boolean =>
  finishedMs - sinceMs > 2 * crashBackoffMsMax

/** The remaining backoff of an exited container; the first restart is immediate. */
export const crashBackoffRemainingMs = (
  backoff: CrashBackoff | undefined,
  finishedMs: number,
  nowMs: number,
): number =>
  backoff === undefined || isBackoffReset(backoff, finishedMs) ? 0 : Math.max(0, finishedMs + backoff.waitMs - nowMs)

/** The backoff after a restart now. */
export const nextCrashBackoff = (
  backoff: CrashBackoff | undefined,
  { image = '' }: Pick<Container, 'image'>,
  finishedMs: number,
  nowMs: number,
): CrashBackoff => ({
  image,
  waitMs:
    backoff === undefined || isBackoffReset(backoff, finishedMs)
      ? crashBackoffMsInitial
      : Math.min(backoff.waitMs * 2, crashBackoffMsMax),
  sinceMs: nowMs,
})
