// ContainerRuntime: what a kubelet asks of the host to run containers, after the model of CRI v1. It knows pods only by
// their uid. Drivers: simulated here; containerd over gRPC is the real one. Every driver passes contract.suite.ts.

export interface SandboxConfig {
  readonly podUid: string
  readonly namespace: string
  readonly name: string
}

export interface ContainerConfig {
  readonly name: string
  readonly image: string
  /** Which start of this container it is, from 0: it becomes the restart count. */
  readonly attempt: number
  readonly command: readonly string[]
  readonly arguments: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

export interface RuntimeContainer {
  readonly id: string
  readonly name: string
  readonly image: string
  readonly imageId: string
  readonly attempt: number
  readonly state: 'created' | 'running' | 'exited'
  readonly startedMs: number
  readonly finishedMs: number
  readonly exitCode: number
}

export interface RuntimePod {
  readonly sandboxId: string
  readonly isReady: boolean
  readonly ip: string
  /** All containers that were not removed, the newest attempt of each last. */
  readonly containers: readonly RuntimeContainer[]
}

export class ImageNotFound extends Error {
  override name = 'ImageNotFound'
}

export interface ContainerRuntime {
  readonly name: string
  readonly version: string
  /** What runs for the pod; undefined when there is no sandbox. */
  inspect(podUid: string, signal: AbortSignal): Promise<RuntimePod | undefined>
  /** Uids of all pods that have a sandbox. */
  podUids(signal: AbortSignal): Promise<readonly string[]>
  /** Makes the image present; returns its id. Throws ImageNotFound. */
  pullImage(image: string, signal: AbortSignal): Promise<string>
  runSandbox(config: SandboxConfig, signal: AbortSignal): Promise<string>
  /** Stops what still runs in it and removes it; fine when it is gone. */
  removeSandbox(sandboxId: string, signal: AbortSignal): Promise<void>
  createContainer(sandboxId: string, config: ContainerConfig, signal: AbortSignal): Promise<string>
  startContainer(containerId: string, signal: AbortSignal): Promise<void>
  /** Asks the container to end, and ends it after the grace; resolved when it has ended. */
  stopContainer(containerId: string, graceMs: number, signal: AbortSignal): Promise<void>
  removeContainer(containerId: string, signal: AbortSignal): Promise<void>
  /** Calls back with the pod's uid whenever one of its containers starts or ends; the returned function ends it. */
  onChange(listener: (podUid: string) => void): () => void
}
