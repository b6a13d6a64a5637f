// SimulatedRuntime: a container runtime whose containers are TypeScript functions. The real kubelet runs on it
// unchanged.
import { lookup } from '../../base/collections/lookup.ts'
import type { Clock } from '../../base/time/clock.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { newUid } from '../../base/random/ids.ts'
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { Random } from '../../base/random/random.ts'
import type { SimulatedDisk } from '../disk/simulated-disk.ts'
import type { LogFiles } from '../logs/log-files.ts'
import { copyStream } from '../../wire/byte-pipe.ts'
import {
  networkFunctions,
  type NetworkFunctions,
  type PodClient,
  type ContainerNetwork,
} from '../network/container-network.ts'
import { dialError } from '../network/network-error.ts'
import { noFaults, type NetworkHost } from '../network/link-faults.ts'
import { noOwner } from '../network/simulated-connection.ts'
import { openTo, type NetworkListener } from '../network/simulated-network.ts'
import { authorityOf, type PodDialer, type DialTarget } from '../dialer/pod-dialer.ts'
import type { ContainerConfig, ContainerResources, SandboxConfig } from './runtime-config.ts'
import { ExecTimeout, ImageNotFound, readyCondition } from './container-runtime.ts'
import {
  answersAt,
  runBehaviour,
  behaviourFromAnnotations,
  printLog,
  runsUntilStopped,
  type SimulatedBehaviour,
} from './simulated-behaviour.ts'
import { makeMountSources } from './container-files.ts'
import { nextAddress } from './simulated-addresses.ts'
import { imageIdOf, logPrefix, SimulatedContainer, type SimulatedSandbox } from './simulated-container.ts'
import type {
  ContainerRuntime,
  ExecResult,
  ImageCredentials,
  LocalStreams,
  ProcessStreams,
  RuntimeFileSystems,
  RuntimeHandler,
  RuntimeHealth,
  RuntimeImage,
  RuntimePod,
  RuntimeStats,
} from './container-runtime.ts'
import {
  healthCheckRefused,
  notRun,
  serveUntilTerminated,
  type SimulatedCommand,
  type SimulatedProcess,
  type SimulatedProgram,
} from './simulated-process.ts'
import { execCommand, shellProgram, type ScriptProcess, type ShellProgram } from './simulated-shell.ts'
import { usageAt, usageFromAnnotations, type MeasuredContainer, type SimulatedUsage } from './simulated-usage.ts'

export { serveUntilTerminated } from './simulated-process.ts'
export type { SimulatedCommand, SimulatedProcess, SimulatedProgram, SimulatedResult } from './simulated-process.ts'

