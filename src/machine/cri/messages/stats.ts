// CRI messages of container and file system statistics.
import { singular, protoMessage, repeated } from '../../../wire/protobuf/proto-message.ts'
import { containerAttributes, containerFilter } from './container.ts'

export const uint64Value = protoMessage('runtime.v1.UInt64Value', {
  value: singular(1, 'uint64'),
})

export const filesystemIdentifier = protoMessage('runtime.v1.FilesystemIdentifier', {
  mountpoint: singular(1, 'string'),
})

export const filesystemUsage = protoMessage('runtime.v1.FilesystemUsage', {
  timestamp: singular(1, 'int64Big'),
  fsId: singular(2, filesystemIdentifier),
  usedBytes: singular(3, uint64Value),
  inodesUsed: singular(4, uint64Value),
})

export const cpuUsage = protoMessage('runtime.v1.CpuUsage', {
  timestamp: singular(1, 'int64Big'),
  usageCoreNanoSeconds: singular(2, uint64Value),
  usageNanoCores: singular(3, uint64Value),
})

export const memoryUsage = protoMessage('runtime.v1.MemoryUsage', {
  timestamp: singular(1, 'int64Big'),
  workingSetBytes: singular(2, uint64Value),
  availableBytes: singular(3, uint64Value),
  usageBytes: singular(4, uint64Value),
  rssBytes: singular(5, uint64Value),
  pageFaults: singular(6, uint64Value),
  majorPageFaults: singular(7, uint64Value),
})

export const swapUsage = protoMessage('runtime.v1.SwapUsage', {
  timestamp: singular(1, 'int64Big'),
  swapAvailableBytes: singular(2, uint64Value),
  swapUsageBytes: singular(3, uint64Value),
})

export const containerStats = protoMessage('runtime.v1.ContainerStats', {
  attributes: singular(1, containerAttributes),
  cpu: singular(2, cpuUsage),
  memory: singular(3, memoryUsage),
  writableLayer: singular(4, filesystemUsage),
  swap: singular(5, swapUsage),
})

export const imageFsInfoRequest = protoMessage('runtime.v1.ImageFsInfoRequest', {})

export const imageFsInfoResponse = protoMessage('runtime.v1.ImageFsInfoResponse', {
  imageFilesystems: repeated(1, filesystemUsage),
  containerFilesystems: repeated(2, filesystemUsage),
})

export const listContainerStatsRequest = protoMessage('runtime.v1.ListContainerStatsRequest', {
  filter: singular(1, containerFilter),
})

export const listContainerStatsResponse = protoMessage('runtime.v1.ListContainerStatsResponse', {
  stats: repeated(1, containerStats),
})
