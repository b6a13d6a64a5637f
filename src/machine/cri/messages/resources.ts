// CRI messages of Linux resources.
import { mapOf, singular, protoMessage, repeated } from '../../../wire/protobuf/proto-message.ts'

export const hugepageLimit = protoMessage('runtime.v1.HugepageLimit', {
  pageSize: singular(1, 'string'),
  limit: singular(2, 'uint64'),
})

export const linuxContainerResources = protoMessage('runtime.v1.LinuxContainerResources', {
  cpuPeriod: singular(1, 'int64'),
  cpuQuota: singular(2, 'int64'),
  cpuShares: singular(3, 'int64'),
  memoryLimitInBytes: singular(4, 'int64'),
  oomScoreAdj: singular(5, 'int64'),
  cpusetCpus: singular(6, 'string'),
  cpusetMems: singular(7, 'string'),
  hugepageLimits: repeated(8, hugepageLimit),
  unified: mapOf(9, 'string'),
  memorySwapLimitInBytes: singular(10, 'int64'),
})

export const containerResources = protoMessage('runtime.v1.ContainerResources', {
  linux: singular(1, linuxContainerResources),
})

export const updateContainerResourcesRequest = protoMessage('runtime.v1.UpdateContainerResourcesRequest', {
  containerId: singular(1, 'string'),
  linux: singular(2, linuxContainerResources),
  annotations: mapOf(4, 'string'),
})

export const updateContainerResourcesResponse = protoMessage('runtime.v1.UpdateContainerResourcesResponse', {})
