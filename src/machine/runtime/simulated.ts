// SimulatedRuntime: containers that are TypeScript functions. The real kubelet runs on it unchanged.
import type { Clock } from '../../base/clock.ts'
import { getOrMake } from '../../base/get-or-make.ts'
import { newUid } from '../../base/ids.ts'
import type { Random } from '../../base/random.ts'
import type { LogFiles } from '../logs/log-files.ts'
import { MemoryLog } from '../logs/memory-log.ts'
import type { ContainerConfig, ContainerResources, SandboxConfig } from './config.ts'
import { ExecTimeout, ImageNotFound } from './runtime.ts'
import { nextAddress } from './simulated-addresses.ts'
import type {
  ContainerRuntime,
  ExecResult,
  ImageCredentials,
  RuntimeContainer,
  RuntimeHealth,
  RuntimeImage,
  RuntimePod,
} from './runtime.ts'

/** What a simulated program sees of the world. */
export interface SimulatedProcess {
  readonly arguments: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly clock: Clock
  /** Prints a line into the container's log. */
  readonly log: (line: string) => void
  /** Aborted when the container is asked to end. */
  readonly terminated: AbortSignal
}

/** A container image as a function: runs, and returns its exit code. */
export type SimulatedProgram = (process: SimulatedProcess) => Promise<number>

/** What a command that is run inside a container does. */
export type SimulatedCommand = (
  command: readonly string[],
  container: { readonly name: string; readonly image: string },
) => Promise<SimulatedResult>

export interface SimulatedResult {
  readonly exitCode: number
  readonly stdout?: string
  readonly stderr?: string
}

/** What an image does when nobody said otherwise: it serves until it is asked to end. */
export const serveUntilTerminated: SimulatedProgram = ({ terminated }) =>
  new Promise((resolve) => {
    if (terminated.aborted) return resolve(0)
    terminated.addEventListener('abort', () => resolve(0), { once: true })
  })

export interface SimulatedRuntimeOptions {
  /** Programs by image; `missing` images cannot be pulled. */
  readonly images?: Readonly<Record<string, SimulatedProgram | 'missing'>>
  /** Without it every command succeeds and prints nothing. */
  readonly command?: SimulatedCommand
  readonly startMs?: number
  readonly pullMs?: number
  /** The IPv4 range of the pods' addresses, once the node has one; 10.244.0.0/24 when left out. */
  readonly podRange?: () => string | undefined
}

interface Sandbox {
  readonly id: string
  readonly config: SandboxConfig
  readonly ips: readonly string[]
  isReady: boolean
  readonly containers: Container[]
}

interface Container {
  readonly id: string
  readonly config: ContainerConfig
  readonly sandbox: Sandbox
  state: RuntimeContainer['state']
  startedMs: number
  finishedMs: number
  exitCode: number
  readonly log: MemoryLog
  readonly stop: AbortController
  readonly ended: PromiseWithResolvers<void>
}

const succeed: SimulatedCommand = () => Promise.resolve({ exitCode: 0 })

const podRangeDefault = '10.244.0.0/24'
const killedCode = 137
/** One for all: an error of its own each time would be made with its stack. */
const askedToEnd = new Error('the container is asked to end')
const crashedCode = 1

