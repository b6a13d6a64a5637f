// NodeLogind: shutdowns as systemd's logind tells them on the system's message bus. A lock of its own kind, which a small
// process holds for us, lets the machine wait: logind hands locks out as file descriptors, which Node.js cannot receive.
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Clock } from '../../base/time/clock.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { byteStreamOn } from '../../platform/node/socket/socket-byte-stream.ts'
import type { Processes, RunningProcess } from '../../platform/process/processes.ts'
import { DbusConnection } from '../../wire/dbus/dbus-connection.ts'
import type { DbusMessage } from '../../wire/dbus/dbus-message.ts'
import { CannotDelayShutdown, type HostShutdown, type ShutdownListener } from './host-shutdown.ts'

export interface NodeLogindDeps {
  readonly processes: Processes
  readonly clock: Clock
  readonly socketPath?: string
  /** Where what logind shall do differently is written down. */
  readonly configurationDirectory?: string
  /** The program that holds a lock for as long as it runs. */
  readonly inhibitProgram?: string
}

const logind = { destination: 'org.freedesktop.login1', path: '/org/freedesktop/login1' } as const
const managerInterface = 'org.freedesktop.login1.Manager'
const signalRule = `type='signal',interface='${managerInterface}',member='PrepareForShutdown',path='${logind.path}'`
const hangup = 1
const usPerMs = 1_000
/** How long logind may take to read what was written for it, and how often it is asked. */
const reloadMsMax = 5_000
const reloadLookMs = 200
const reconnectMs = 1_000
const held = 'held'

export class NodeLogind implements HostShutdown {
  readonly #deps: Required<NodeLogindDeps>

  constructor(deps: NodeLogindDeps) {
    this.#deps = {
      socketPath: '/run/dbus/system_bus_socket',
      configurationDirectory: '/etc/systemd/logind.conf.d',
      inhibitProgram: 'systemd-inhibit',
      ...deps,
    }
  }

  async listen(delayMs: number, listener: ShutdownListener, onReady: () => void, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    let isHolding = false
    for (;;) {
      try {
        await this.#listenOnce(delayMs, listener, () => (isHolding ||= (onReady(), true)), signal)
      } catch (error) {
        signal.throwIfAborted()
        if (!isHolding) throw new CannotDelayShutdown((error as Error).message, { cause: error })
      }
      await clock.sleep(reconnectMs, signal)
    }
  }

  /** Until the bus is gone. */
  async #listenOnce(
    delayMs: number,
    listener: ShutdownListener,
    onReady: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    let heard = Promise.resolve()
    let lock: RunningProcess | undefined
    const hear = async (isShuttingDown: boolean) => {
      if (isShuttingDown) await listener.onShutdown()
      else await listener.onCancelled()
      lock?.kill('SIGTERM')
      lock = isShuttingDown ? undefined : await this.#hold(signal)
    }
    const bus = await this.#connect(({ member, body }) => {
      if (member !== 'PrepareForShutdown') return
      heard = heard.then(() => hear(body[0] === true)).catch(() => {})
    }, signal)
    try {
      await this.#allow(bus, delayMs, signal)
      await bus.addMatch(signalRule, signal)
      lock = await this.#hold(signal)
      onReady()
      await unlessAborted(bus.closed, signal)
    } finally {
      bus.close()
      lock?.kill('SIGTERM')
    }
  }

  async #connect(onSignal: (message: DbusMessage) => void, signal: AbortSignal): Promise<DbusConnection> {
    const { socketPath } = this.#deps
    const socket = connect(socketPath)
    try {
      await once(socket, 'connect', { signal })
      return await DbusConnection.open(byteStreamOn(socket), process.getuid?.() ?? 0, onSignal, signal)
    } catch (error) {
      socket.destroy()
      throw new Error(`there is no system message bus at ${socketPath}: ${(error as Error).message}`, { cause: error })
    }
  }

  /** Logind lets nobody hold up a shutdown for longer than it was told to. */
  async #allow(bus: DbusConnection, delayMs: number, signal: AbortSignal): Promise<void> {
    const { clock, configurationDirectory: configurationFolder } = this.#deps
    if ((await this.#delayMsMax(bus, signal)) >= delayMs) return
    const seconds = Math.ceil(delayMs / 1000)
    await mkdir(configurationFolder, { recursive: true })
    const text = `# Written by the kubelet of coxswain.\n[Login]\nInhibitDelayMaxSec=${seconds}\n`
    await writeFile(join(configurationFolder, '99-kubelet.conf'), text)
    await bus.call(
      {
        destination: 'org.freedesktop.systemd1',
        path: '/org/freedesktop/systemd1',
        interface: 'org.freedesktop.systemd1.Manager',
        member: 'KillUnit',
        signature: 'ssi',
        body: ['systemd-logind.service', 'all', hangup],
      },
      signal,
    )
    const untilMs = clock.monotonicMs() + reloadMsMax
    while ((await this.#delayMsMax(bus, signal)) < delayMs) {
      if (clock.monotonicMs() >= untilMs)
        throw new Error(`logind does not let a shutdown wait for ${seconds} s, whatever is written for it`)
      await clock.sleep(reloadLookMs, signal)
    }
  }

  async #delayMsMax(bus: DbusConnection, signal: AbortSignal): Promise<number> {
    const [us = 0] = await bus.call(
      {
        ...logind,
        interface: 'org.freedesktop.DBus.Properties',
        member: 'Get',
        signature: 'ss',
        body: [managerInterface, 'InhibitDelayMaxUSec'],
      },
      signal,
    )
    return Number(us) / usPerMs
  }

  async #hold(signal: AbortSignal): Promise<RunningProcess> {
    const { processes, inhibitProgram } = this.#deps
    const began = Promise.withResolvers<void>()
    const lines: string[] = []
    const args = [
      '--what=shutdown',
      '--mode=delay',
      '--who=kubelet',
      '--why=Kubelet needs time to handle node shutdown',
    ]
    // What it runs runs only once the lock is held.
    const lock = processes.start(
      inhibitProgram,
      [...args, 'sh', '-c', `echo ${held}; exec sleep infinity`],
      {},
      (line) => (line === held ? began.resolve() : lines.push(line)),
    )
    const ended = lock.ended.then((code) => {
      throw new Error(`${inhibitProgram} ended with ${code}: ${lines.join(' ')}`)
    })
    ended.catch(() => {})
    try {
      await unlessAborted(Promise.race([began.promise, ended]), signal)
      return lock
    } catch (error) {
      lock.kill('SIGTERM')
      throw error
    }
  }
}
