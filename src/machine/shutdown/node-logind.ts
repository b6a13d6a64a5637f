// NodeLogind: shutdowns reported by systemd-logind. A `systemd-inhibit` process holds the delay lock, because logind passes
// locks as file descriptors, which Node.js cannot receive; signals and settings go through `busctl`.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../base/time/clock.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Processes, RunningProcess } from '../../platform/process/processes.ts'
import { startBound } from './bound-process.ts'
import { Busctl, type BusObject } from './busctl.ts'
import { CannotDelayShutdown, type HostShutdown, type ShutdownListener } from './host-shutdown.ts'

export interface NodeLogindDeps {
  readonly processes: Processes
  readonly clock: Clock
}

export interface NodeLogindOptions {
  /** The address of another bus than the system's, for tests. */
  readonly busAddress?: string
  /** Directory of logind's drop-in configuration files. */
  readonly configurationDirectory?: string
}

const logind: BusObject = {
  service: 'org.freedesktop.login1',
  path: '/org/freedesktop/login1',
  interface: 'org.freedesktop.login1.Manager',
}
const systemd: BusObject = {
  service: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interface: 'org.freedesktop.systemd1.Manager',
}
const shutdownSignal = 'PrepareForShutdown'
const signalRule = `type='signal',interface='${logind.interface}',member='${shutdownSignal}',path='${logind.path}'`
/** The number of SIGHUP, on which logind reloads its configuration. */
const hangup = '1'
const usPerMs = 1_000
/** How long logind may take to reload its configuration, and how often the result is checked. */
const reloadMsMax = 5_000
const reloadPollMs = 200
const reconnectMs = 1_000
const inhibitArguments = [
  '--what=shutdown',
  '--mode=delay',
  '--who=kubelet',
  '--why=Kubelet needs time to handle node shutdown',
]
const held = 'held'

export class NodeLogind implements HostShutdown {
  readonly #deps: NodeLogindDeps
  readonly #bus: Busctl
  readonly #busEnvironment: Readonly<Record<string, string>>
  readonly #configurationDirectory: string

  constructor(deps: NodeLogindDeps, { busAddress, configurationDirectory }: NodeLogindOptions = {}) {
    this.#deps = deps
    this.#bus = new Busctl(deps.processes, busAddress)
    this.#busEnvironment = busAddress === undefined ? {} : { DBUS_SYSTEM_BUS_ADDRESS: busAddress }
    this.#configurationDirectory = configurationDirectory ?? '/etc/systemd/logind.conf.d'
  }

  async listen(delayMs: number, listener: ShutdownListener, onReady: () => void, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    let isReady = false
    const ready = () => {
      if (!isReady) onReady()
      isReady = true
    }
    for (;;) {
      try {
        await this.#listenOnce(delayMs, listener, ready, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (!isReady) throw new CannotDelayShutdown((error as Error).message, { cause: error })
      }
      await clock.sleep(reconnectMs, signal)
    }
  }

  /** Returns when the connection to the bus ends. */
  async #listenOnce(
    delayMs: number,
    listener: ShutdownListener,
    onReady: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    let handled = Promise.resolve()
    let lock: RunningProcess | undefined
    const handle = async (isShuttingDown: boolean) => {
      if (isShuttingDown) await listener.onShutdown()
      else await listener.onCancelled()
      lock?.kill('SIGTERM')
      lock = isShuttingDown ? undefined : await this.#takeLock(signal)
    }
    await this.#allowDelay(delayMs, signal)
    const monitor = await this.#bus.monitor(
      signalRule,
      ({ member, payload }) => {
        if (member === shutdownSignal) handled = handled.then(() => handle(payload.data[0] === true)).catch(() => {})
      },
      signal,
    )
    try {
      lock = await this.#takeLock(signal)
      onReady()
      await unlessAborted(monitor.ended, signal)
    } finally {
      monitor.kill('SIGTERM')
      lock?.kill('SIGTERM')
    }
  }

  /** Raises logind's maximum delay (InhibitDelayMaxSec) if it is shorter than the required one. */
  async #allowDelay(delayMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    if ((await this.#delayMsMax(signal)) >= delayMs) return
    const seconds = Math.ceil(delayMs / 1000)
    await mkdir(this.#configurationDirectory, { recursive: true })
    const text = `# Written by the kubelet of coxswain.\n[Login]\nInhibitDelayMaxSec=${seconds}\n`
    await writeFile(join(this.#configurationDirectory, '99-kubelet.conf'), text)
    await this.#bus.call(systemd, 'KillUnit', 'ssi', ['systemd-logind.service', 'all', hangup], signal)
    const untilMs = clock.monotonicMs() + reloadMsMax
    while ((await this.#delayMsMax(signal)) < delayMs) {
      if (clock.monotonicMs() >= untilMs)
        throw new Error(`logind does not allow a delay of ${seconds} s, although it is configured`)
      await clock.sleep(reloadPollMs, signal)
    }
  }

  async #delayMsMax(signal: AbortSignal): Promise<number> {
    return Number(await this.#bus.property(logind, 'InhibitDelayMaxUSec', signal)) / usPerMs
  }

  /** Resolves when the lock is held; it is released with the process. */
  async #takeLock(signal: AbortSignal): Promise<RunningProcess> {
    const acquired = Promise.withResolvers<void>()
    const lines: string[] = []
    // systemd-inhibit runs its command once it has the lock.
    const args = [...inhibitArguments, 'sh', '-c', `echo ${held}; exec sleep infinity`]
    const lock = startBound(this.#deps.processes, 'systemd-inhibit', args, this.#busEnvironment, (line) =>
      line === held ? acquired.resolve() : lines.push(line),
    )
    const ended = lock.ended.then((code) => {
      throw new Error(`systemd-inhibit exited with ${code}: ${lines.join(' ')}`)
    })
    ended.catch(() => {}) // only relevant until the lock is held
    try {
      await unlessAborted(Promise.race([acquired.promise, ended]), signal)
      return lock
    } catch (error) {
      lock.kill('SIGTERM')
      throw error
    }
  }
}
