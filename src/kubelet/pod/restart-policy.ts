// Whether a container that ended is started again, and how long that waits: the pod's policy, the container's own, and
// rules about exit codes; back-off that grows with each crash and is forgotten after a while of good behaviour.
import type { Container } from '../../api/core/v1/container/container.ts'
import type { PodSpec } from '../../api/core/v1/pod-spec/pod-spec.ts'

type RestartFields = Pick<Container, 'restartPolicy' | 'restartPolicyRules'>

/** A sidecar: an init container that runs beside the others. */
export const isSidecar = ({ restartPolicy }: RestartFields): boolean => restartPolicy === 'Always'

export const shouldRestart = (container: RestartFields, { restartPolicy }: PodSpec, exitCode: number): boolean =>
  matchesRule(container, exitCode) || follows(container.restartPolicy ?? restartPolicy, exitCode)

/** An init container has done its work when it succeeded, whatever the pod's policy. */
export const shouldRestartInit = (container: RestartFields, { restartPolicy }: PodSpec, exitCode: number): boolean =>
  isSidecar(container) ||
  (exitCode !== 0 &&
    (matchesRule(container, exitCode) ||
      follows(container.restartPolicy ?? (restartPolicy === 'Never' ? 'Never' : 'OnFailure'), exitCode)))

const follows = (policy: string, exitCode: number): boolean =>
  policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)

/** Whatever else is started again with it. */
const matchesRule = (container: RestartFields, exitCode: number): boolean =>
  ruleAction(container, exitCode) === 'Restart' || restartsAll(container, exitCode)

/** Whether such an exit has all containers of the pod started again. */
export const restartsAll = (container: RestartFields, exitCode: number): boolean =>
  ruleAction(container, exitCode) === 'RestartAllContainers'

/** The first rule that is about the code counts. */
const ruleAction = ({ restartPolicyRules = [] }: RestartFields, exitCode: number): string | undefined =>
  restartPolicyRules.find(({ exitCodes }) => {
    if (exitCodes === undefined) return false
    const isListed = exitCodes.values?.includes(exitCode) ?? false
    return exitCodes.operator === 'In' ? isListed : !isListed
  })?.action

/** How long a container waits before it is started again, as of its last start. */
export interface CrashBackoff {
  readonly waitMs: number
  readonly sinceMs: number
}

const crashBackoffMsInitial = 10_000
const crashBackoffMsMax = 300_000

/** A container that ran for so long before it ended counts as new. */
const isForgiven = ({ sinceMs }: CrashBackoff, finishedMs: number): boolean =>
  finishedMs - sinceMs > 2 * crashBackoffMsMax

/** How long a container that ended must still wait; the first restart comes at once. */
export const crashBackoffRemainingMs = (
  backoff: CrashBackoff | undefined,
  finishedMs: number,
  nowMs: number,
): number =>
  backoff === undefined || isForgiven(backoff, finishedMs) ? 0 : Math.max(0, finishedMs + backoff.waitMs - nowMs)

/** What holds once the container is started again now. */
export const nextCrashBackoff = (
  backoff: CrashBackoff | undefined,
  finishedMs: number,
  nowMs: number,
): CrashBackoff => ({
  waitMs:
    backoff === undefined || isForgiven(backoff, finishedMs)
      ? crashBackoffMsInitial
      : Math.min(backoff.waitMs * 2, crashBackoffMsMax),
  sinceMs: nowMs,
})
