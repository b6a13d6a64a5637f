// What containers use.
import { one, protoMessage, repeated } from '../../../wire/protobuf/message.ts'
import { containerAttributes, containerFilter } from './container.ts'

export const uint64Value = protoMessage('runtime.v1.UInt64Value', {
  value: one(1, 'uint64'),
})

export const filesystemIdentifier = protoMessage('runtime.v1.FilesystemIdentifier', {
  mountpoint: one(1, 'string'),
})

export const filesystemUsage = protoMessage('runtime.v1.FilesystemUsage', {
  timestamp: one(1, 'int64Big'),
  fsId: one(2, filesystemIdentifier),
  usedBytes: one(3, uint64Value),
  inodesUsed: one(4, uint64Value),
})

export const cpuUsage = protoMessage('runtime.v1.CpuUsage', {
  timestamp: one(1, 'int64Big'),
  usageCoreNanoSeconds: one(2, uint64Value),
  usageNanoCores: one(3, uint64Value),
})

export const memoryUsage = protoMessage('runtime.v1.MemoryUsage', {
  timestamp: one(1, 'int64Big'),
  workingSetBytes: one(2, uint64Value),
  availableBytes: one(3, uint64Value),
  usageBytes: one(4, uint64Value),
  rssBytes: one(5, uint64Value),
  pageFaults: one(6, uint64Value),
  majorPageFaults: one(7, uint64Value),
})

export const swapUsage = protoMessage('runtime.v1.SwapUsage', {
  timestamp: one(1, 'int64Big'),
  swapAvailableBytes: one(2, uint64Value),
  swapUsageBytes: one(3, uint64Value),
})

export const containerStats = protoMessage('runtime.v1.ContainerStats', {
  attributes: one(1, containerAttributes),
  cpu: one(2, cpuUsage),
  memory: one(3, memoryUsage),
  writableLayer: one(4, filesystemUsage),
  swap: one(5, swapUsage),
})

export const imageFsInfoRequest = protoMessage('runtime.v1.ImageFsInfoRequest', {})

export const imageFsInfoResponse = protoMessage('runtime.v1.ImageFsInfoResponse', {
  imageFilesystems: repeated(1, filesystemUsage),
  containerFilesystems: repeated(2, filesystemUsage),
})

export const listContainerStatsRequest = protoMessage('runtime.v1.ListContainerStatsRequest', {
  filter: one(1, containerFilter),
})

export const listContainerStatsResponse = protoMessage('runtime.v1.ListContainerStatsResponse', {
  stats: repeated(1, containerStats),
})
