// containerFindings: what is wrong with one container of a pod, by its state.
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { ContainerStatus } from '../../../api/core/v1/pod/pod-status.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { because, plural } from '../explainer/explainer.ts'
import { problem, warning, type Finding } from '../explainer/finding.ts'
import { lastOutput } from './container-log.ts'
import { exitText } from './exit-codes.ts'
import { whyImageIsMissing } from './image-pull.ts'
import { whyReferencesAreMissing } from './missing-references.ts'
import { whyOutOfMemory } from './out-of-memory.ts'
import { whyNotReady, whyNotStarted } from './probe-failures.ts'
import { whyRestarted } from './restarts.ts'

const imageReasons = new Set([
  'ErrImageNeverPull',
  'ErrImagePull',
  'ImageInspectError',
  'ImagePullBackOff',
  'InvalidImageName',
  'RegistryUnavailable',
])
/** The container waits for its volumes, or for the values of its environment. */
const referenceReasons = new Set(['ContainerCreating', 'CreateContainerConfigError', 'PodInitializing'])

export async function containerFindings(
  object: Pod,
  status: ContainerStatus,
  cluster: ClusterReader,
): Promise<readonly Finding[]> {
  const { name, state, ready, started } = status
  if (state?.waiting) return waitingFindings(object, status, cluster)
  if (state?.terminated) return ready ? [] : endedFindings(object, status, cluster)
  if (state?.running === undefined) return ready ? [] : [warning(`Container ${name} has not been started yet.`)]
  const restarted = await whyRestarted(object, status, cluster)
  if (ready) return restarted
  return [
    ...restarted,
    ...(started === false ? await whyNotStarted(object, status, cluster) : await whyNotReady(object, status, cluster)),
  ]
}

async function waitingFindings(
  object: Pod,
  status: ContainerStatus,
  cluster: ClusterReader,
): Promise<readonly Finding[]> {
  const { name, image, state, restartCount } = status
  const { reason = '', message = '' } = state?.waiting ?? {}
  if (reason === 'CrashLoopBackOff') return whyRestarted(object, status, cluster)
  if (imageReasons.has(reason)) return [await whyImageIsMissing(object, status, cluster)]
  if (referenceReasons.has(reason)) {
    const missing = await whyReferencesAreMissing(object, name, cluster)
    if (missing.length > 0) return missing
  }
  const again = restartCount > 0 ? ` It was restarted ${plural(restartCount, 'time')}.` : ''
  const text = `Container ${name} (${image}) is waiting: ${because({ reason, message })}.${again}${lastEnd(status)}`
  // Containers are created within seconds, unless an event says why not.
  return [reason === 'ContainerCreating' || reason === 'PodInitializing' ? warning(text) : problem(text)]
}

function lastEnd({ lastState }: ContainerStatus): string {
  if (lastState?.terminated === undefined) return ''
  const { exitCode, reason = 'no reason', finishedAt = 'an unknown time' } = lastState.terminated
  return ` It last exited with ${exitText(exitCode, reason)} at ${finishedAt}.`
}

/** A container that has ended and is not started again. */
export async function endedFindings(
  object: Pod,
  status: ContainerStatus,
  cluster: ClusterReader,
): Promise<readonly Finding[]> {
  const { name, state } = status
  const { exitCode = 0, reason = 'no reason' } = state?.terminated ?? {}
  if (reason === 'OOMKilled') return [await whyOutOfMemory(object, status, cluster)]
  if (exitCode === 0) return [warning(`Container ${name} exited with code 0 (${reason}).`)]
  const output = await lastOutput(object, name, 'current', cluster)
  return [problem(`Container ${name} exited with ${exitText(exitCode, reason)}.`, output)]
}
