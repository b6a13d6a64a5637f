// mountedStorage(): kubelets on the disk of this machine, the driver as a process, real mounts and loop devices, in virtual
// time: the clock stands still while the disk or the driver works. Containers are simulated; a test reads and writes the
// paths that the kubelet has given them. The caller has its own mount namespace.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { readFile, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context } from '../../src/base/observability/context.ts'
import { FlowRecorder } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import type { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import { csiDriver } from '../../src/api/storage/v1/csi-driver.ts'
import { Informers } from '../../src/client/informer/informers.ts'
import { pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { simulatedHost } from '../../src/cluster/node/simulated-host.ts'
import { Component } from '../../src/cluster/components/component.ts'
import { Kubelet } from '../../src/kubelet/kubelet.ts'
import { solo } from '../../src/kubelet/solo.harness.ts'
import type { CsiDriver, CsiDrivers } from '../../src/machine/csi/csi-driver.ts'
import { grpcCsiDrivers } from '../../src/machine/csi/grpc-csi-drivers.ts'
import { NodeDisk } from '../../src/machine/disk/node-disk.ts'
import { SimulatedDisk } from '../../src/machine/disk/simulated-disk.ts'
import { NodePluginSockets } from '../../src/machine/plugin-sockets/node-plugin-sockets.ts'
import type { ContainerConfig, SandboxConfig } from '../../src/machine/runtime/runtime-config.ts'
import { SimulatedRuntime } from '../../src/machine/runtime/simulated-runtime.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { startCsiSidecars } from '../../src/storage/csi/csi-sidecars.ts'
import { hostMounts, run } from './commands.ts'
import { startCsiDriver, type DriverProcess } from './driver-process.ts'
import { attachedImages, growsMountedFilesystems, hasLoopDevices } from './loop-devices.ts'
import { driverName, type StorageOptions, type StorageUnderTest, type UsedVolume } from './storage-under-test.ts'

const ctx = context(new AbortController().signal)
const fileName = 'file'

export interface MountedStorage extends StorageUnderTest {
  readonly driver: DriverProcess
}

export async function mountedStorage({ nodes: count, arrowMs = 0 }: StorageOptions): Promise<MountedStorage> {
  await using starting = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'csi-nodes-'))
  starting.defer(() => rmSync(folder, { recursive: true, force: true }))
  starting.defer(() => unmountBelow(folder))
  const cluster = starting.use(await startCluster({ nodes: 0 }))
  const { client, clock } = cluster
  const drivers = slowed(clock, arrowMs, () => driver.responds())
  const spec = { attachRequired: true }
  await client.of(csiDriver).create({ metadata: { name: driverName }, spec }, ctx)
  const nodes = Array.from({ length: count }, (_, index) => new MountedNode(cluster, drivers, folder, index))
  const sockets = nodes.map(({ name, registrationSocket }) => ({
    nodeId: name,
    csiSocket: join(folder, `${name}.sock`),
    registrationSocket,
  }))
  const [first = {}, ...others] = sockets
  const driver: DriverProcess = starting.use(await startCsiDriver({ ...first, others }))
  const sidecars = sidecarsOf(cluster, () => drivers.open(driver.csiSocket))
  const own = [sidecars, ...nodes.map(({ kubelet }) => kubelet)]
  for (const component of own) component.start()
  starting.defer(async () => {
    for (const component of own) await component.kill()
  })
  await clock.advance('30s')
  const hasLoops = await hasLoopDevices(folder)
  const nodeOf = (name: string): MountedNode => {
    const found = nodes.find((node) => node.name === name)
    if (found === undefined) throw new Error(`there is no node ${name}`)
    return found
  }
  const pathOf = async ({ podName, isBlock }: UsedVolume) => {
    const { metadata, spec: placed } = await client.of(pod).get(podName, ctx)
    const path = nodeOf(placed.nodeName ?? '').volumeOf(metadata.uid)
    return isBlock ? path : join(path, fileName)
  }
  const started = starting.move()
  return {
    cluster,
    driver,
    contentBytes: 200_000,
    hasBlock: hasLoops,
    parametersOfSingle: hasLoops ? { backing: 'file' } : {},
    growsMounted: hasLoops && (await growsMountedFilesystems(folder)),
    records: () => {
      const { volumes, staged, published } = driver.records()
      return { volumes: new Map(volumes), staged: new Map(staged), published: new Map(published) } as never
    },
    async write(volume, content) {
      await writeFile(await pathOf(volume), content, { flag: volume.isBlock ? 'r+' : 'w', flush: true })
    },
    async read(volume) {
      const bytes = await readFile(await pathOf(volume))
      const end = bytes.indexOf(0)
      return bytes.subarray(0, end < 0 ? bytes.length : end).toString()
    },
    async sizeOf(volume) {
      const path = await pathOf(volume)
      if (volume.isBlock) return Number(await run('blockdev', '--getsize64', path))
      const { bsize, blocks } = await statfs(path)
      return bsize * blocks
    },
    kill: (component) =>
      component === 'driver'
        ? driver.kill()
        : (own.find(({ name }) => name === component)?.kill() ?? cluster.kill(component)),
    start(component) {
      const found = own.find(({ name }) => name === component)
      if (found !== undefined) found.start()
      else if (component !== 'driver') cluster.start(component)
    },
    powerOff: (name) => nodeOf(name).powerOff(),
    powerOn: (name) => nodeOf(name).kubelet.start(),
    leftOn: (name) => nodeOf(name).leftovers(),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

/**
 * Calls of the drivers at sockets, each with a pause before and after it, in which a test may kill the caller. After a failed
 * call the clock waits for the process, whose start takes real time.
 */
function slowed(clock: VirtualClock, pauseMs: number, responds: () => Promise<void>): CsiDrivers {
  const drivers = grpcCsiDrivers({ http2: nodePlatform.http2, clock })
  return {
    open(path) {
      const driver = drivers.open(path)
      const call: CsiDriver['call'] = async (method, request, signal) => {
        if (pauseMs > 0) await clock.sleep(pauseMs, signal)
        const answer = await clock.outside(driver.call(method, request, signal)).catch(async (error: unknown) => {
          await clock.outside(responds())
          throw error
        })
        if (pauseMs > 0) await clock.sleep(pauseMs, signal)
        return answer
      }
      return { call, close: () => driver.close() }
    },
  }
}

/** The object, with a clock that stands still while a call of it is in progress. */
function outside<T extends object>(object: T, clock: VirtualClock): T {
  return new Proxy(object, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: readonly unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, target, args)
        return result instanceof Promise ? clock.outside(result) : result
      }
    },
  })
}

