// SimulatedRuntime: a container runtime whose containers are TypeScript functions. The real kubelet runs on it
// unchanged.
import type { Clock } from '../../base/time/clock.ts'
import { newUid } from '../../base/random/ids.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Random } from '../../base/random/random.ts'
import type { SimulatedDisk } from '../disk/simulated-disk.ts'
import type { LogFiles } from '../logs/log-files.ts'
import {
  networkFunctions,
  type NetworkFunctions,
  type PodClient,
  type ContainerNetwork,
} from '../network/container-network.ts'
import type { NetworkListener } from '../network/simulated-network.ts'
import type { PodDialer } from '../dialer/pod-dialer.ts'
import type { ContainerConfig, ContainerResources, SandboxConfig } from './runtime-config.ts'
import { runBehaviour, behaviourFromAnnotations, printLog, runsUntilStopped } from './simulated-behaviour.ts'
import { makeMountSources } from './container-files.ts'
import { environmentOf, logPrefix, SimulatedContainer, type SimulatedSandbox } from './simulated-container.ts'
import { SimulatedExec } from './simulated-exec.ts'
import { SimulatedHealth } from './simulated-health.ts'
import { SimulatedImages, type SimulatedPrograms } from './simulated-images.ts'
import { SimulatedPodNetwork, type SimulatedPod } from './simulated-pod-network.ts'
import type {
  ContainerRuntime,
  ExecResult,
  ImageCredentials,
  LocalStreams,
  RuntimeFileSystems,
  RuntimeHandler,
  RuntimeHealth,
  RuntimeImage,
  RuntimePod,
  RuntimeStats,
} from './container-runtime.ts'
import { serveUntilTerminated, type SimulatedCommand, type SimulatedProcess } from './simulated-process.ts'
import { SimulatedSandboxes } from './simulated-sandboxes.ts'
import { shellProgram, type ShellProgram } from './simulated-shell.ts'
import { simulatedStats } from './simulated-stats.ts'
import type { MeasuredContainer, SimulatedUsage } from './simulated-usage.ts'

export { serveUntilTerminated } from './simulated-process.ts'
export type { SimulatedPod } from './simulated-pod-network.ts'
export type { SimulatedCommand, SimulatedProcess, SimulatedProgram, SimulatedResult } from './simulated-process.ts'

export interface SimulatedRuntimeOptions {
  /** Programs or behaviours of images. Annotations of a pod take precedence. */
  readonly images?: SimulatedPrograms
  /** Handles exec commands. By default those of probes and hooks succeed, and those of users fail. */
  readonly command?: SimulatedCommand
  /**
   * Usage of a container at the time of a measurement. It overrides the pod's annotation `coxswain.dev/usage`, which
   * overrides the usage of the image; the default is none.
   */
  readonly usage?: (container: MeasuredContainer) => SimulatedUsage
  readonly startMs?: number
  readonly pullMs?: number
  /** The node's pod range, once it has one; 10.244.0.0/24 by default. */
  readonly podRange?: () => string | undefined
}

export interface SimulatedRuntimeSettings extends SimulatedRuntimeOptions {
  /** The network of the node's pods; without it they cannot open connections. */
  readonly network?: () => ContainerNetwork
  /** The node's disk with the volumes of its pods; without it containers cannot mount any. */
  readonly disk?: SimulatedDisk
}

const podRangeDefault = '10.244.0.0/24'
const killedCode = 137
const crashedCode = 1

