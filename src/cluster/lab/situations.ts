// The situations of the lab, from common to rare.
import {
  serveUntilTerminated,
  type SimulatedProgram,
  type SimulatedRuntimeOptions,
} from '../../machine/runtime/simulated-runtime.ts'
import {
  exceededQuota,
  misspeltSubject,
  missingRole,
  refusedRequests,
  webhookWithoutService,
} from './situations/access.ts'
import {
  badImage,
  crashLoop,
  failedJob,
  livenessProbe,
  missingSecret,
  readinessProbe,
} from './situations/containers.ts'
import { autoscalerWithoutRequests, cronJobWithoutDate, stuckNamespace } from './situations/controllers.ts'
import { ingressWithoutService, wrongSelector } from './situations/network.ts'
import { blockedDrain, nodeSelector, taint, unschedulableCpu } from './situations/scheduling.ts'
import type { Situation } from './situations/situation.ts'
import { accessMode, missingStorageClass } from './situations/storage.ts'

export const situations: readonly Situation[] = [
  badImage,
  crashLoop,
  readinessProbe,
  livenessProbe,
  wrongSelector,
  missingSecret,
  unschedulableCpu,
  nodeSelector,
  taint,
  missingStorageClass,
  accessMode,
  failedJob,
  cronJobWithoutDate,
  exceededQuota,
  autoscalerWithoutRequests,
  ingressWithoutService,
  missingRole,
  misspeltSubject,
  refusedRequests,
  webhookWithoutService,
  blockedDrain,
  stuckNamespace,
]

/** Listens on port 8080 only. */
const server: SimulatedProgram = async (process) => {
  process.serveHttp(8080, () => ({ status: 200, body: 'ok' }))
  return serveUntilTerminated(process)
}

/** Images that behave differently from the default, which responds on all ports. */
export const images: NonNullable<SimulatedRuntimeOptions['images']> = {
  'api:1': server,
  'ngnix:1.29': 'missing',
  'web:1': server,
}
