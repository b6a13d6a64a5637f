// Every strategy, in alphabetical order. That of Services depends on the ranges of the server.
import type { Strategy } from '../registry/resource/strategy.ts'
import { certificateSigningRequestStrategy } from './certificate-signing-request-strategy.ts'
import { customResourceDefinitionStrategy } from './custom-resource-definition-strategy.ts'
import { daemonSetStrategy } from './daemon-set-strategy.ts'
import { jobStrategy } from './job-strategy.ts'
import { limitRangeStrategy } from './limit-range-strategy.ts'
import { namespaceStrategy } from './namespace-strategy.ts'
import { persistentVolumeStrategy } from './persistent-volume-strategy.ts'
import { podStrategy } from './pod/pod-strategy.ts'
import { replicationControllerStrategy } from './replication-controller-strategy.ts'
import type { AllocationMeasures } from './service/allocation-measures.ts'
import type { ServiceRanges } from './service/service-ranges.ts'
import { serviceStrategyOf } from './service/service-strategy.ts'

export const fixedStrategies: readonly Strategy[] = [
  certificateSigningRequestStrategy,
  customResourceDefinitionStrategy,
  daemonSetStrategy,
  jobStrategy,
  limitRangeStrategy,
  namespaceStrategy,
  persistentVolumeStrategy,
  podStrategy,
  replicationControllerStrategy,
]

export const strategiesOf = (ranges: ServiceRanges, measures: AllocationMeasures): readonly Strategy[] => [
  ...fixedStrategies,
  serviceStrategyOf(ranges, measures),
]