export class SimulatedRuntime implements ContainerRuntime {
  readonly name = 'simulated'
  readonly version = '1'
  readonly streams: LocalStreams = {
    kind: 'local',
    exec: async (id, command, io, signal) => this.#exec.stream(this.#running(id), command, io, signal),
    attach: async (id, io, signal) => {
      const container = this.#running(id)
      return this.#exec.attach(container, io, (exitCode) => this.#end(container, exitCode), signal)
    },
    connect: (sandboxId, port) => this.#pods.connect(this.#sandboxes.get(sandboxId), { host: 'localhost', port }),
  }
  /** Logs of its containers, by `logPath`. */
  readonly logs: LogFiles = {
    open: (path) => Promise.resolve(this.#containers.get(path.slice(logPrefix.length))?.log.open()),
  }
  readonly #clock: Clock
  readonly #random: Random
  readonly #options: SimulatedRuntimeSettings
  readonly #pods: SimulatedPodNetwork
  readonly #exec: SimulatedExec
  readonly #sandboxes = new SimulatedSandboxes()
  readonly #containers = new Map<string, SimulatedContainer>()
  readonly #images: SimulatedImages
  readonly #health = new SimulatedHealth()
  readonly #listeners = new Set<(podUid: string) => void>()

  constructor(clock: Clock, random: Random, options: SimulatedRuntimeSettings = {}) {
    this.#clock = clock
    this.#random = random
    this.#options = options
    this.#images = new SimulatedImages(options.images)
    const { podRange = () => podRangeDefault, network, command, disk } = options
    this.#pods = new SimulatedPodNetwork({ clock, random, podRange, nodeAddress: () => network?.().nodeAddress })
    this.#exec = new SimulatedExec({ clock, command, disk })
  }

  /** Connections to the simulated containers. */
  get dialer(): PodDialer {
    return this.#pods.dialer
  }

  async watchHealth(listener: (health: RuntimeHealth | undefined) => void, signal: AbortSignal): Promise<void> {
    this.#health.watch(listener, signal)
  }

  /** Sets the health; `undefined` means that the runtime does not respond. */
  setHealth(health: RuntimeHealth | undefined): void {
    this.#health.set(health)
  }

  inspect(podUid: string, _signal: AbortSignal): Promise<RuntimePod | undefined> {
    const sandbox = this.#sandboxes.latestOf(podUid)
    if (sandbox === undefined) return Promise.resolve(undefined)
    const { id: sandboxId, config, ips, isReady, containers } = sandbox
    const { namespace, name, attempt } = config
    const seenOnes = containers.map((container) => container.status())
    return Promise.resolve({ podUid, namespace, name, sandboxId, attempt, ips, isReady, containers: seenOnes })
  }

  podUids(_signal: AbortSignal): Promise<readonly string[]> {
    return Promise.resolve(this.#sandboxes.podUids)
  }

  fileSystems(_signal: AbortSignal): Promise<RuntimeFileSystems> {
    const { usedBytes } = this.#images
    return Promise.resolve({ images: { path: '/images', usedBytes, inodesUsed: 0 }, containers: undefined })
  }

  handlers(_signal: AbortSignal): Promise<readonly RuntimeHandler[]> {
    return Promise.resolve([{ name: '', mountsRecursivelyReadOnly: true }])
  }

  findImage(image: string, _signal: AbortSignal): Promise<RuntimeImage | undefined> {
    return Promise.resolve(this.#images.find(image))
  }

  images(_signal: AbortSignal): Promise<readonly RuntimeImage[]> {
    return Promise.resolve(this.#images.all)
  }

  async pullImage(image: string, _credentials: ImageCredentials | undefined, signal: AbortSignal): Promise<string> {
    await this.#delay(this.#images.behaviourOf(image).pullMs ?? this.#options.pullMs ?? 0, signal)
    return this.#images.add(image)
  }

  removeImage(id: string, _signal: AbortSignal): Promise<void> {
    this.#images.remove(id)
    return Promise.resolve()
  }

  imagesInUse(_signal: AbortSignal): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set([...this.#containers.values()].map(({ imageId }) => imageId)))
  }

  async runSandbox(config: SandboxConfig, _signal: AbortSignal): Promise<string> {
    const ips = config.namespaces.network === 'node' ? [] : [this.#pods.newAddress()]
    const sandbox: SimulatedSandbox = { id: newUid(this.#random), config, ips, isReady: true, containers: [] }
    this.#sandboxes.add(sandbox)
    this.#pods.add(sandbox)
    return sandbox.id
  }

  async stopSandbox(sandboxId: string, signal: AbortSignal): Promise<void> {
    const sandbox = this.#sandboxes.get(sandboxId)
    if (sandbox === undefined) return
    await Promise.all(sandbox.containers.map(({ id }) => this.stopContainer(id, 0, signal)))
    this.#leaveNetwork(sandbox)
  }

  #leaveNetwork(sandbox: SimulatedSandbox): void {
    this.#pods.remove(sandbox)
    sandbox.isReady = false
  }

  async removeSandbox(sandboxId: string, signal: AbortSignal): Promise<void> {
    const sandbox = this.#sandboxes.get(sandboxId)
    if (sandbox === undefined) return
    await Promise.all(sandbox.containers.map(({ id }) => this.stopContainer(id, 0, signal)))
    for (const { id } of sandbox.containers) this.#containers.delete(id)
    this.#leaveNetwork(sandbox)
    this.#sandboxes.remove(sandbox)
  }

  async createContainer(
    sandboxId: string,
    config: ContainerConfig,
    _sandbox: SandboxConfig,
    _signal: AbortSignal,
  ): Promise<string> {
    const sandbox = this.#sandboxes.get(sandboxId)
    if (sandbox === undefined) throw new Error(`there is no sandbox ${sandboxId}`)
    const { disk } = this.#options
    if (disk !== undefined) await makeMountSources(config, disk)
    const behaviour = {
      ...this.#images.behaviourOf(config.image),
      ...behaviourFromAnnotations(sandbox.config.annotations, config.name),
    }
    const program = this.#images.programOf(config.image)
    const container = new SimulatedContainer(newUid(this.#random), config, sandbox, behaviour, program)
    sandbox.containers.push(container)
    this.#containers.set(container.id, container)
    return container.id
  }

  async startContainer(containerId: string, signal: AbortSignal): Promise<void> {
    const container = this.#containers.get(containerId)
    if (container === undefined) throw new Error(`there is no container ${containerId}`)
    const { behaviour, config } = container
    await this.#delay(behaviour.startMs ?? this.#options.startMs ?? 0, signal)
    container.state = 'running'
    container.startedMs = this.#clock.nowMs()
    // A container that runs until it is stopped needs no running program.
    const isServer = container.program === undefined && runsUntilStopped(behaviour)
    const shell = isServer ? shellProgram(config) : undefined
    if (!isServer) this.#run(container)
    else {
      printLog(behaviour, this.#logOf(container))
      if (shell !== undefined) this.#runShell(container, shell)
    }
    this.#notify(container)
  }

  #run(container: SimulatedContainer): void {
    const { behaviour, config, program = serveUntilTerminated } = container
    const stop = (container.stop = new AbortController())
    const process: SimulatedProcess = {
      arguments: [...config.arguments],
      environment: environmentOf(config),
      ...this.#networkOf(container),
      files: container.files(this.#options.disk),
      clock: this.#clock,
      log: this.#logOf(container),
      stdin: container.stdin.read(),
      terminated: stop.signal,
      listen: (port, accept) => container.ports(this.#clock).listen(port, accept),
      serveHttp: (port, handle) => container.ports(this.#clock).serveHttp(port, handle),
      serveHealth: (port, statusOf) => container.ports(this.#clock).serveHealth(port, statusOf),
      onCommand: (run) => {
        container.command = run
      },
    }
    this.#endWith(container, runBehaviour(behaviour, process, program))
  }

  /** The pod's identity and its access to the network. */
  #networkOf(container: SimulatedContainer): Pick<SimulatedProcess, 'pod' | keyof NetworkFunctions> {
    const network = this.#options.network?.()
    const { config, ips } = container.sandbox
    const { namespace, name } = config
    const [address = ''] = ips
    const client: PodClient = { namespace, name, address, owner: container }
    return {
      pod: { namespace, name, address: address || (network?.nodeAddress ?? '') },
      ...networkFunctions(network, client, this.#clock, () => container.endedSignal),
    }
  }

  #runShell(container: SimulatedContainer, shell: ShellProgram): void {
    const { signal: terminated } = (container.stop = new AbortController())
    this.#endWith(container, shell({ ...this.#exec.scriptOf(container), log: this.#logOf(container), terminated }))
  }

  #endWith(container: SimulatedContainer, running: Promise<number>): void {
    running.then(
      (code) => this.#end(container, code),
      () => this.#end(container, crashedCode),
    )
  }

  #logOf(container: SimulatedContainer): (line: string, stream?: 'stdout' | 'stderr') => void {
    return (line, stream) => container.log.append(line, this.#clock.nowMs(), stream)
  }

  async stopContainer(containerId: string, graceMs: number, signal: AbortSignal): Promise<void> {
    const container = this.#containers.get(containerId)
    if (container === undefined || container.state === 'exited') return
    if (container.state === 'created') return this.#end(container, killedCode)
    if (container.stop === undefined) return this.#end(container, 0)
    container.stop.abort(container.config.stopSignal ?? 'SIGTERM')
    const timer = this.#clock.after(graceMs, () => this.#end(container, killedCode))
    try {
      await unlessAborted(container.ended, signal)
    } finally {
      timer.cancel()
    }
  }

  removeContainer(containerId: string, _signal: AbortSignal): Promise<void> {
    const container = this.#containers.get(containerId)
    this.#containers.delete(containerId)
    container?.sandbox.containers.splice(container.sandbox.containers.indexOf(container), 1)
    return Promise.resolve()
  }

  updateResources(_containerId: string, _resources: ContainerResources, _signal: AbortSignal): Promise<void> {
    return Promise.resolve()
  }

  stats(_signal: AbortSignal): Promise<readonly RuntimeStats[]> {
    const running = [...this.#containers.values()].filter(({ state }) => state === 'running')
    const nowMs = this.#clock.nowMs()
    return Promise.resolve(running.map((container) => simulatedStats(container, this.#options.usage, nowMs)))
  }

  exec(containerId: string, command: readonly string[], timeoutMs: number, signal: AbortSignal): Promise<ExecResult> {
    return this.#exec.run(this.#running(containerId), command, timeoutMs, signal)
  }

  #running(containerId: string): SimulatedContainer {
    const container = this.#containers.get(containerId)
    if (container?.state !== 'running') throw new Error(`container ${containerId} is not running`)
    return container
  }

  /** The pod with this address, while its sandbox is ready. */
  podAt(address: string): SimulatedPod | undefined {
    return this.#pods.podAt(address)
  }

  /** What listens at a port of the node: a pod that uses the node's network, or the host port of another one. */
  nodeListenerAt(port: number): NetworkListener | undefined {
    for (const sandbox of this.#sandboxes) {
      const inPod =
        sandbox.ips.length === 0 ? port : sandbox.config.ports.find(({ hostPort }) => hostPort === port)?.containerPort
      const listener = inPod === undefined || !sandbox.isReady ? undefined : this.#pods.listenerIn(sandbox, inPod)
      if (listener !== undefined) return listener
    }
    return undefined
  }

  /** The machine has lost power: peers of its connections get no packet. */
  loseConnections(): void {
    for (const container of this.#containers.values()) container.loseConnections()
  }

  reopenLog(_containerId: string, _signal: AbortSignal): Promise<void> {
    return Promise.resolve()
  }

  onChange(listener: (podUid: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #end(container: SimulatedContainer, exitCode: number): void {
    if (container.state === 'exited') return
    container.end(exitCode, this.#clock.nowMs())
    this.#notify(container)
  }

  #notify({ sandbox }: SimulatedContainer): void {
    for (const listener of [...this.#listeners]) listener(sandbox.config.podUid)
  }

  #delay(ms: number, signal: AbortSignal): Promise<void> {
    return ms === 0 ? Promise.resolve() : this.#clock.sleep(ms, signal)
  }
}
