// CriRuntime: a container runtime that implements CRI v1 on a unix socket, such as containerd. Changes come from the
// runtime's event stream, or from relisting every second where it has none (containerd 1.6).
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Http2Provider } from '../../platform/http/http2-client.ts'
import type { Processes } from '../../platform/process/processes.ts'
import { GrpcChannel, noMetadata, type GrpcMethod } from '../../wire/grpc/grpc-channel.ts'
import { goNameOf, GrpcError } from '../../wire/grpc/grpc-status.ts'
import type { Message, Proto, ProtoInput } from '../../wire/protobuf/proto-message.ts'
import type { ContainerConfig, ContainerResources, SandboxConfig } from '../runtime/runtime-config.ts'
import {
  ExecTimeout,
  ImageNotFound,
  type ContainerRuntime,
  type ExecResult,
  type ImageCredentials,
  type RuntimeFileSystems,
  type RuntimeHandler,
  type RuntimeHealth,
  type RuntimeImage,
  type RuntimePod,
  type RemoteStreams,
  type RuntimeStats,
} from '../runtime/container-runtime.ts'
import { ctrAt, type Ctr } from './ctr.ts'
import { containerMessage, resourcesMessage, sandboxMessage } from './config-messages.ts'
import { imageService, runtimeService } from './methods.ts'
import { fileSystemOf, handlerOf, imageOf, podOf, podUidLabel, statsOf, semanticVersion } from './status-messages.ts'

export interface CriRuntimeDeps {
  readonly http2: Http2Provider
  /** Runs `ctr` for operations that CRI lacks; without it they are skipped. */
  readonly processes?: Pick<Processes, 'run'>
  readonly clock: Clock
  readonly log: Log
}

const relistMs = 1_000
/** As upstream: interval and timeout of the health check. */
const healthMs = 5_000
const healthMsMax = 10_000
const callMsMax = 120_000
/** Pulls may take long; the runtime detects stalled ones. */
const pullMsMax = 1_800_000
const eventsRetryMs = 5_000
/** Maximum number of leftover tasks deleted in one removal; the next attempt continues. */
const leftTasksMax = 10

/** The id of the task that prevents a removal. */
const runningTask = (error: unknown): string | undefined =>
  error instanceof GrpcError && error.code === 'FAILED_PRECONDITION'
    ? /cannot delete running task ([0-9a-f]+)/.exec(error.details)?.[1]
    : undefined

export class CriRuntime implements ContainerRuntime {
  readonly name: string
  readonly version: string
  readonly streams: RemoteStreams
  readonly #channel: GrpcChannel
  readonly #deps: CriRuntimeDeps
  readonly #listeners = new Set<(podUid: string) => void>()
  readonly #closed = new AbortController()
  /** Undefined when the runtime is not containerd. */
  readonly #ctr: Ctr | undefined

