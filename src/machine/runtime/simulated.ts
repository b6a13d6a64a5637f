// SimulatedRuntime: containers that are TypeScript functions. The real kubelet runs on it unchanged.
import type { Clock } from '../../base/clock.ts'
import { newUid } from '../../base/ids.ts'
import type { Random } from '../../base/random.ts'
import { ImageNotFound } from './runtime.ts'
import type { ContainerConfig, ContainerRuntime, RuntimeContainer, RuntimePod, SandboxConfig } from './runtime.ts'

/** What a simulated program sees of the world. */
export interface SimulatedProcess {
  readonly arguments: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly clock: Clock
  /** Aborted when the container is asked to end. */
  readonly terminated: AbortSignal
}

/** A container image as a function: runs, and returns its exit code. */
export type SimulatedProgram = (process: SimulatedProcess) => Promise<number>

/** What an image does when nobody said otherwise: it serves until it is asked to end. */
export const serveUntilTerminated: SimulatedProgram = ({ terminated }) =>
  new Promise((resolve) => {
    if (terminated.aborted) return resolve(0)
    terminated.addEventListener('abort', () => resolve(0), { once: true })
  })

export interface SimulatedRuntimeOptions {
  /** Programs by image; `missing` images cannot be pulled. */
  readonly images?: Readonly<Record<string, SimulatedProgram | 'missing'>>
  readonly startMs?: number
  readonly pullMs?: number
  /** The first three numbers of the pods' addresses: `10.244.0`. */
  readonly network?: string
}

interface Sandbox {
  readonly id: string
  readonly podUid: string
  readonly ip: string
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
  readonly stop: AbortController
  readonly ended: PromiseWithResolvers<void>
}

const killedCode = 137
const crashedCode = 1

export class SimulatedRuntime implements ContainerRuntime {
  readonly name = 'simulated'
  readonly version = '1'
  readonly #clock: Clock
  readonly #random: Random
  readonly #options: SimulatedRuntimeOptions
  readonly #sandboxes = new Map<string, Sandbox>()
  readonly #containers = new Map<string, Container>()
  readonly #listeners = new Set<(podUid: string) => void>()
  #addressLast = 1

  constructor(clock: Clock, random: Random, options: SimulatedRuntimeOptions = {}) {
    this.#clock = clock
    this.#random = random
    this.#options = options
  }

  inspect(podUid: string, _signal: AbortSignal): Promise<RuntimePod | undefined> {
    const sandbox = [...this.#sandboxes.values()].find((candidate) => candidate.podUid === podUid)
    if (sandbox === undefined) return Promise.resolve(undefined)
    const { id: sandboxId, ip, containers } = sandbox
    return Promise.resolve({ sandboxId, ip, isReady: true, containers: containers.map(seen) })
  }

  podUids(_signal: AbortSignal): Promise<readonly string[]> {
    return Promise.resolve([...this.#sandboxes.values()].map(({ podUid }) => podUid))
  }

  async pullImage(image: string, signal: AbortSignal): Promise<string> {
    await this.#pass(this.#options.pullMs ?? 0, signal)
    if (this.#options.images?.[image] === 'missing')
      throw new ImageNotFound(`image ${JSON.stringify(image)} does not exist`)
    return `simulated://${image}`
  }

  runSandbox({ podUid }: SandboxConfig, _signal: AbortSignal): Promise<string> {
    const ip = `${this.#options.network ?? '10.244.0'}.${++this.#addressLast}`
    const sandbox: Sandbox = { id: newUid(this.#random), podUid, ip, containers: [] }
    this.#sandboxes.set(sandbox.id, sandbox)
    return Promise.resolve(sandbox.id)
  }

  async removeSandbox(sandboxId: string, signal: AbortSignal): Promise<void> {
    const sandbox = this.#sandboxes.get(sandboxId)
    if (sandbox === undefined) return
    await Promise.all(sandbox.containers.map(({ id }) => this.stopContainer(id, 0, signal)))
    for (const { id } of sandbox.containers) this.#containers.delete(id)
    this.#sandboxes.delete(sandboxId)
  }

  createContainer(sandboxId: string, config: ContainerConfig, _signal: AbortSignal): Promise<string> {
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
    const { arguments: args, environment, image } = container.config
    const known = this.#options.images?.[image]
    const program = typeof known === 'function' ? known : serveUntilTerminated
    const process = { arguments: args, environment, clock: this.#clock, terminated: container.stop.signal }
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
    container.stop.abort()
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

  onChange(listener: (podUid: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #end(container: Container, exitCode: number): void {
    if (container.state === 'exited') return
    container.state = 'exited'
    container.finishedMs = this.#clock.nowMs()
    container.exitCode = exitCode
    container.stop.abort()
    container.ended.resolve()
    this.#tell(container)
  }

  #tell({ sandbox: { podUid } }: Container): void {
    for (const listener of [...this.#listeners]) listener(podUid)
  }

  #pass(ms: number, signal: AbortSignal): Promise<void> {
    return ms === 0 ? Promise.resolve() : this.#clock.sleep(ms, signal)
  }
}

const seen = ({ id, config, state, startedMs, finishedMs, exitCode }: Container): RuntimeContainer => ({
  id,
  name: config.name,
  image: config.image,
  imageId: `simulated://${config.image}`,
  attempt: config.attempt,
  state,
  startedMs,
  finishedMs,
  exitCode,
})
