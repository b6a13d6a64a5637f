// Every strategy, in alphabetical order.
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
import { serviceRangesDefault, type ServiceRanges } from './service/service-ranges.ts'
import { serviceStrategyOf } from './service/service-strategy.ts'

export const strategiesOf = (ranges: ServiceRanges): readonly Strategy[] => [
  certificateSigningRequestStrategy,
  customResourceDefinitionStrategy,
  daemonSetStrategy,
  jobStrategy,
  limitRangeStrategy,
  namespaceStrategy,
  persistentVolumeStrategy,
  podStrategy,
  replicationControllerStrategy,
  serviceStrategyOf(ranges),
]

export const strategies = strategiesOf(serviceRangesDefault)