export interface SimulatedRuntimeOptions {
  /** Programs or behaviours of images; `missing` images cannot be pulled. Annotations of a pod take precedence. */
  readonly images?: Readonly<Record<string, SimulatedProgram | SimulatedBehaviour | 'missing'>>
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

const succeed: SimulatedCommand = () => Promise.resolve({ exitCode: 0 })
const fail: SimulatedCommand = () => Promise.resolve({ exitCode: 1 })

const environmentOf = ({ environment }: ContainerConfig): Record<string, string> =>
  Object.fromEntries(environment.map(({ name, value }) => [name, value]))

async function* nothing(): AsyncGenerator<Uint8Array, void> {}

/** A pod as a server. */
export interface SimulatedPod {
  readonly namespace: string
  readonly name: string
  readonly listenerAt: (port: number) => NetworkListener | undefined
}

const loopback: NetworkHost = { address: '127.0.0.1', pod: '', node: '' }
const podRangeDefault = '10.244.0.0/24'
const killedCode = 137
const crashedCode = 1

export class SimulatedRuntime implements ContainerRuntime {
  readonly name = 'simulated'
  readonly version = '1'
  readonly streams: LocalStreams = {
    kind: 'local',
    exec: (id, command, io, signal) => this.#exec(id, command, io, signal, (container) => this.#shellOf(container)),
    attach: (id, io, signal) => this.#attach(id, io, signal),
    connect: (sandboxId, port) => this.#connect(this.#sandboxes.get(sandboxId), { host: 'localhost', port }),
  }
  /** Connections to the simulated containers. */
  readonly dialer: PodDialer = {
    connect: (target) => this.#connect(this.#addresses.get(target.host), target),
    checkHealth: (target, service) => this.#probeHealth(target, service),
  }
  /** Logs of its containers, by `logPath`. */
  readonly logs: LogFiles = {
    open: (path) => Promise.resolve(this.#containers.get(path.slice(logPrefix.length))?.log.open()),
  }
  readonly #clock: Clock
  readonly #random: Random
  readonly #options: SimulatedRuntimeSettings
  readonly #sandboxes = new Map<string, SimulatedSandbox>()
  /** Sandboxes by pod uid, the latest last. */
  readonly #sandboxesOfPod = new Map<string, SimulatedSandbox[]>()
  readonly #containers = new Map<string, SimulatedContainer>()
  readonly #images = new Map<string, RuntimeImage>()
  #health: RuntimeHealth | undefined = { runtime: readyCondition, network: readyCondition }
  readonly #healthListeners = new Set<(health: RuntimeHealth | undefined) => void>()
  readonly #listeners = new Set<(podUid: string) => void>()
  /** Ready sandboxes by address. */
  readonly #addresses = new Map<string, SimulatedSandbox>()
  #addressLast = ''

  constructor(clock: Clock, random: Random, options: SimulatedRuntimeSettings = {}) {
    this.#clock = clock
    this.#random = random
    this.#options = options
  }

  /** The runtime is healthy unless a test sets another state. */
  async watchHealth(listener: (health: RuntimeHealth | undefined) => void, signal: AbortSignal): Promise<void> {
    listener(this.#health)
    this.#healthListeners.add(listener)
    signal.addEventListener('abort', () => this.#healthListeners.delete(listener), { once: true })
  }

  /**
   * Sets the health; `undefined` means that the runtime does not respond. Listeners are called every time, as a real
   * runtime is polled repeatedly.
   */
  setHealth(health: RuntimeHealth | undefined): void {
    this.#health = health
    for (const listener of this.#healthListeners) listener(health)
  }

  inspect(podUid: string, _signal: AbortSignal): Promise<RuntimePod | undefined> {
    const sandbox = this.#sandboxesOfPod.get(podUid)?.at(-1)
    if (sandbox === undefined) return Promise.resolve(undefined)
    const { id: sandboxId, config, ips, isReady, containers } = sandbox
    const { namespace, name, attempt } = config
    const seenOnes = containers.map((container) => container.status())
    return Promise.resolve({ podUid, namespace, name, sandboxId, attempt, ips, isReady, containers: seenOnes })
  }

  podUids(_signal: AbortSignal): Promise<readonly string[]> {
    return Promise.resolve([...this.#sandboxesOfPod.keys()])
  }

  fileSystems(_signal: AbortSignal): Promise<RuntimeFileSystems> {
    const usedBytes = [...this.#images.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    return Promise.resolve({ images: { path: '/images', usedBytes, inodesUsed: 0 }, containers: undefined })
  }

  handlers(_signal: AbortSignal): Promise<readonly RuntimeHandler[]> {
    return Promise.resolve([{ name: '', mountsRecursivelyReadOnly: true }])
  }

  findImage(image: string, _signal: AbortSignal): Promise<RuntimeImage | undefined> {
    return Promise.resolve(this.#images.get(image))
  }

  images(_signal: AbortSignal): Promise<readonly RuntimeImage[]> {
    return Promise.resolve([...this.#images.values()])
  }

  async pullImage(image: string, _credentials: ImageCredentials | undefined, signal: AbortSignal): Promise<string> {
    await this.#delay(this.#behaviourOf(image).pullMs ?? this.#options.pullMs ?? 0, signal)
    if (lookup(this.#options.images, image) === 'missing')
      throw new ImageNotFound(`image ${JSON.stringify(image)} does not exist`)
    const id = imageIdOf(image)
    this.#images.set(image, { id, tags: [image], digests: [], sizeBytes: 0, uid: 0, username: '' })
    return id
  }

  removeImage(id: string, _signal: AbortSignal): Promise<void> {
    for (const [name, image] of this.#images) if (image.id === id) this.#images.delete(name)
    return Promise.resolve()
  }

  imagesInUse(_signal: AbortSignal): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set([...this.#containers.values()].map(({ imageId }) => imageId)))
  }

  async runSandbox(config: SandboxConfig, _signal: AbortSignal): Promise<string> {
    const ips = config.namespaces.network === 'node' ? [] : [this.#takeAddress()]
    const sandbox: SimulatedSandbox = { id: newUid(this.#random), config, ips, isReady: true, containers: [] }
    this.#sandboxes.set(sandbox.id, sandbox)
    for (const ip of ips) this.#addresses.set(ip, sandbox)
    getOrInsert(this.#sandboxesOfPod, config.podUid, () => []).push(sandbox)
    return sandbox.id
  }

  #takeAddress(): string {
    const { podRange = () => podRangeDefault } = this.#options
    const range = podRange()
    if (range === undefined) throw new Error('the node has no range of addresses for its pods yet')
    const address = nextAddress(range, this.#addressLast, (each) => this.#addresses.has(each))
    if (address === undefined) throw new Error(`no address is left in the range ${range} of the node`)
    this.#addressLast = address
    return address
  }

  async stopSandbox(sandboxId: string, signal: AbortSignal): Promise<void> {
    const sandbox = this.#sandboxes.get(sandboxId)
    if (sandbox === undefined) return
    await Promise.all(sandbox.containers.map(({ id }) => this.stopContainer(id, 0, signal)))
    this.#releaseAddresses(sandbox)
  }

  #releaseAddresses(sandbox: SimulatedSandbox): void {
    if (sandbox.isReady) for (const ip of sandbox.ips) this.#addresses.delete(ip)
    sandbox.isReady = false
  }

  async removeSandbox(sandboxId: string, signal: AbortSignal): Promise<void> {
    const sandbox = this.#sandboxes.get(sandboxId)
    if (sandbox === undefined) return
    await Promise.all(sandbox.containers.map(({ id }) => this.stopContainer(id, 0, signal)))
    for (const { id } of sandbox.containers) this.#containers.delete(id)
    this.#releaseAddresses(sandbox)
    this.#sandboxes.delete(sandboxId)
    this.#removeFromPod(sandbox)
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
      ...this.#behaviourOf(config.image),
      ...behaviourFromAnnotations(sandbox.config.annotations, config.name),
    }
    const known = lookup(this.#options.images, config.image)
    const program = typeof known === 'function' ? known : undefined
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
    this.#endWith(container, shell({ ...this.#scriptOf(container), log: this.#logOf(container), terminated }))
  }

  #scriptOf(container: SimulatedContainer): ScriptProcess {
    const files = container.files(this.#options.disk)
    const environment = environmentOf(container.config)
    return { clock: this.#clock, environment, files, ended: container.endedSignal }
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
    return Promise.resolve(running.map((container) => this.#statsOf(container)))
  }

  #statsOf(container: SimulatedContainer): RuntimeStats {
    const { id, config, sandbox, startedMs, behaviour } = container
    const { name, image } = config
    const nowMs = this.#clock.nowMs()
    const { namespace, name: pod } = sandbox.config
    const measured: MeasuredContainer = { namespace, pod, name, image, runningMs: nowMs - startedMs, nowMs }
    const {
      cpuMillis = 0,
      memoryBytes = 0,
      layerBytes = 0,
    } = {
      ...usageAt(behaviour.usage, measured),
      ...usageFromAnnotations(sandbox.config.annotations, measured),
      ...usageAt(this.#options.usage, measured),
    }
    return {
      containerId: id,
      podUid: sandbox.config.podUid,
      name,
      usage: {
        cpuNanos: container.useCpu(cpuMillis, nowMs),
        memoryBytes,
        workingSetBytes: memoryBytes,
        rssBytes: memoryBytes,
        pageFaults: 0,
        majorPageFaults: 0,
        swapBytes: 0,
      },
      layer: { bytes: layerBytes, inodes: 0 },
    }
  }

  async exec(
    containerId: string,
    command: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    const late = Promise.withResolvers<never>()
    const timer = this.#clock.after(timeoutMs, () =>
      late.reject(new ExecTimeout(`command ${JSON.stringify(command.join(' '))} timed out`)),
    )
    const [stdout, stderr]: [Uint8Array[], Uint8Array[]] = [[], []]
    const keep = (pieces: Uint8Array[]) => (piece: Uint8Array) => Promise.resolve(void pieces.push(piece))
    const io: ProcessStreams = { stdin: nothing(), stdout: keep(stdout), stderr: keep(stderr) }
    try {
      const exitCode = await Promise.race([this.#exec(containerId, command, io, signal, () => succeed), late.promise])
      return { exitCode, stdout: concatBytes(stdout), stderr: concatBytes(stderr) }
    } finally {
      timer.cancel()
    }
  }

  async #exec(
    containerId: string,
    command: readonly string[],
    io: ProcessStreams,
    signal: AbortSignal,
    otherwise: (container: SimulatedContainer) => SimulatedCommand,
  ): Promise<number> {
    const container = this.#containers.get(containerId)
    if (container?.state !== 'running') throw new Error(`container ${containerId} is not running`)
    const handler = container.command ?? this.#options.command ?? otherwise(container)
    const run = this.#isAnswering(container) ? handler : fail
    const {
      exitCode,
      stdout = '',
      stderr = '',
    } = await unlessAborted(run(command, { name: container.config.name, image: container.config.image }, io), signal)
    const encoder = new TextEncoder()
    if (stdout !== '') await io.stdout(encoder.encode(stdout))
    if (stderr !== '') await io.stderr(encoder.encode(stderr))
    return exitCode
  }

  /** The commands that simulated containers have. */
  #shellOf(container: SimulatedContainer): SimulatedCommand {
    return async (command, shown, io) => {
      const printed = { stdout: '', stderr: '' }
      const print = (text: string, stream: 'stdout' | 'stderr') => void (printed[stream] += text)
      const exitCode = await execCommand(command, this.#scriptOf(container), print)
      return exitCode === undefined ? notRun(command, shown, io) : { exitCode, ...printed }
    }
  }

  /** The client gets all output from now on. As with real runtimes, the exit code is not reported. */
  async #attach(containerId: string, io: ProcessStreams, signal: AbortSignal): Promise<number> {
    const container = this.#containers.get(containerId)
    if (container?.state !== 'running') throw new Error(`container ${containerId} is not running`)
    const encoder = new TextEncoder()
    const leave = container.log.onLine((line) => void io.stdout(encoder.encode(`${line}\n`)).catch(() => {}))
    const typed = copyStream(io.stdin, { write: (piece) => container.stdin.write(piece), end: () => {} })
    typed.catch(() => {}) // the client has disconnected
    try {
      await unlessAborted(container.ended, signal)
      return 0
    } finally {
      leave()
    }
  }

  #isAnswering({ state, behaviour, startedMs }: SimulatedContainer): boolean {
    return state === 'running' && answersAt(behaviour, this.#clock.nowMs() - startedMs)
  }

  /** The pod with this address, while its sandbox is ready. */
  podAt(address: string): SimulatedPod | undefined {
    const sandbox = this.#addresses.get(address)
    if (sandbox === undefined) return undefined
    const { namespace, name } = sandbox.config
    return { namespace, name, listenerAt: (port) => this.#listenerIn(sandbox, port) }
  }

  /** What listens at a port of the node: a pod that uses the node's network, or the host port of another one. */
  nodeListenerAt(port: number): NetworkListener | undefined {
    for (const sandbox of this.#sandboxes.values()) {
      const inPod =
        sandbox.ips.length === 0 ? port : sandbox.config.ports.find(({ hostPort }) => hostPort === port)?.containerPort
      const listener = inPod === undefined || !sandbox.isReady ? undefined : this.#listenerIn(sandbox, inPod)
      if (listener !== undefined) return listener
    }
    return undefined
  }

  /** The machine has lost power: peers of its connections get no packet. */
  loseConnections(): void {
    for (const container of this.#containers.values()) container.loseConnections()
  }

  #listenerIn(sandbox: SimulatedSandbox, port: number): NetworkListener | undefined {
    for (const container of sandbox.containers) {
      const accept = this.#isAnswering(container) ? container.ports(this.#clock).acceptorAt(port) : undefined
      if (accept !== undefined) return { owner: container, accept }
    }
    return undefined
  }

  /** Connects from the node. */
  #connect(sandbox: SimulatedSandbox | undefined, target: DialTarget): Promise<ByteStream> {
    const listener = sandbox === undefined ? undefined : this.#listenerIn(sandbox, target.port)
    const dialled = authorityOf(target)
    if (listener === undefined) return Promise.reject(dialError(dialled, 'ECONNREFUSED'))
    const deps = { clock: this.#clock, random: this.#random, faults: noFaults }
    const sourceAddress = this.#options.network?.().nodeAddress ?? loopback.address
    const link = { client: loopback, server: loopback, owner: noOwner, dialled, sourceAddress }
    return Promise.resolve(openTo(listener, deps, link))
  }

  #probeHealth(target: DialTarget, service: string): Promise<string> {
    for (const container of this.#addresses.get(target.host)?.containers ?? []) {
      const status = this.#isAnswering(container)
        ? container.ports(this.#clock).health(target.port, service)
        : undefined
      if (status !== undefined) return Promise.resolve(status)
    }
    return Promise.reject(healthCheckRefused(authorityOf(target)))
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

  #removeFromPod(sandbox: SimulatedSandbox): void {
    const { podUid } = sandbox.config
    const left = (this.#sandboxesOfPod.get(podUid) ?? []).filter((other) => other !== sandbox)
    if (left.length === 0) this.#sandboxesOfPod.delete(podUid)
    else this.#sandboxesOfPod.set(podUid, left)
  }

  #notify({ sandbox }: SimulatedContainer): void {
    for (const listener of [...this.#listeners]) listener(sandbox.config.podUid)
  }

  #behaviourOf(image: string): SimulatedBehaviour {
    const known = lookup(this.#options.images, image)
    return typeof known === 'object' ? known : {}
  }

  #delay(ms: number, signal: AbortSignal): Promise<void> {
    return ms === 0 ? Promise.resolve() : this.#clock.sleep(ms, signal)
  }
}