  private constructor(
    channel: GrpcChannel,
    deps: CriRuntimeDeps,
    socketPath: string,
    { runtimeName: name, runtimeVersion: version }: Proto<typeof runtimeService.version.response>,
  ) {
    this.#channel = channel
    const { processes } = deps
    this.#ctr = processes === undefined || name !== 'containerd' ? undefined : ctrAt(processes, socketPath)
    this.#deps = deps
    this.name = name
    this.version = semanticVersion(version)
    this.streams = {
      kind: 'remote',
      execUrl: async (containerId, { command, ...request }, signal) =>
        (await this.#call(runtimeService.exec, { containerId, cmd: command, ...request }, callMsMax, signal)).url,
      attachUrl: async (containerId, request, signal) =>
        (await this.#call(runtimeService.attach, { containerId, ...request }, callMsMax, signal)).url,
      portForwardUrl: async (podSandboxId, ports, signal) =>
        (await this.#call(runtimeService.portForward, { podSandboxId, port: ports }, callMsMax, signal)).url,
    }
  }

  /** Connects to the socket; rejects when it does not serve CRI v1. */
  static async connect(socketPath: string, deps: CriRuntimeDeps, signal: AbortSignal): Promise<CriRuntime> {
    const channel = new GrpcChannel({ http2: deps.http2, clock: deps.clock, endpoint: `unix:${socketPath}` })
    try {
      const version = await channel.unary(runtimeService.version, { version: 'v1' }, noMetadata, signal)
      return new CriRuntime(channel, deps, socketPath, version)
    } catch (error) {
      channel.close()
      throw error
    }
  }

  close(): void {
    this.#closed.abort()
    this.#channel.close()
  }

  /** Calls the listeners on every change until the signal is aborted. */
  async watch(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    for (;;) {
      try {
        for await (const event of this.#channel.serverStream(runtimeService.getContainerEvents, {}, noMetadata, signal))
          this.#notify(event.podSandboxStatus?.metadata?.uid ?? '')
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof GrpcError && error.code === 'UNIMPLEMENTED') return this.#relist(signal)
        log.debug('the event stream of the runtime failed', { error: errorText(error) })
      }
      await clock.sleep(eventsRetryMs, signal)
    }
  }

  async #relist(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    let before = new Map<string, string>()
    for (;;) {
      try {
        const now = await this.#states(signal)
        for (const uid of new Set([...before.keys(), ...now.keys()]))
          if (before.get(uid) !== now.get(uid)) this.#notify(uid)
        before = now
      } catch (error) {
        signal.throwIfAborted()
        log.debug('the containers of the runtime could not be listed', { error: errorText(error) })
      }
      await clock.sleep(relistMs, signal)
    }
  }

  /** Per pod uid, a text that changes with the state of its sandbox or containers. */
  async #states(signal: AbortSignal): Promise<Map<string, string>> {
    const [{ items }, { containers }] = await Promise.all([
      this.#call(runtimeService.listPodSandbox, {}, callMsMax, signal),
      this.#call(runtimeService.listContainers, {}, callMsMax, signal),
    ])
    const states = new Map<string, string[]>()
    const note = (uid: string, state: string) => states.set(uid, [...(states.get(uid) ?? []), state])
    for (const { id, metadata, state } of items) note(metadata?.uid ?? '', `${id} ${state}`)
    for (const { id, labels, state } of containers) note(labels[podUidLabel] ?? '', `${id} ${state}`)
    return new Map([...states].map(([uid, parts]) => [uid, parts.toSorted().join('\n')]))
  }

  #notify(podUid: string): void {
    if (podUid !== '') for (const listener of [...this.#listeners]) listener(podUid)
  }

  async watchHealth(onHealth: (health: RuntimeHealth | undefined) => void, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    for (;;) {
      try {
        onHealth(await this.#health(signal))
      } catch (error) {
        signal.throwIfAborted()
        log.debug('the status of the runtime could not be read', { error: errorText(error) })
        onHealth(undefined)
      }
      await clock.sleep(healthMs, signal)
    }
  }

  async #health(signal: AbortSignal): Promise<RuntimeHealth> {
    const { status } = await this.#call(runtimeService.status, {}, healthMsMax, signal)
    const condition = (type: string) => {
      const {
        status: isReady = false,
        reason = '',
        message = '',
      } = status?.conditions.find((one) => one.type === type) ?? {}
      return { isReady, reason, message }
    }
    return { runtime: condition('RuntimeReady'), network: condition('NetworkReady') }
  }

  async handlers(signal: AbortSignal): Promise<readonly RuntimeHandler[]> {
    const { runtimeHandlers } = await this.#call(runtimeService.status, {}, callMsMax, signal)
    return runtimeHandlers.map(handlerOf)
  }

  async inspect(podUid: string, signal: AbortSignal): Promise<RuntimePod | undefined> {
    const labelSelector = { [podUidLabel]: podUid }
    const { items } = await this.#call(runtimeService.listPodSandbox, { filter: { labelSelector } }, callMsMax, signal)
    const newest = items.toSorted((a, b) => (b.metadata?.attempt ?? 0) - (a.metadata?.attempt ?? 0))[0]
    if (newest === undefined) return undefined
    const filter = { podSandboxId: newest.id, labelSelector }
    const [found, { containers }] = await Promise.all([
      this.#find(runtimeService.podSandboxStatus, { podSandboxId: newest.id }, signal),
      this.#call(runtimeService.listContainers, { filter }, callMsMax, signal),
    ])
    const sandbox = found?.status
    if (sandbox === undefined) return undefined
    const statuses = await Promise.all(
      containers.map(
        async ({ id }) => (await this.#find(runtimeService.containerStatus, { containerId: id }, signal))?.status,
      ),
    )
    return podOf(
      sandbox,
      statuses.filter((status) => status !== undefined),
    )
  }

  async podUids(signal: AbortSignal): Promise<readonly string[]> {
    const { items } = await this.#call(runtimeService.listPodSandbox, {}, callMsMax, signal)
    return [...new Set(items.map(({ labels }) => labels[podUidLabel] ?? '').filter((uid) => uid !== ''))]
  }

  /**
   * Containerd removes a sandbox while a container is being created in it, which happens if the connection of the
   * creating kubelet breaks. The container then remains. Containers are listed first, because a sandbox exists before
   * its containers.
   */
  async removeLostContainers(signal: AbortSignal): Promise<void> {
    const { containers } = await this.#call(runtimeService.listContainers, {}, callMsMax, signal)
    const { items } = await this.#call(runtimeService.listPodSandbox, {}, callMsMax, signal)
    const sandboxes = new Set(items.map(({ id }) => id))
    for (const { id, podSandboxId, labels } of containers)
      if (labels[podUidLabel] !== undefined && !sandboxes.has(podSandboxId)) await this.removeContainer(id, signal)
  }

  async findImage(image: string, signal: AbortSignal): Promise<RuntimeImage | undefined> {
    const { image: found } = await this.#call(imageService.imageStatus, { image: { image } }, callMsMax, signal)
    return found === undefined ? undefined : imageOf(found)
  }

  async images(signal: AbortSignal): Promise<readonly RuntimeImage[]> {
    return (await this.#call(imageService.listImages, {}, callMsMax, signal)).images.map(imageOf)
  }

  async pullImage(image: string, credentials: ImageCredentials | undefined, signal: AbortSignal): Promise<string> {
    const auth =
      credentials === undefined
        ? undefined
        : {
            username: credentials.username,
            password: credentials.password,
            registryToken: credentials.registryToken ?? '',
          }
    try {
      const request = { image: { image }, ...(auth === undefined ? {} : { auth }) }
      return (await this.#call(imageService.pullImage, request, pullMsMax, signal)).imageRef
    } catch (error) {
      if (error instanceof GrpcError && error.code !== 'UNAVAILABLE')
        throw new ImageNotFound(`rpc error: code = ${goNameOf(error.code)} desc = ${error.details}`, { cause: error })
      throw error
    }
  }

  async removeImage(id: string, signal: AbortSignal): Promise<void> {
    await this.#call(imageService.removeImage, { image: { image: id } }, callMsMax, signal)
  }

  async imagesInUse(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { containers } = await this.#call(runtimeService.listContainers, {}, callMsMax, signal)
    return new Set(containers.flatMap(({ imageRef, image }) => [imageRef, image?.image ?? '']))
  }

  async runSandbox(config: SandboxConfig, signal: AbortSignal): Promise<string> {
    const request = { config: sandboxMessage(config), runtimeHandler: config.runtimeHandler }
    return (await this.#create(runtimeService.runPodSandbox, request, signal)).podSandboxId
  }

  async stopSandbox(podSandboxId: string, signal: AbortSignal): Promise<void> {
    await this.#find(runtimeService.stopPodSandbox, { podSandboxId }, signal)
  }

  async removeSandbox(podSandboxId: string, signal: AbortSignal): Promise<void> {
    await this.#find(runtimeService.stopPodSandbox, { podSandboxId }, signal)
    await this.#remove(runtimeService.removePodSandbox, { podSandboxId }, signal)
  }

  async createContainer(
    podSandboxId: string,
    config: ContainerConfig,
    sandbox: SandboxConfig,
    signal: AbortSignal,
  ): Promise<string> {
    const request = {
      podSandboxId,
      config: containerMessage(config, sandbox),
      sandboxConfig: sandboxMessage(sandbox),
    }
    return (await this.#create(runtimeService.createContainer, request, signal)).containerId
  }

  async startContainer(containerId: string, signal: AbortSignal): Promise<void> {
    await this.#create(runtimeService.startContainer, { containerId }, signal)
  }

  async stopContainer(containerId: string, graceMs: number, signal: AbortSignal): Promise<void> {
    const timeout = Math.ceil(graceMs / 1000)
    await this.#find(runtimeService.stopContainer, { containerId, timeout }, signal, graceMs + callMsMax)
  }

  async removeContainer(containerId: string, signal: AbortSignal): Promise<void> {
    await this.#remove(runtimeService.removeContainer, { containerId }, signal)
  }

  async updateResources(containerId: string, resources: ContainerResources, signal: AbortSignal): Promise<void> {
    const request = { containerId, linux: resourcesMessage(resources) }
    await this.#call(runtimeService.updateContainerResources, request, callMsMax, signal)
  }

  async fileSystems(signal: AbortSignal): Promise<RuntimeFileSystems> {
    const { imageFilesystems, containerFilesystems } = await this.#call(imageService.imageFsInfo, {}, callMsMax, signal)
    const [images] = imageFilesystems
    if (images === undefined) throw new Error('the runtime does not report its image file system')
    const [containers] = containerFilesystems
    return { images: fileSystemOf(images), containers: containers && fileSystemOf(containers) }
  }

  async stats(signal: AbortSignal): Promise<readonly RuntimeStats[]> {
    return (await this.#call(runtimeService.listContainerStats, {}, callMsMax, signal)).stats.map(statsOf)
  }

  async exec(
    containerId: string,
    command: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    const timeout = Math.ceil(timeoutMs / 1000)
    try {
      const request = { containerId, cmd: command, timeout }
      return await this.#call(runtimeService.execSync, request, timeoutMs + callMsMax, signal)
    } catch (error) {
      if (error instanceof GrpcError && error.code === 'DEADLINE_EXCEEDED')
        throw new ExecTimeout(`command ${JSON.stringify(command.join(' '))} timed out`, { cause: error })
      throw error
    }
  }

  async reopenLog(containerId: string, signal: AbortSignal): Promise<void> {
    await this.#call(runtimeService.reopenContainerLog, { containerId }, callMsMax, signal)
  }

  onChange(listener: (podUid: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Calls that create or start something are awaited even when the caller aborts; it gets the abort error afterwards.
   * After a cancelled call the runtime may report a container as exited while its process runs, and fail to remove it.
   */
  async #create<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    signal: AbortSignal,
  ): Promise<Proto<A>> {
    signal.throwIfAborted()
    const response = await this.#call(method, request, callMsMax, this.#closed.signal)
    signal.throwIfAborted()
    return response
  }

  /**
   * An interrupted start, for example when the kubelet was killed, leaves a container that containerd reports as exited
   * and cannot remove, because its process still runs. The task is then deleted with `ctr`.
   */
  async #remove<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    signal: AbortSignal,
  ): Promise<void> {
    for (let ended = 0; ; ended++)
      try {
        await this.#find(method, request, signal)
        return
      } catch (error) {
        const id = runningTask(error)
        if (id === undefined || this.#ctr === undefined || ended === leftTasksMax) throw error
        await this.#ctr(['tasks', 'delete', '--force', id], signal)
      }
  }

  /** A call about an object that may be gone; undefined if it is. */
  async #find<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    signal: AbortSignal,
    msMax = callMsMax,
  ): Promise<Proto<A> | undefined> {
    try {
      return await this.#call(method, request, msMax, signal)
    } catch (error) {
      if (error instanceof GrpcError && error.code === 'NOT_FOUND') return undefined
      throw error
    }
  }

  async #call<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    msMax: number,
    signal: AbortSignal,
  ): Promise<Proto<A>> {
    const late = new AbortController()
    const timer = this.#deps.clock.after(msMax, () =>
      late.abort(new Error(`${method.path} did not respond within ${msMax} ms`)),
    )
    try {
      const ended = AbortSignal.any([signal, late.signal, this.#closed.signal])
      return await this.#channel.unary(method, request, noMetadata, ended)
    } finally {
      timer.cancel()
    }
  }
}
