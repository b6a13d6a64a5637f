// AuditLog: writes events as lines of JSON to a file and rotates it when it is full.
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Counter } from '../../base/observability/metrics.ts'
import type { AppendFile, Files } from '../../platform/files.ts'
import { AuditBuffer } from './audit-buffer.ts'
import { auditLine } from './audit-line.ts'
import type { AuditEvent } from './audit-record.ts'
import type { AuditBackend, AuditMode } from './auditor.ts'

export interface AuditLogOptions {
  readonly path: string
  readonly bytesMax: number
  /** Number of rotated files that are kept; 0: all. */
  readonly backupsMax: number
  /** Age up to which rotated files are kept; 0: unlimited. */
  readonly ageMsMax: number
  /** Whether rotated files are compressed. */
  readonly compresses: boolean
  readonly mode: AuditMode
  /** Lines that may wait for the disk; further lines are dropped and counted. */
  readonly bufferMax: number
  /** Longer events are truncated; unlimited if undefined. */
  readonly eventBytesMax?: number | undefined
}

export interface AuditLogDeps {
  readonly files: Files
  readonly clock: Clock
  readonly log: Log
  readonly errors: Counter
}

export class AuditLog implements AuditBackend {
  readonly #options: AuditLogOptions
  readonly #deps: AuditLogDeps
  #file: AppendFile | undefined
  readonly #waiting: AuditBuffer
  #writing: Promise<boolean> = Promise.resolve(true)
  /** The write that will contain the waiting lines. */
  #next: Promise<boolean> | undefined

  constructor(options: AuditLogOptions, deps: AuditLogDeps) {
    this.#options = options
    this.#deps = deps
    this.#waiting = new AuditBuffer(options.bufferMax)
  }

  /** Lines that arrive during a write are written together afterwards. */
  write(event: AuditEvent): Promise<boolean> {
    const { eventBytesMax, mode } = this.#options
    const line = this.#waiting.isFull ? undefined : auditLine(event, eventBytesMax)
    if (line === undefined || !this.#waiting.push(`${line}\n`)) {
      this.#deps.errors.add({ plugin: 'log' })
      return Promise.resolve(false)
    }
    if (this.#next === undefined) this.#next = this.#writing = this.#writing.then(() => this.#flush())
    return mode === 'batch' ? Promise.resolve(true) : this.#next
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#file?.close()
    this.#file = undefined
  }

  async #flush(): Promise<boolean> {
    const lines = this.#waiting.take()
    this.#next = undefined
    try {
      await this.#append(new TextEncoder().encode(lines.join('')))
      return true
    } catch (error) {
      this.#deps.errors.add({ plugin: 'log' }, lines.length)
      this.#deps.log.error('audit events could not be written', { events: lines.length, error: errorText(error) })
      return false
    }
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const { path, bytesMax } = this.#options
    this.#file ??= await this.#deps.files.openAppend(path)
    if (this.#file.bytes > 0 && this.#file.bytes + bytes.length > bytesMax) {
      await this.#rotate(this.#file)
      this.#file = await this.#deps.files.openAppend(path)
    }
    await this.#file.append(bytes)
  }

  async #rotate(file: AppendFile): Promise<void> {
    const { files, clock } = this.#deps
    const { path, backupsMax, ageMsMax } = this.#options
    this.#file = undefined
    await file.close()
    const slash = path.lastIndexOf('/') + 1
    const dot = path.lastIndexOf('.')
    const end = dot > slash ? path.slice(dot) : ''
    const start = `${path.slice(slash, path.length - end.length)}-`
    const directory = path.slice(0, slash)
    const stamp = new Date(clock.nowMs()).toISOString().slice(0, 23).replaceAll(':', '-')
    const full = `${directory}${start}${stamp}${end}`
    await files.rename(path, full)
    if (this.#options.compresses) await compress(files, full)
    const old = (await files.list(directory === '' ? '.' : directory))
      .map((name) => ({ name, plain: name.endsWith(compressedEnd) ? name.slice(0, -compressedEnd.length) : name }))
      .filter(({ plain }) => plain.startsWith(start) && plain.endsWith(end))
      .map(({ name, plain }) => ({ name, ms: stampMs(plain.slice(start.length, plain.length - end.length)) }))
      .filter(({ ms }) => !Number.isNaN(ms))
      .toSorted((a, b) => b.ms - a.ms)
    const isKept = (ms: number, index: number): boolean =>
      (backupsMax === 0 || index < backupsMax) && (ageMsMax === 0 || clock.nowMs() - ms <= ageMsMax)
    for (const [index, { name, ms }] of old.entries()) if (!isKept(ms, index)) await files.remove(directory + name)
  }
}

const compressedEnd = '.gz'

async function compress(files: Files, path: string): Promise<void> {
  const content = await files.read(path)
  if (content === undefined) return
  const packed = new Response(new Blob([new Uint8Array(content)]).stream().pipeThrough(new CompressionStream('gzip')))
  await files.write(path + compressedEnd, await packed.bytes())
  await files.remove(path)
}

/** The time in a rotated file's name. */
const stampMs = (stamp: string): number =>
  /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}$/.test(stamp)
    ? Date.parse(`${stamp.slice(0, 10)}T${stamp.slice(11).replaceAll('-', ':')}Z`)
    : Number.NaN
