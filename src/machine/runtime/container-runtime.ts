// ContainerRuntime: what a kubelet needs of a container runtime, modelled on CRI v1. It identifies pods by uid and does
// not depend on the API. Drivers: the simulated runtime in this directory, and CRI in machine/cri. Every driver passes
// runtime-contract.suite.ts.
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { CgroupUsage } from '../cgroups/cgroups.ts'
import type { ContainerConfig, ContainerResources, SandboxConfig } from './runtime-config.ts'

export type { ContainerConfig, ContainerResources, SandboxConfig } from './runtime-config.ts'

export interface RuntimeContainer {
  readonly id: string
  readonly name: string
  /** The image as the pod specifies it. */
  readonly image: string
  readonly imageId: string
  readonly attempt: number
  readonly state: 'created' | 'running' | 'exited'
  readonly startedMs: number
  readonly finishedMs: number
  readonly exitCode: number
  /** The termination reason, if the runtime knows it: `OOMKilled`, `Error`, `Completed`, `StartError`. */
  readonly reason: string
  readonly message: string
  /** The user it runs as, if the runtime reports it. */
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[] }
  /** Paths of recursive read-only mounts, if the runtime reports them. */
  readonly recursivelyReadOnly?: readonly string[]
  /** The log file; empty when the runtime writes none. */
  readonly logPath: string
}

export interface RuntimePod {
  readonly podUid: string
  readonly namespace: string
  readonly name: string
  readonly sandboxId: string
  /** The number of the sandbox within the pod, from 0. */
  readonly attempt: number
  readonly isReady: boolean
  /** IP addresses, the primary one first; empty for host network pods. */
  readonly ips: readonly string[]
  /** All containers that have not been removed, in the order of creation. */
  readonly containers: readonly RuntimeContainer[]
}

export interface RuntimeImage {
  readonly id: string
  readonly tags: readonly string[]
  readonly digests: readonly string[]
  readonly sizeBytes: number
  /** The default user of the image; undefined when the image specifies a user name instead of a number. */
  readonly uid: number | undefined
  readonly username: string
  /** Never garbage collected, because the runtime needs it. */
  readonly isPinned?: boolean
}

export interface RuntimeStats {
  readonly containerId: string
  readonly podUid: string
  readonly name: string
  readonly usage: Omit<CgroupUsage, 'processes'>
  /** The writable layer. */
  readonly layer: { readonly bytes: number; readonly inodes: number }
}

/** A file system path of the runtime, and its usage. */
export interface RuntimeFileSystem {
  readonly path: string
  readonly usedBytes: number
  readonly inodesUsed: number
}

export interface RuntimeFileSystems {
  readonly images: RuntimeFileSystem
  /** Undefined when containers are on the file system of the images. */
  readonly containers: RuntimeFileSystem | undefined
}

export interface ImageCredentials {
  readonly username: string
  readonly password: string
  readonly registryToken?: string
}

/** The image does not exist or access is denied. The message is the runtime's. */
export class ImageNotFound extends Error {
  override name = 'ImageNotFound'
}

export interface RuntimeHealth {
  readonly runtime: RuntimeCondition
  readonly network: RuntimeCondition
}

export interface RuntimeCondition {
  readonly isReady: boolean
  readonly reason: string
  readonly message: string
}

export const readyCondition: RuntimeCondition = { isReady: true, reason: '', message: '' }

/** A runtime handler and its features. The default handler has an empty name. */
export interface RuntimeHandler {
  readonly name: string
  /** Whether it supports recursive read-only mounts. */
  readonly mountsRecursivelyReadOnly: boolean
}

export interface ExecResult {
  readonly exitCode: number
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
}

/** The command exceeded its timeout. */
export class ExecTimeout extends Error {
  override name = 'ExecTimeout'
}

