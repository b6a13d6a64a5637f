// DriverProcess: starts test/csi/driver.ts for a test, starts it again when it exits, and injects faults.
//
//   await using driver = await startCsiDriver({ nodeId: 'node-1' })
//   driver.inject({ method: 'CreateVolume', when: 'before', action: { kind: 'exit' }, times: 1 })
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { CallFault } from '../../src/machine/csi/simulated/call-faults.ts'
import type { CallRecord } from '../../src/machine/csi/simulated/csi-service.ts'
import type { StorageConfig, StorageRecords } from '../../src/machine/csi/simulated/storage-system.ts'
import { until } from '../until.ts'
import { hostMounts, run } from './commands.ts'
import { loopDevicesOf } from './loop-devices.ts'

const program = fileURLToPath(new URL('driver.ts', import.meta.url))

export interface DriverOptions {
  readonly nodeId?: string
  readonly topology?: Readonly<Record<string, string>>
  readonly volumesMax?: number
  readonly config?: Partial<StorageConfig>
  /** The paths of the sockets; in the driver's folder when left out. */
  readonly csiSocket?: string
  readonly registrationSocket?: string
  /** More nodes of the same storage system, with their sockets. */
  readonly others?: readonly Required<Pick<DriverOptions, 'nodeId' | 'csiSocket' | 'registrationSocket'>>[]
}

/** Bounds the starts of one driver, so that a fault without `times` does not restart it forever. */
const startsMax = 100

export class DriverProcess implements AsyncDisposable {
  readonly folder: string
  readonly csiSocket: string
  readonly registrationSocket: string
  readonly #options: DriverOptions
  #process: ChildProcess | undefined
  #starts = 0
  #isStopped = false
  #ready = Promise.withResolvers<void>()

  constructor(folder: string, options: DriverOptions) {
    this.folder = folder
    this.csiSocket = options.csiSocket ?? join(folder, 'csi.sock')
    this.registrationSocket = options.registrationSocket ?? join(folder, 'registration.sock')
    this.#options = options
    this.#spawn()
  }

  /** Resolves when the current process serves its sockets. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  /** Resolves when the process of this start serves its sockets; the first start is number 1. */
  async started(start: number): Promise<void> {
    while (this.#starts < start && this.#process !== undefined) await once(this.#process, 'close')
    await this.ready
  }

  /** Resolves when a call can reach the process, also if the last one has just ended. */
  async responds(): Promise<void> {
    await until(() => isServed(this.csiSocket))
  }

  /** How often it was started. */
  get starts(): number {
    return this.#starts
  }

  /** Adds faults to those that are not used up. */
  inject(...faults: readonly CallFault[]): void {
    this.#writeFaults([...this.#faults(), ...faults])
  }

  removeFaults(): void {
    this.#writeFaults([])
  }

  calls(): readonly CallRecord[] {
    const path = join(this.folder, 'calls.jsonl')
    if (!existsSync(path)) return []
    const lines = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
    return lines.map((line) => JSON.parse(line) as CallRecord)
  }

  /** The recorded volumes, snapshots and mounts by id or path. */
  records(): { readonly [K in keyof StorageRecords]: readonly (readonly [string, object])[] } {
    const path = join(this.folder, 'records.json')
    if (!existsSync(path)) return { volumes: [], snapshots: [], staged: [], published: [] }
    return JSON.parse(readFileSync(path, 'utf8')) as never
  }

  /** Ends the process; a new one is started. */
  async kill(): Promise<void> {
    const child = this.#process
    if (child === undefined) return
    const next = this.started(this.#starts + 1)
    child.kill('SIGKILL')
    await next
  }

  /** What the driver has left on the machine: mounts of the folder, loop devices of its images, content. */
  async leftovers(): Promise<readonly string[]> {
    const content = ['volumes', 'snapshots'].flatMap((name) => {
      const path = join(this.folder, name)
      return existsSync(path) ? readdirSync(path).map((entry) => join(path, entry)) : []
    })
    const devices = await Promise.all(content.map((path) => loopDevicesOf(path)))
    const mounts = hostMounts().filter(({ path }) => path.startsWith(`${this.folder}/`))
    return [...mounts.map(({ path }) => `mount ${path}`), ...devices.flat().map((name) => `loop ${name}`), ...content]
  }

  /** Stops the process and removes everything that it has left. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    const child = this.#process
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'close')
    }
    for (const left of await this.leftovers()) {
      if (left.startsWith('mount ')) await run('umount', left.slice(6))
      if (left.startsWith('loop ')) await run('losetup', '--detach', left.slice(5)).catch(() => '')
    }
    rmSync(this.folder, { recursive: true, force: true })
  }

  #spawn(): void {
    this.#starts++
    const child = spawn(process.execPath, [program, this.folder, JSON.stringify(this.#options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#process = child
    createInterface({ input: child.stdout }).on('line', (line) => line === 'ready' && this.#ready.resolve())
    child.on('close', () => {
      if (this.#isStopped) return
      if (this.#starts >= startsMax) return this.#ready.reject(new Error(`the driver exited ${startsMax} times`))
      const before = this.#ready
      this.#ready = Promise.withResolvers()
      this.#ready.promise.then(before.resolve, before.reject)
      this.#spawn()
    })
  }

  #faults(): readonly CallFault[] {
    const path = join(this.folder, 'faults.json')
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as CallFault[]) : []
  }

  #writeFaults(faults: readonly CallFault[]): void {
    const path = join(this.folder, 'faults.json')
    writeFileSync(`${path}.test`, JSON.stringify(faults))
    renameSync(`${path}.test`, path)
  }
}

function isServed(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket)
    connection.on('connect', () => resolve(true)).on('error', () => resolve(false))
    connection.on('connect', () => connection.destroy())
  })
}

export async function startCsiDriver(options: DriverOptions = {}): Promise<DriverProcess> {
  const driver = new DriverProcess(mkdtempSync(join(tmpdir(), 'csi-driver-')), options)
  await driver.ready
  return driver
}
