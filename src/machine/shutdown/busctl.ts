// Busctl: method calls, properties and signals of the system's D-Bus, through systemd's `busctl`.
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Processes, RunningProcess } from '../../platform/process/processes.ts'
import { startBound } from './bound-process.ts'

export interface BusObject {
  readonly service: string
  readonly path: string
  readonly interface: string
}

/** A signal as `busctl --json` prints it; only the fields that are used. */
export interface BusSignal {
  readonly member: string
  readonly payload: { readonly data: readonly unknown[] }
}

/** Printed when all further signals are reported. */
const monitorIsReady = 'Monitoring bus message stream.'
/** Makes busctl print the line above to stderr, whatever the environment of this process sets. */
const environment = { SYSTEMD_LOG_LEVEL: 'info', SYSTEMD_LOG_TARGET: 'console' } as const

export class Busctl {
  readonly #processes: Processes
  readonly #bus: readonly string[]

  /** `address`: of another bus than the system's, such as `unix:path=/run/test/bus`. */
  constructor(processes: Processes, address?: string) {
    this.#processes = processes
    this.#bus = address === undefined ? ['--system'] : [`--address=${address}`]
  }

  async property({ service, path, interface: owner }: BusObject, name: string, signal: AbortSignal): Promise<unknown> {
    const text = await this.#run(['--json=short', 'get-property', service, path, owner, name], signal)
    return (JSON.parse(text) as { readonly data: unknown }).data
  }

  /** Calls a method with arguments as texts, of the types that the D-Bus signature lists. */
  async call(
    { service, path, interface: owner }: BusObject,
    method: string,
    signature: string,
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.#run(['call', service, path, owner, method, signature, ...args], signal)
  }

  /** Calls `onSignal` for every signal that matches the rule, until the process ends. Resolves when none is missed. */
  async monitor(rule: string, onSignal: (message: BusSignal) => void, signal: AbortSignal): Promise<RunningProcess> {
    const ready = Promise.withResolvers<void>()
    let lastLine = ''
    const onLine = (line: string) => {
      lastLine = line
      if (line === monitorIsReady) ready.resolve()
      else if (line.startsWith('{')) onSignal(JSON.parse(line) as BusSignal)
    }
    const args = [...this.#bus, '--json=short', `--match=${rule}`, 'monitor']
    const monitor = startBound(this.#processes, 'busctl', args, environment, onLine)
    const ended = monitor.ended.then((code) => {
      throw new Error(`busctl monitor exited with ${code}: ${lastLine}`)
    })
    ended.catch(() => {}) // the caller waits for the end of the process itself
    try {
      await unlessAborted(Promise.race([ready.promise, ended]), signal)
      return monitor
    } catch (error) {
      monitor.kill('SIGTERM')
      throw error
    }
  }

  async #run(args: readonly string[], signal: AbortSignal): Promise<string> {
    const { code, stdout, stderr } = await this.#processes.run('busctl', [...this.#bus, ...args], {}, signal)
    if (code !== 0) throw new Error(`busctl failed: ${stderr.trim()}`)
    return stdout
  }
}