export interface ContainerRuntime {
  readonly name: string
  readonly version: string
  /**
   * Calls `onHealth` with the current health and all later results until the signal is aborted; `undefined` when the
   * runtime does not respond.
   */
  watchHealth(onHealth: (health: RuntimeHealth | undefined) => void, signal: AbortSignal): Promise<void>
  handlers(signal: AbortSignal): Promise<readonly RuntimeHandler[]>
  /** The latest sandbox of a pod with its containers; undefined when there is none. */
  inspect(podUid: string, signal: AbortSignal): Promise<RuntimePod | undefined>
  /** Uids of all pods that have a sandbox. */
  podUids(signal: AbortSignal): Promise<readonly string[]>
  /**
   * Removes containers whose sandbox no longer exists. Undefined for a runtime that removes all containers with their
   * sandbox.
   */
  removeLostContainers?(signal: AbortSignal): Promise<void>
  /** A present image; undefined when it is not present. */
  findImage(image: string, signal: AbortSignal): Promise<RuntimeImage | undefined>
  images(signal: AbortSignal): Promise<readonly RuntimeImage[]>
  /** Pulls the image; returns its id. Throws ImageNotFound. */
  pullImage(image: string, credentials: ImageCredentials | undefined, signal: AbortSignal): Promise<string>
  removeImage(id: string, signal: AbortSignal): Promise<void>
  /** Ids of the images of all containers that have not been removed. */
  imagesInUse(signal: AbortSignal): Promise<ReadonlySet<string>>
  /**
   * `runSandbox`, `createContainer` and `startContainer` complete what they have started; a caller that aborts gets the
   * error afterwards.
   */
  runSandbox(config: SandboxConfig, signal: AbortSignal): Promise<string>
  /** Stops its containers and releases its addresses; does nothing when it is gone. */
  stopSandbox(sandboxId: string, signal: AbortSignal): Promise<void>
  /** Stops and removes it; does nothing when it is gone. */
  removeSandbox(sandboxId: string, signal: AbortSignal): Promise<void>
  createContainer(
    sandboxId: string,
    config: ContainerConfig,
    sandbox: SandboxConfig,
    signal: AbortSignal,
  ): Promise<string>
  startContainer(containerId: string, signal: AbortSignal): Promise<void>
  /**
   * Sends the stop signal, and SIGKILL after the grace period; resolves when the container has exited. A caller that
   * aborts may call it again.
   */
  stopContainer(containerId: string, graceMs: number, signal: AbortSignal): Promise<void>
  removeContainer(containerId: string, signal: AbortSignal): Promise<void>
  updateResources(containerId: string, resources: ContainerResources, signal: AbortSignal): Promise<void>
  /** Runs a command in a container to its end. Throws ExecTimeout. */
  exec(containerId: string, command: readonly string[], timeoutMs: number, signal: AbortSignal): Promise<ExecResult>
  /** Reopens the log after its file was renamed. */
  reopenLog(containerId: string, signal: AbortSignal): Promise<void>
  /**
   * Calls the listener with the pod's uid whenever one of its containers starts or exits; returns a function that
   * removes it.
   */
  onChange(listener: (podUid: string) => void): () => void
  /** Streams into containers. */
  readonly streams: RemoteStreams | LocalStreams
  /** The file systems of images and containers. */
  fileSystems(signal: AbortSignal): Promise<RuntimeFileSystems>
  /** Usage of all running containers. */
  stats(signal: AbortSignal): Promise<readonly RuntimeStats[]>
}

/** URLs of the runtime's streaming server. */
export interface RemoteStreams {
  readonly kind: 'remote'
  execUrl(containerId: string, request: StreamRequest, signal: AbortSignal): Promise<string>
  attachUrl(containerId: string, request: Omit<StreamRequest, 'command'>, signal: AbortSignal): Promise<string>
  portForwardUrl(sandboxId: string, ports: readonly number[], signal: AbortSignal): Promise<string>
}

export interface StreamRequest {
  readonly command: readonly string[]
  readonly tty: boolean
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
}

/** Streams that the runtime provides in this process. */
export interface LocalStreams {
  readonly kind: 'local'
  /** Runs a command; resolves with its exit code. */
  exec(containerId: string, command: readonly string[], io: ProcessStreams, signal: AbortSignal): Promise<number>
  /** Attaches to a running container; resolves with 0 when it exits, whatever its exit code is. */
  attach(containerId: string, io: ProcessStreams, signal: AbortSignal): Promise<number>
  /** Connects to a port of a pod. Rejects with Unreachable. */
  connect(sandboxId: string, port: number, signal: AbortSignal): Promise<ByteStream>
}

export interface ProcessStreams {
  /** Input until its end. */
  readonly stdin: AsyncIterable<Uint8Array>
  stdout(piece: Uint8Array): Promise<void>
  stderr(piece: Uint8Array): Promise<void>
  /** The client has a terminal in raw mode: both outputs are one, and what is typed has to be echoed. */
  readonly isTerminal?: true
}
