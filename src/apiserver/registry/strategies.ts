// Every strategy, in the order of the alphabet.
import type { Strategy } from './strategy.ts'
import { certificateSigningRequestStrategy } from './strategies/certificate-signing-request.ts'
import { customResourceDefinitionStrategy } from './strategies/custom-resource-definition.ts'
import { daemonSetStrategy } from './strategies/daemon-set.ts'
import { jobStrategy } from './strategies/job.ts'
import { limitRangeStrategy } from './strategies/limit-range.ts'
import { namespaceStrategy } from './strategies/namespace.ts'
import { podStrategy } from './strategies/pod.ts'
import { replicationControllerStrategy } from './strategies/replication-controller.ts'
import { serviceStrategy } from './strategies/service/service.ts'

export const strategies: readonly Strategy[] = [
  certificateSigningRequestStrategy,
  customResourceDefinitionStrategy,
  daemonSetStrategy,
  jobStrategy,
  limitRangeStrategy,
  namespaceStrategy,
  podStrategy,
  replicationControllerStrategy,
  serviceStrategy,
]
