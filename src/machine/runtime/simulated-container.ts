// SimulatedContainer: a container of the simulated runtime, and its sandbox.
import { BytePipe } from '../../wire/byte-pipe.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { ConnectionEnd, ConnectionOwner } from '../network/simulated-connection.ts'
import type { SimulatedDisk } from '../disk/simulated-disk.ts'
import { MemoryLog } from '../logs/memory-log.ts'
import { containerFiles, type ContainerFiles } from './container-files.ts'
import type { ContainerConfig, SandboxConfig } from './runtime-config.ts'
import type { RuntimeContainer } from './container-runtime.ts'
import { answersAt, type SimulatedBehaviour } from './simulated-behaviour.ts'
import { SimulatedPorts, type SimulatedCommand, type SimulatedProgram } from './simulated-process.ts'

const stdinBytesMax = 64 * 1024
export const logPrefix = 'simulated:/'
/** Shared, because creating an error with its stack for every container is expensive. */
const hasEnded = new Error('the container has exited')

export const environmentOf = ({ environment }: ContainerConfig): Record<string, string> =>
  Object.fromEntries(environment.map(({ name, value }) => [name, value]))

export const imageIdOf = (image: string): string => `simulated://${image}`

export interface SimulatedSandbox {
  readonly id: string
  readonly config: SandboxConfig
  readonly ips: readonly string[]
  isReady: boolean
  readonly containers: SimulatedContainer[]
}

/** Streams and signals are created on demand, because most containers of a large simulation do not use them. */
export class SimulatedContainer implements ConnectionOwner {
  readonly id: string
  readonly config: ContainerConfig
  readonly sandbox: SimulatedSandbox
  readonly behaviour: SimulatedBehaviour
  /** The program of its image; undefined when it serves until it is stopped. */
  readonly program: SimulatedProgram | undefined
  readonly imageId: string
  readonly logPath: string
  state: RuntimeContainer['state'] = 'created'
  startedMs = 0
  finishedMs = 0
  exitCode = 0
  /** The handler of exec commands, if the program has set one. */
  command: SimulatedCommand | undefined
  /** Aborted to stop the program, if one runs. */
  stop: AbortController | undefined
  #ended: PromiseWithResolvers<void> | undefined
  #ending: AbortController | undefined
  #log: MemoryLog | undefined
  #ports: SimulatedPorts | undefined
  #files: ContainerFiles | undefined
  #stdin: BytePipe | undefined
  #cpuNanos = 0
  #measuredMs = 0
  /** Its ends of connections. */
  #ends: Set<ConnectionEnd> | undefined

  constructor(
    id: string,
    config: ContainerConfig,
    sandbox: SimulatedSandbox,
    behaviour: SimulatedBehaviour,
    program: SimulatedProgram | undefined,
  ) {
    this.id = id
    this.config = config
    this.sandbox = sandbox
    this.behaviour = behaviour
    this.program = program
    this.imageId = imageIdOf(config.image)
    this.logPath = `${logPrefix}${id}`
  }

  /** Whether it responds to connections and commands. */
  isAnswering(clock: Clock): boolean {
    return this.state === 'running' && answersAt(this.behaviour, clock.nowMs() - this.startedMs)
  }

  get log(): MemoryLog {
    return (this.#log ??= new MemoryLog())
  }

  ports(clock: Clock): SimulatedPorts {
    return (this.#ports ??= new SimulatedPorts(clock, this.program === undefined))
  }

  files(disk: SimulatedDisk | undefined): ContainerFiles {
    return (this.#files ??= containerFiles(this.config, disk, () => this.endedSignal))
  }

  hold(end: ConnectionEnd): void {
    if (this.state === 'exited') end.close()
    else (this.#ends ??= new Set()).add(end)
  }

  release(end: ConnectionEnd): void {
    this.#ends?.delete(end)
  }

  /** Its machine has lost power: the peers of its connections get no packet. */
  loseConnections(): void {
    for (const end of this.#ends ?? []) end.lose()
    this.#ends = undefined
  }

  get stdin(): BytePipe {
    return (this.#stdin ??= new BytePipe(stdinBytesMax))
  }

  /** Resolves when the container has exited. */
  get ended(): Promise<void> {
    if (this.state === 'exited') return Promise.resolve()
    return (this.#ended ??= Promise.withResolvers<void>()).promise
  }

  /** Aborted when the container has exited. */
  get endedSignal(): AbortSignal {
    this.#ending ??= new AbortController()
    if (this.state === 'exited') this.#ending.abort(hasEnded)
    return this.#ending.signal
  }

  end(exitCode: number, nowMs: number): void {
    this.state = 'exited'
    this.finishedMs = nowMs
    this.exitCode = exitCode
    this.stop?.abort(hasEnded)
    this.#stdin?.end()
    for (const end of this.#ends ?? []) end.close()
    this.#ended?.resolve()
    this.#ending?.abort(hasEnded)
    this.#log?.notify()
  }

  /** The CPU time since the start in nanoseconds: since the last measurement it has used as much as it uses now. */
  useCpu(cpuMillis: number, nowMs: number): number {
    const nanosPerMsAndMilli = 1_000
    this.#cpuNanos += (nowMs - Math.max(this.#measuredMs, this.startedMs)) * cpuMillis * nanosPerMsAndMilli
    this.#measuredMs = nowMs
    return this.#cpuNanos
  }

  status(): RuntimeContainer {
    const { id, config, imageId, state, startedMs, finishedMs, exitCode, logPath } = this
    return {
      id,
      name: config.name,
      image: config.image,
      imageId,
      attempt: config.attempt,
      state,
      startedMs,
      finishedMs,
      exitCode,
      reason: '',
      message: '',
      logPath,
    }
  }
}