export class SimulatedRuntime implements ContainerRuntime {
  readonly name = 'simulated'
  readonly version = '1'
  readonly streams = undefined
  /** What its containers print, by their `logPath`. */
  readonly logs: LogFiles = {
    open: (path) => Promise.resolve(this.#containers.get(path.slice(logPrefix.length))?.log.open()),
  }
  readonly #clock: Clock
  readonly #random: Random
  readonly #options: SimulatedRuntimeOptions
  readonly #sandboxes = new Map<string, Sandbox>()
  /** The sandboxes of each pod, the newest last. */
  readonly #ofPods = new Map<string, Sandbox[]>()
  readonly #containers = new Map<string, Container>()
  readonly #images = new Map<string, RuntimeImage>()
  readonly #listeners = new Set<(podUid: string) => void>()
  #addressLast = ''

  constructor(clock: Clock, random: Random, options: SimulatedRuntimeOptions = {}) {
    this.#clock = clock
    this.#random = random
    this.#options = options
  }

  health(_signal: AbortSignal): Promise<RuntimeHealth> {
    return Promise.resolve({ isRuntimeReady: true, isNetworkReady: true, message: '' })
  }

  inspect(podUid: string, _signal: AbortSignal): Promise<RuntimePod | undefined> {
    const sandbox = this.#ofPods.get(podUid)?.at(-1)
    if (sandbox === undefined) return Promise.resolve(undefined)
    const { id: sandboxId, config, ips, isReady, containers } = sandbox
    const { namespace, name, attempt } = config
    const seenOnes = containers.map(seen)
    return Promise.resolve({ podUid, namespace, name, sandboxId, attempt, ips, isReady, containers: seenOnes })
  }

  podUids(_signal: AbortSignal): Promise<readonly string[]> {
    return Promise.resolve([...this.#ofPods.keys()])
  }

  findImage(image: string, _signal: AbortSignal): Promise<RuntimeImage | undefined> {
    return Promise.resolve(this.#images.get(image))
  }

  images(_signal: AbortSignal): Promise<readonly RuntimeImage[]> {
    return Promise.resolve([...this.#images.values()])
  }

  async pullImage(image: string, _credentials: ImageCredentials | undefined, signal: AbortSignal): Promise<string> {
    await this.#pass(this.#options.pullMs ?? 0, signal)
    if (this.#options.images?.[image] === 'missing')
      throw new ImageNotFound(`image ${JSON.stringify(image)} does not exist`)
    const id = imageIdOf(image)
    this.#images.set(image, { id, tags: [image], digests: [], sizeBytes: 0, uid: 0, username: '' })
    return id
  }

  removeImage(id: string, _signal: AbortSignal): Promise<void> {
    for (const [name, image] of this.#images) if (image.id === id) this.#images.delete(name)
    return Promise.resolve()
  }

  async runSandbox(config: SandboxConfig, _signal: AbortSignal): Promise<string> {
    const ips = config.namespaces.network === 'node' ? [] : [this.#takeAddress()]
    const sandbox: Sandbox = { id: newUid(this.#random), config, ips, isReady: true, containers: [] }
    this.#sandboxes.set(sandbox.id, sandbox)
    getOrMake(this.#ofPods, config.podUid, () => []).push(sandbox)
    return sandbox.id
  }

  #takeAddress(): string {
    const { podRange = () => podRangeDefault } = this.#options
    const range = podRange()
    if (range === undefined) throw new Error('the node has no range of addresses for its pods yet')
    const taken = new Set([...this.#sandboxes.values()].flatMap(({ isReady, ips }) => (isReady ? ips : [])))
    const address = nextAddress(range, this.#addressLast, (each) => taken.has(each))
    if (address === undefined) throw new Error(`no address is left in the range ${range} of the node`)
    this.#addressLast = address
    return address
  }

  async stopSandbox(sandboxId: string, signal: AbortSignal): Promise<void> {
    const sandbox = this.#sandboxes.get(sandboxId)
    if (sandbox === undefined) return
    await Promise.all(sandbox.containers.map(({ id }) => this.stopContainer(id, 0, signal)))
    sandbox.isReady = false
  }

  async removeSandbox(sandboxId: string, signal: AbortSignal): Promise<void> {
    const sandbox = this.#sandboxes.get(sandboxId)
    if (sandbox === undefined) return
    await Promise.all(sandbox.containers.map(({ id }) => this.stopContainer(id, 0, signal)))
    for (const { id } of sandbox.containers) this.#containers.delete(id)
    this.#sandboxes.delete(sandboxId)
    this.#forget(sandbox)
  }

  createContainer(
    sandboxId: string,
    config: ContainerConfig,
    _sandbox: SandboxConfig,
    _signal: AbortSignal,
  ): Promise<string> {
    const sandbox = this.#sandboxes.get(sandboxId)
    if (sandbox === undefined) return Promise.reject(new Error(`there is no sandbox ${sandboxId}`))
    const container: Container = {
      id: newUid(this.#random),
      config,
      sandbox,
      state: 'created',
      startedMs: 0,
      finishedMs: 0,
      exitCode: 0,
      log: new MemoryLog(),
      stop: new AbortController(),
      ended: Promise.withResolvers(),
    }
    sandbox.containers.push(container)
    this.#containers.set(container.id, container)
    return Promise.resolve(container.id)
  }

  async startContainer(containerId: string, signal: AbortSignal): Promise<void> {
    const container = this.#containers.get(containerId)
    if (container === undefined) throw new Error(`there is no container ${containerId}`)
    await this.#pass(this.#options.startMs ?? 0, signal)
    container.state = 'running'
    container.startedMs = this.#clock.nowMs()
    const { arguments: args, image } = container.config
    const environment = Object.fromEntries(container.config.environment.map(({ name, value }) => [name, value]))
    const known = this.#options.images?.[image]
    const program = typeof known === 'function' ? known : serveUntilTerminated
    const process: SimulatedProcess = {
      arguments: args,
      environment,
      clock: this.#clock,
      log: (line) => container.log.append(line, this.#clock.nowMs()),
      terminated: container.stop.signal,
    }
    program(process).then(
      (code) => this.#end(container, code),
      () => this.#end(container, crashedCode),
    )
    this.#tell(container)
  }

  async stopContainer(containerId: string, graceMs: number, _signal: AbortSignal): Promise<void> {
    const container = this.#containers.get(containerId)
    if (container === undefined || container.state === 'exited') return
    if (container.state === 'created') return this.#end(container, killedCode)
    container.stop.abort(askedToEnd)
    const timer = this.#clock.after(graceMs, () => this.#end(container, killedCode))
    await container.ended.promise
    timer.cancel()
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

  async exec(
    containerId: string,
    command: readonly string[],
    timeoutMs: number,
    _signal: AbortSignal,
  ): Promise<ExecResult> {
    const container = this.#containers.get(containerId)
    if (container?.state !== 'running') throw new Error(`container ${containerId} is not running`)
    const late = Promise.withResolvers<never>()
    const timer = this.#clock.after(timeoutMs, () =>
      late.reject(new ExecTimeout(`command ${JSON.stringify(command.join(' '))} timed out`)),
    )
    try {
      const { command: program = succeed } = this.#options
      const run = program(command, container.config)
      const { exitCode, stdout = '', stderr = '' } = await Promise.race([run, late.promise])
      const encoder = new TextEncoder()
      return { exitCode, stdout: encoder.encode(stdout), stderr: encoder.encode(stderr) }
    } finally {
      timer.cancel()
    }
  }

  reopenLog(_containerId: string, _signal: AbortSignal): Promise<void> {
    return Promise.resolve()
  }

  onChange(listener: (podUid: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #end(container: Container, exitCode: number): void {
    if (container.state === 'exited') return
    container.state = 'exited'
    container.finishedMs = this.#clock.nowMs()
    container.exitCode = exitCode
    container.stop.abort(askedToEnd)
    container.ended.resolve()
    container.log.wake()
    this.#tell(container)
  }

  #forget(sandbox: Sandbox): void {
    const { podUid } = sandbox.config
    const left = (this.#ofPods.get(podUid) ?? []).filter((other) => other !== sandbox)
    if (left.length === 0) this.#ofPods.delete(podUid)
    else this.#ofPods.set(podUid, left)
  }

  #tell({ sandbox }: Container): void {
    for (const listener of [...this.#listeners]) listener(sandbox.config.podUid)
  }

  #pass(ms: number, signal: AbortSignal): Promise<void> {
    return ms === 0 ? Promise.resolve() : this.#clock.sleep(ms, signal)
  }
}

const seen = ({ id, config, state, startedMs, finishedMs, exitCode }: Container): RuntimeContainer => ({
  id,
  name: config.name,
  image: config.image,
  imageId: imageIdOf(config.image),
  attempt: config.attempt,
  state,
  startedMs,
  finishedMs,
  exitCode,
  reason: '',
  message: '',
  logPath: `${logPrefix}${id}`,
})

const logPrefix = 'simulated:/'

const imageIdOf = (image: string): string => `simulated://${image}`
