// The CRI v1 methods that the kubelet uses.
import { grpcMethod } from '../../wire/grpc/grpc-channel.ts'
import {
  containerEventResponse,
  containerStatusRequest,
  containerStatusResponse,
  createContainerRequest,
  createContainerResponse,
  getEventsRequest,
  listContainersRequest,
  listContainersResponse,
  removeContainerRequest,
  removeContainerResponse,
  reopenContainerLogRequest,
  reopenContainerLogResponse,
  startContainerRequest,
  startContainerResponse,
  stopContainerRequest,
  stopContainerResponse,
} from './messages/container.ts'
import {
  imageStatusRequest,
  imageStatusResponse,
  listImagesRequest,
  listImagesResponse,
  pullImageRequest,
  pullImageResponse,
  removeImageRequest,
  removeImageResponse,
} from './messages/image.ts'
import {
  imageFsInfoRequest,
  imageFsInfoResponse,
  listContainerStatsRequest,
  listContainerStatsResponse,
} from './messages/stats.ts'
import { updateContainerResourcesRequest, updateContainerResourcesResponse } from './messages/resources.ts'
import { statusRequest, statusResponse, versionRequest, versionResponse } from './messages/runtime.ts'
import {
  listPodSandboxRequest,
  listPodSandboxResponse,
  podSandboxStatusRequest,
  podSandboxStatusResponse,
  removePodSandboxRequest,
  removePodSandboxResponse,
  runPodSandboxRequest,
  runPodSandboxResponse,
  stopPodSandboxRequest,
  stopPodSandboxResponse,
} from './messages/sandbox.ts'
import {
  attachRequest,
  attachResponse,
  execRequest,
  execResponse,
  execSyncRequest,
  execSyncResponse,
  portForwardRequest,
  portForwardResponse,
} from './messages/streaming.ts'

export const runtimeService = {
  version: grpcMethod('runtime.v1.RuntimeService', 'Version', versionRequest, versionResponse),
  status: grpcMethod('runtime.v1.RuntimeService', 'Status', statusRequest, statusResponse),
  runPodSandbox: grpcMethod('runtime.v1.RuntimeService', 'RunPodSandbox', runPodSandboxRequest, runPodSandboxResponse),
  stopPodSandbox: grpcMethod(
    'runtime.v1.RuntimeService',
    'StopPodSandbox',
    stopPodSandboxRequest,
    stopPodSandboxResponse,
  ),
  removePodSandbox: grpcMethod(
    'runtime.v1.RuntimeService',
    'RemovePodSandbox',
    removePodSandboxRequest,
    removePodSandboxResponse,
  ),
  podSandboxStatus: grpcMethod(
    'runtime.v1.RuntimeService',
    'PodSandboxStatus',
    podSandboxStatusRequest,
    podSandboxStatusResponse,
  ),
  listPodSandbox: grpcMethod(
    'runtime.v1.RuntimeService',
    'ListPodSandbox',
    listPodSandboxRequest,
    listPodSandboxResponse,
  ),
  createContainer: grpcMethod(
    'runtime.v1.RuntimeService',
    'CreateContainer',
    createContainerRequest,
    createContainerResponse,
  ),
  startContainer: grpcMethod(
    'runtime.v1.RuntimeService',
    'StartContainer',
    startContainerRequest,
    startContainerResponse,
  ),
  stopContainer: grpcMethod('runtime.v1.RuntimeService', 'StopContainer', stopContainerRequest, stopContainerResponse),
  removeContainer: grpcMethod(
    'runtime.v1.RuntimeService',
    'RemoveContainer',
    removeContainerRequest,
    removeContainerResponse,
  ),
  listContainers: grpcMethod(
    'runtime.v1.RuntimeService',
    'ListContainers',
    listContainersRequest,
    listContainersResponse,
  ),
  containerStatus: grpcMethod(
    'runtime.v1.RuntimeService',
    'ContainerStatus',
    containerStatusRequest,
    containerStatusResponse,
  ),
  execSync: grpcMethod('runtime.v1.RuntimeService', 'ExecSync', execSyncRequest, execSyncResponse),
  exec: grpcMethod('runtime.v1.RuntimeService', 'Exec', execRequest, execResponse),
  attach: grpcMethod('runtime.v1.RuntimeService', 'Attach', attachRequest, attachResponse),
  portForward: grpcMethod('runtime.v1.RuntimeService', 'PortForward', portForwardRequest, portForwardResponse),
  reopenContainerLog: grpcMethod(
    'runtime.v1.RuntimeService',
    'ReopenContainerLog',
    reopenContainerLogRequest,
    reopenContainerLogResponse,
  ),
  updateContainerResources: grpcMethod(
    'runtime.v1.RuntimeService',
    'UpdateContainerResources',
    updateContainerResourcesRequest,
    updateContainerResourcesResponse,
  ),
  listContainerStats: grpcMethod(
    'runtime.v1.RuntimeService',
    'ListContainerStats',
    listContainerStatsRequest,
    listContainerStatsResponse,
  ),
  getContainerEvents: grpcMethod(
    'runtime.v1.RuntimeService',
    'GetContainerEvents',
    getEventsRequest,
    containerEventResponse,
  ),
} as const

export const imageService = {
  listImages: grpcMethod('runtime.v1.ImageService', 'ListImages', listImagesRequest, listImagesResponse),
  imageStatus: grpcMethod('runtime.v1.ImageService', 'ImageStatus', imageStatusRequest, imageStatusResponse),
  pullImage: grpcMethod('runtime.v1.ImageService', 'PullImage', pullImageRequest, pullImageResponse),
  removeImage: grpcMethod('runtime.v1.ImageService', 'RemoveImage', removeImageRequest, removeImageResponse),
  imageFsInfo: grpcMethod('runtime.v1.ImageService', 'ImageFsInfo', imageFsInfoRequest, imageFsInfoResponse),
} as const
