// Why a container is restarted again and again: the kernel kills it, its liveness probe fails, or it exits.
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { ContainerStatus } from '../../../api/core/v1/pod/pod-status.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { plural } from '../explainer/explainer.ts'
import { problem, type Finding } from '../explainer/finding.ts'
import { lastOutput } from './container-log.ts'
import { exitText } from './exit-codes.ts'
import { whyOutOfMemory } from './out-of-memory.ts'
import { whyKilledByProbe } from './probe-failures.ts'

/** Restarts are a problem for so long; the delay between restarts is at most five minutes. */
const restartMsMax = 15 * 60_000

/** Empty for a container whose last restart was long ago. */
export async function whyRestarted(
  object: Pod,
  status: ContainerStatus,
  cluster: ClusterReader,
): Promise<readonly Finding[]> {
  const last = status.lastState?.terminated
  const isWaiting = status.state?.waiting !== undefined
  if (status.restartCount === 0 && !isWaiting) return []
  const endedMs = Date.parse(last?.finishedAt ?? '')
  if (!isWaiting && !(cluster.nowMs - endedMs < restartMsMax)) return []
  if (last?.reason === 'OOMKilled') return [await whyOutOfMemory(object, status, cluster)]
  const killed = await whyKilledByProbe(object, status, cluster)
  return killed === undefined ? [await whyCrashed(object, status, cluster)] : [killed]
}

const delayPattern = /^back-off (\S{1,20}) restarting/

async function whyCrashed(object: Pod, status: ContainerStatus, cluster: ClusterReader): Promise<Finding> {
  const { name, image, restartCount, state, lastState } = status
  const { exitCode, reason = 'no reason', finishedAt = 'an unknown time' } = lastState?.terminated ?? {}
  const delay = delayPattern.exec(state?.waiting?.message ?? '')?.[1]
  const text = [
    `Container ${name} (${image}) ends again and again${delay === undefined ? '' : ' (CrashLoopBackOff)'}.`,
    `It was restarted ${plural(restartCount, 'time')}.`,
    ...(exitCode === undefined ? [] : [`It last exited with ${exitText(exitCode, reason)} at ${finishedAt}.`]),
    ...(delay === undefined ? [] : [`The kubelet waits ${delay} before it starts it again.`]),
  ]
  return problem(text.join(' '), {
    // While the kubelet waits, the container that has ended is the current one.
    ...(await lastOutput(object, name, state?.waiting === undefined ? 'previous' : 'current', cluster)),
    covers: ['BackOff'],
  })
}
