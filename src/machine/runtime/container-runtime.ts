// ContainerRuntime: what a kubelet asks of the host to run containers, after the model of CRI v1. It knows pods by their
// uid and nothing of the API. Drivers: simulated beside this file, containerd over CRI in machine/cri. Every driver
// passes contract.suite.ts.
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { CgroupUsage } from '../cgroups/cgroups.ts'
import type { ContainerConfig, ContainerResources, SandboxConfig } from './runtime-config.ts'

export type { ContainerConfig, ContainerResources, SandboxConfig } from './runtime-config.ts'

export interface RuntimeContainer {
  readonly id: string
  readonly name: string
  /** The image as the pod names it. */
  readonly image: string
  readonly imageId: string
  readonly attempt: number
  readonly state: 'created' | 'running' | 'exited'
  readonly startedMs: number
  readonly finishedMs: number
  readonly exitCode: number
  /** Why it ended, where the runtime knows: `OOMKilled`, `Error`, `Completed`, `StartError`. */
  readonly reason: string
  readonly message: string
  /** As whom it runs, where the runtime tells it. */
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[] }
  /** Where it sees mounts that are read-only with all below them, where the runtime tells it. */
  readonly recursivelyReadOnly?: readonly string[]
  /** Where its output goes; empty where the runtime keeps none in files. */
  readonly logPath: string
}

export interface RuntimePod {
  readonly podUid: string
  readonly namespace: string
  readonly name: string
  readonly sandboxId: string
  /** Which sandbox of the pod it is, from 0. */
  readonly attempt: number
  readonly isReady: boolean
  /** The pod's addresses, the first one first; none while it shares the node's network. */
  readonly ips: readonly string[]
  /** All containers that were not removed, in the order of their creation. */
  readonly containers: readonly RuntimeContainer[]
}

export interface RuntimeImage {
  readonly id: string
  readonly tags: readonly string[]
  readonly digests: readonly string[]
  readonly sizeBytes: number
  /** As whom it runs unless told otherwise; undefined when it says a name instead of a number. */
  readonly uid: number | undefined
  readonly username: string
  /** Never removed to make room: the runtime itself needs it. */
  readonly isPinned?: boolean
}

export interface RuntimeStats {
  readonly containerId: string
  readonly podUid: string
  /** The container's name. */
  readonly name: string
  readonly usage: Omit<CgroupUsage, 'processes'>
  /** What it has written over its image. */
  readonly layer: { readonly bytes: number; readonly inodes: number }
}

/** A place on the disk, and what the runtime has put there. */
export interface RuntimeFileSystem {
  readonly path: string
  readonly usedBytes: number
  readonly inodesUsed: number
}

export interface RuntimeFileSystems {
  readonly images: RuntimeFileSystem
  /** Undefined where they lie with the images. */
  readonly containers: RuntimeFileSystem | undefined
}

export interface ImageCredentials {
  readonly username: string
  readonly password: string
  readonly registryToken?: string
}

/** The image is nowhere, or may not be had. The message is the runtime's. */
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

/** A way of running containers, and what it can do. The usual one has no name. */
export interface RuntimeHandler {
  readonly name: string
  /** Whether a mount can be read-only with all that is mounted below it. */
  readonly mountsRecursivelyReadOnly: boolean
}

export interface ExecResult {
  readonly exitCode: number
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
}

/** The command did not end in its time. */
export class ExecTimeout extends Error {
  override name = 'ExecTimeout'
}

export interface ContainerRuntime {
  readonly name: string
  readonly version: string
  /** Tells how it is, now and from then on, until the signal; `undefined`: it does not answer. */
  watchHealth(tell: (health: RuntimeHealth | undefined) => void, signal: AbortSignal): Promise<void>
  handlers(signal: AbortSignal): Promise<readonly RuntimeHandler[]>
  /** What runs for the pod: its newest sandbox; undefined when there is none. */
  inspect(podUid: string, signal: AbortSignal): Promise<RuntimePod | undefined>
  /** Uids of all pods that have a sandbox. */
  podUids(signal: AbortSignal): Promise<readonly string[]>
  /** What is known of an image that is present. */
  findImage(image: string, signal: AbortSignal): Promise<RuntimeImage | undefined>
  images(signal: AbortSignal): Promise<readonly RuntimeImage[]>
  /** Makes the image present; returns its id. Throws ImageNotFound. */
  pullImage(image: string, credentials: ImageCredentials | undefined, signal: AbortSignal): Promise<string>
  removeImage(id: string, signal: AbortSignal): Promise<void>
  /** Ids of the images of all containers that were not removed. */
  imagesInUse(signal: AbortSignal): Promise<ReadonlySet<string>>
  /** It, `createContainer` and `startContainer` end what they have begun: a caller that gives up learns it afterwards. */
  runSandbox(config: SandboxConfig, signal: AbortSignal): Promise<string>
  /** Stops what still runs in it and gives its address back; fine when it is gone. */
  stopSandbox(sandboxId: string, signal: AbortSignal): Promise<void>
  /** Stops and removes it; fine when it is gone. */
  removeSandbox(sandboxId: string, signal: AbortSignal): Promise<void>
  createContainer(
    sandboxId: string,
    config: ContainerConfig,
    sandbox: SandboxConfig,
    signal: AbortSignal,
  ): Promise<string>
  startContainer(containerId: string, signal: AbortSignal): Promise<void>
  /** Asks the container to end, and ends it after the grace; resolved when it has ended. Whoever stops waiting may ask again. */
  stopContainer(containerId: string, graceMs: number, signal: AbortSignal): Promise<void>
  removeContainer(containerId: string, signal: AbortSignal): Promise<void>
  updateResources(containerId: string, resources: ContainerResources, signal: AbortSignal): Promise<void>
  /** Runs a command in a container to its end. Throws ExecTimeout. */
  exec(containerId: string, command: readonly string[], timeoutMs: number, signal: AbortSignal): Promise<ExecResult>
  /** After its log file was moved away, writes into a new one. */
  reopenLog(containerId: string, signal: AbortSignal): Promise<void>
  /** Calls back with the pod's uid whenever one of its containers starts or ends; the returned function ends it. */
  onChange(listener: (podUid: string) => void): () => void
  /** How streams into containers are opened. */
  readonly streams: RemoteStreams | LocalStreams
  /** Where images lie, and what containers write over them. */
  fileSystems(signal: AbortSignal): Promise<RuntimeFileSystems>
  /** What every running container uses now. */
  stats(signal: AbortSignal): Promise<readonly RuntimeStats[]>
}

/** Addresses at which the runtime's own streaming server takes a stream. */
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

/** Streams that the runtime itself carries, in this process. */
export interface LocalStreams {
  readonly kind: 'local'
  /** Runs a command; resolves with its exit code. */
  exec(containerId: string, command: readonly string[], io: ProcessStreams, signal: AbortSignal): Promise<number>
  /** Joins a container that runs; resolves with 0 when it has ended, however it has. */
  attach(containerId: string, io: ProcessStreams, signal: AbortSignal): Promise<number>
  /** Connects to a port of a pod. Rejects with Unreachable. */
  connect(sandboxId: string, port: number, signal: AbortSignal): Promise<ByteStream>
}

export interface ProcessStreams {
  /** What is typed, until its end. */
  readonly stdin: AsyncIterable<Uint8Array>
  stdout(piece: Uint8Array): Promise<void>
  stderr(piece: Uint8Array): Promise<void>
}