const sidecarsOf = ({ client, clock }: TestCluster, open: () => CsiDriver): Component =>
  new Component('csi-sidecars', { clock, log: silentLog }, (tasks) => {
    const random = seededRandom(2)
    const informers = new Informers(client, { clock, random, log: silentLog }, tasks)
    const deps = { client, informers, clock, random, log: silentLog, flow: new FlowRecorder(clock) }
    tasks.start('csi sidecars', () => startCsiSidecars(open(), {}, deps, tasks))
  })

/** Records what the kubelet passes to containers. */
class RecordingRuntime extends SimulatedRuntime {
  /** By the uid of the pod. */
  readonly configs = new Map<string, ContainerConfig>()

  override createContainer(
    sandboxId: string,
    config: ContainerConfig,
    sandbox: SandboxConfig,
    signal: AbortSignal,
  ): Promise<string> {
    this.configs.set(sandbox.podUid, config)
    return super.createContainer(sandboxId, config, sandbox, signal)
  }
}

class MountedNode {
  readonly name: string
  readonly registrationSocket: string
  readonly kubelet: Component
  readonly #folder: string
  readonly #newRuntime: () => RecordingRuntime
  #runtime: RecordingRuntime

  constructor(cluster: TestCluster, drivers: CsiDrivers, folder: string, index: number) {
    const { clock } = cluster
    const name = `node-${index}`
    this.name = name
    this.#folder = join(folder, name)
    this.registrationSocket = join(this.#folder, 'plugins_registry', 'driver-reg.sock')
    const random = seededRandom(10 + index)
    this.#newRuntime = () => new RecordingRuntime(clock, random)
    this.#runtime = this.#newRuntime()
    const sockets = new NodePluginSockets(join(this.#folder, 'plugins_registry'), clock)
    const plugins = {
      sockets: {
        list: () => clock.outside(sockets.list()),
        waitForChange: (signal: AbortSignal) => sockets.waitForChange(signal),
      },
      drivers,
      sha256: (text: string) => nodePlatform.crypto.sha256(text).toHex(),
    }
    // A kubelet that is not part of the API server's process does not choose its range.
    const { podCidrs: _podCidrs, ...described } = solo
    const description = {
      ...described,
      name,
      hostIp: `192.0.2.${10 + index}`,
      capacity: { ...solo.capacity, pods: '110' },
    }
    const client = cluster.as(`system:node:${name}`, ['system:nodes', 'system:authenticated'])
    this.kubelet = new Component(`kubelet/${name}`, { clock, log: silentLog }, (tasks) => {
      const runtime = this.#runtime
      const host = {
        ...simulatedHost(runtime, new SimulatedDisk()),
        disk: outside(new NodeDisk(), clock),
        paths: { pods: join(this.#folder, 'pods'), logs: join(this.#folder, 'logs') },
        plugins,
      }
      const flow = new FlowRecorder(clock)
      new Kubelet({ client, runtime, clock, random, flow, log: silentLog, description, host }).start(tasks)
    })
  }

  /** The path of the directory or device that the container of a pod has. */
  volumeOf(podUid: string): string {
    const { mounts = [], devices = [] } = this.#runtime.configs.get(podUid) ?? {}
    const path = [...devices, ...mounts.filter(({ containerPath }) => containerPath === '/data')][0]?.hostPath
    if (path === undefined) throw new Error(`no container of the pod ${podUid} has a volume`)
    return path
  }

  /** The machine loses its containers and its mounts; files stay. */
  async powerOff(): Promise<void> {
    await this.kubelet.kill()
    this.#runtime = this.#newRuntime()
    await unmountBelow(this.#folder)
  }

  async leftovers(): Promise<readonly string[]> {
    const mounts = mountsBelow(this.#folder)
    const staged = [
      'plugins/kubernetes.io/csi/volumeDevices/publish',
      'plugins/kubernetes.io/csi/volumeDevices/staging',
    ]
    const folders = ['pods', `plugins/kubernetes.io/csi/${driverName}`, ...staged]
    const entries = folders.flatMap((name) => entriesOf(join(this.#folder, name)))
    const images = await attachedImages(this.#folder)
    return [...mounts, ...entries, ...images]
  }
}

const entriesOf = (folder: string): string[] => {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    return []
  }
}

const mountsBelow = (folder: string): string[] =>
  hostMounts()
    .map(({ path }) => path)
    .filter((path) => path.startsWith(`${folder}/`))

async function unmountBelow(folder: string): Promise<void> {
  for (const path of mountsBelow(folder).toReversed()) await run('umount', path)
}
