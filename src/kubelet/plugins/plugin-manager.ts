// PluginManager: registers the plugins whose sockets appear in the registration directory, and removes those whose
// sockets disappear. Failures are reported to the plugin and retried.
import { TaskGroup } from '../../base/async/task-group.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { WorkQueue, type Backoff } from '../../base/work/work-queue.ts'
import type { CsiDriver, CsiDrivers } from '../../machine/csi/csi-driver.ts'
import { nodeService, registrationService } from '../../machine/csi/methods.ts'
import type { PluginSocket, PluginSockets } from '../../machine/plugin-sockets/plugin-sockets.ts'
import type { CsiNodeUpdater } from './csi-node-updater.ts'
import type { CsiRegistry } from './csi-registry.ts'
import { withTimeLimit } from './time-limit.ts'
import { validatePlugin, type PluginInfo } from './plugin-validation.ts'

export interface PluginManagerDeps {
  readonly sockets: PluginSockets
  readonly drivers: CsiDrivers
  readonly registry: CsiRegistry
  readonly csiNode: CsiNodeUpdater
  readonly clock: Clock
  readonly log: Log
}

const retryBackoff: Backoff = { initialMs: 500, maxMs: 122_000 }
const registrarMsMax = 10_000
const driverMsMax = 120_000
/** The key of the CSINode itself; paths are absolute. */
const csiNodeKey = ''

/** A registered plugin. */
interface Registration {
  readonly name: string
  /** The identity of its socket; `unconfirmed` until the plugin was notified. */
  readonly identity: string
}

const unconfirmed = ''

/** The plugin was notified that it cannot be registered; it is not retried until its socket is created again. */
class PluginRejected extends Error {
  override name = 'PluginRejected'
}

export class PluginManager {
  readonly #deps: PluginManagerDeps
  readonly #queue: WorkQueue<string>
  readonly #present = new Map<string, PluginSocket>()
  readonly #registered = new Map<string, Registration>()

  constructor(deps: PluginManagerDeps) {
    this.#deps = deps
    this.#queue = new WorkQueue(deps.clock, retryBackoff)
  }

  async run(signal: AbortSignal): Promise<void> {
    await using tasks = new TaskGroup({ signal })
    signal.addEventListener('abort', () => this.#queue.close(), { once: true })
    this.#queue.add(csiNodeKey)
    tasks.start('plugin sockets', (stop) => this.#watch(stop))
    for (let work = await this.#queue.take(signal); work !== undefined; work = await this.#queue.take(signal)) {
      const { key } = work
      // A plugin that does not answer must not delay the others.
      tasks.start(`plugin ${key}`, (stop) => this.#work(key, stop))
    }
    this.#deps.registry.close()
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { sockets, clock, log } = this.#deps
    while (!signal.aborted) {
      try {
        this.#update(await sockets.list(signal))
        await sockets.waitForChange(signal)
      } catch (error) {
        if (signal.aborted) return
        log.warn('the sockets of plugins could not be read', { error: errorText(error) })
        await clock.sleep(retryBackoff.initialMs, signal).catch(() => {})
      }
    }
  }

  /** Enqueues what has changed. */
  #update(sockets: readonly PluginSocket[]): void {
    const paths = new Set(sockets.map(({ path }) => path))
    for (const path of this.#present.keys()) if (!paths.has(path)) this.#changed(path, undefined)
    for (const socket of sockets)
      if (this.#present.get(socket.path)?.identity !== socket.identity) this.#changed(socket.path, socket)
  }

  #changed(path: string, socket: PluginSocket | undefined): void {
    if (socket === undefined) this.#present.delete(path)
    else this.#present.set(path, socket)
    this.#queue.forget(path)
    this.#queue.add(path)
  }

  async #work(key: string, signal: AbortSignal): Promise<void> {
    try {
      if (key === csiNodeKey) await this.#deps.csiNode.initialize(context(signal))
      else await this.#reconcile(key, signal)
      this.#queue.forget(key)
    } catch (error) {
      if (signal.aborted) return
      this.#logFailure(key, error)
      if (!(error instanceof PluginRejected)) this.#queue.retry(key)
    } finally {
      this.#queue.done(key)
    }
  }

  #logFailure(key: string, error: unknown): void {
    const { log } = this.#deps
    if (key !== csiNodeKey)
      return log.warn('a plugin could not be registered', { socket: key, error: errorText(error) })
    // The CSINode of a new node is created after its Node.
    const level = hasReason(error, 'NotFound') ? 'debug' : 'warn'
    log[level]('the CSINode could not be created', { error: errorText(error) })
  }

  async #reconcile(path: string, signal: AbortSignal): Promise<void> {
    const socket = this.#present.get(path)
    const registration = this.#registered.get(path)
    if (registration !== undefined && registration.identity === socket?.identity) return
    if (socket !== undefined) return this.#register(socket, signal)
    if (registration === undefined) return
    this.#registered.delete(path)
    // A plugin that was updated may have registered its name at another socket meanwhile.
    if ([...this.#registered.values()].some(({ name }) => name === registration.name)) return
    this.#deps.registry.remove(registration.name)
    try {
      await this.#deps.csiNode.uninstall(registration.name, context(signal))
    } catch (error) {
      this.#registered.set(path, registration)
      throw error
    }
  }

  async #register(socket: PluginSocket, signal: AbortSignal): Promise<void> {
    const { drivers, clock } = this.#deps
    const registrar = drivers.open(socket.path)
    const limited = <T>(call: (stop: AbortSignal) => Promise<T>) => withTimeLimit(clock, registrarMsMax, signal, call)
    const notify = (error: string) =>
      limited((stop) =>
        registrar.call(registrationService.notifyRegistrationStatus, { pluginRegistered: error === '', error }, stop),
      )
    try {
      const info = await limited((stop) => registrar.call(registrationService.getInfo, {}, stop))
      const verdict = validatePlugin(info, socket.path, this.#deps.registry.find(info.name))
      if (verdict.kind === 'rejected') {
        await notify(verdict.message)
        throw new PluginRejected(verdict.message)
      }
      await this.#install(info, verdict.version, socket, signal).catch(async (error: unknown) => {
        await notify(`RegisterPlugin error -- plugin registration failed with err: ${errorText(error)}`).catch(() => {})
        throw error
      })
      await notify('')
      this.#registered.set(socket.path, { name: info.name, identity: socket.identity })
    } finally {
      registrar.close()
    }
  }

  async #install(
    { name, endpoint }: PluginInfo,
    version: string,
    socket: PluginSocket,
    signal: AbortSignal,
  ): Promise<void> {
    const { drivers, registry, csiNode } = this.#deps
    const path = endpoint === '' ? socket.path : endpoint
    const driver = drivers.open(path)
    try {
      await csiNode.install(name, await this.#nodeInfo(driver, signal), context(signal))
    } catch (error) {
      driver.close()
      throw error
    }
    registry.add({ name, endpoint: path, version, driver })
    this.#registered.set(socket.path, { name, identity: unconfirmed })
  }

  async #nodeInfo(driver: CsiDriver, signal: AbortSignal) {
    const info = await withTimeLimit(this.#deps.clock, driverMsMax, signal, (stop) =>
      driver.call(nodeService.nodeGetInfo, {}, stop),
    )
    const { nodeId, maxVolumesPerNode, accessibleTopology } = info
    return { nodeId, maxVolumesPerNode, topology: { ...accessibleTopology?.segments } }
  }
}
