// SimulatedContainer: one container of a simulated runtime, and the sandbox that it is in.
import { BytePipe } from '../../wire/byte-pipe.ts'
import { MemoryLog } from '../logs/memory-log.ts'
import type { ContainerConfig, SandboxConfig } from './runtime-config.ts'
import type { RuntimeContainer } from './container-runtime.ts'
import type { SimulatedBehaviour } from './simulated-behaviour.ts'
import { SimulatedPorts, type SimulatedCommand, type SimulatedProgram } from './simulated-process.ts'

const stdinBytesMax = 64 * 1024
export const logPrefix = 'simulated:/'
/** One for all: an error of its own each time would be made with its stack. */
export const hasEnded = new Error('the container has ended')

export const imageIdOf = (image: string): string => `simulated://${image}`

export interface SimulatedSandbox {
  readonly id: string
  readonly config: SandboxConfig
  readonly ips: readonly string[]
  isReady: boolean
  readonly containers: SimulatedContainer[]
}

/** Its streams and signals are made when they are needed: nobody looks at most containers of a large simulation. */
export class SimulatedContainer {
  readonly id: string
  readonly config: ContainerConfig
  readonly sandbox: SimulatedSandbox
  readonly behaviour: SimulatedBehaviour
  /** What its image does; undefined: it serves until it is asked to end. */
  readonly program: SimulatedProgram | undefined
  readonly imageId: string
  readonly logPath: string
  state: RuntimeContainer['state'] = 'created'
  startedMs = 0
  finishedMs = 0
  exitCode = 0
  /** What its program says of commands, where it says something. */
  command: SimulatedCommand | undefined
  /** Asks its program to end, where something runs. */
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

  /** Resolves when it has ended. */
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

  /** As the runtime shows it. */
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
