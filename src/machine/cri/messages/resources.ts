// Limits of the kernel.
import { mapOf, one, protoMessage, repeated } from '../../../wire/protobuf/message.ts'

export const hugepageLimit = protoMessage('runtime.v1.HugepageLimit', {
  pageSize: one(1, 'string'),
  limit: one(2, 'uint64'),
})

export const linuxContainerResources = protoMessage('runtime.v1.LinuxContainerResources', {
  cpuPeriod: one(1, 'int64'),
  cpuQuota: one(2, 'int64'),
  cpuShares: one(3, 'int64'),
  memoryLimitInBytes: one(4, 'int64'),
  oomScoreAdj: one(5, 'int64'),
  cpusetCpus: one(6, 'string'),
  cpusetMems: one(7, 'string'),
  hugepageLimits: repeated(8, hugepageLimit),
  unified: mapOf(9, 'string'),
  memorySwapLimitInBytes: one(10, 'int64'),
})

export const containerResources = protoMessage('runtime.v1.ContainerResources', {
  linux: one(1, linuxContainerResources),
})

export const updateContainerResourcesRequest = protoMessage('runtime.v1.UpdateContainerResourcesRequest', {
  containerId: one(1, 'string'),
  linux: one(2, linuxContainerResources),
  annotations: mapOf(4, 'string'),
})

export const updateContainerResourcesResponse = protoMessage('runtime.v1.UpdateContainerResourcesResponse', {})
