// SimulatedContainer: a container of the simulated runtime, and its sandbox.
import { BytePipe } from '../../wire/byte-pipe.ts'
import { MemoryLog } from '../logs/memory-log.ts'
import type { ContainerConfig, SandboxConfig } from './runtime-config.ts'
import type { RuntimeContainer } from './container-runtime.ts'
import type { SimulatedBehaviour } from './simulated-behaviour.ts'
import { SimulatedPorts, type SimulatedCommand, type SimulatedProgram } from './simulated-process.ts'

const stdinBytesMax = 64 * 1024
export const logPrefix = 'simulated:/'
/** Shared, because creating an error with its stack for every container is expensive. */
export const hasEnded = new Error('the container has exited')

export const imageIdOf = (image: string): string => `simulated://${image}`

export interface SimulatedSandbox {
  readonly id: string
  readonly config: SandboxConfig
  readonly ips: readonly string[]
  isReady: boolean
  readonly containers: SimulatedContainer[]
}

/** Streams and signals are created on demand, because most containers of a large simulation do not use them. */
export class SimulatedContainer {
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
  #log: MemoryLog | undefined
  #ports: SimulatedPorts | undefined
  #stdin: BytePipe | undefined

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

  get log(): MemoryLog {
    return (this.#log ??= new MemoryLog())
  }

  get ports(): SimulatedPorts {
    return (this.#ports ??= new SimulatedPorts(this.program === undefined))
  }

  get stdin(): BytePipe {
    return (this.#stdin ??= new BytePipe(stdinBytesMax))
  }

  /** Resolves when the container has exited. */
  get ended(): Promise<void> {
    if (this.state === 'exited') return Promise.resolve()
    return (this.#ended ??= Promise.withResolvers<void>()).promise
  }

  end(exitCode: number, nowMs: number): void {
    this.state = 'exited'
    this.finishedMs = nowMs
    this.exitCode = exitCode
    this.stop?.abort(hasEnded)
    this.#stdin?.end()
    this.#ended?.resolve()
    this.#log?.notify()
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
