// AuditLog: events as lines of JSON in a file that is renamed when it is full; of the renamed ones so many are kept.
import type { Clock } from '../../base/clock.ts'
import { errorText, type Log } from '../../base/log.ts'
import type { Counter } from '../../base/metrics.ts'
import type { AppendFile, Files } from '../../platform/files.ts'
import type { AuditEvent } from './audit-record.ts'
import type { AuditBackend } from './auditor.ts'

export interface AuditLogOptions {
  readonly path: string
  readonly bytesMax: number
  /** How many full files are kept; 0: all. */
  readonly backupsMax: number
  /** How long full files are kept; 0: for ever. */
  readonly ageMsMax: number
}

export interface AuditLogParts {
  readonly files: Files
  readonly clock: Clock
  readonly log: Log
  readonly errors: Counter
}

/** Lines that wait for the disk; a request whose line finds no place waits for nothing and is counted. */
const waitingLinesMax = 10_000

export class AuditLog implements AuditBackend {
  readonly #options: AuditLogOptions
  readonly #parts: AuditLogParts
  #file: AppendFile | undefined
  #waiting: string[] = []
  #writing: Promise<void> = Promise.resolve()
  /** The write that the waiting lines will be part of. */
  #next: Promise<void> | undefined

  constructor(options: AuditLogOptions, parts: AuditLogParts) {
    this.#options = options
    this.#parts = parts
  }

  /** Lines that come while the disk is busy are written together. */
  write(event: AuditEvent): Promise<void> {
    if (this.#waiting.length >= waitingLinesMax) {
      this.#parts.errors.add({ plugin: 'log' })
      return Promise.resolve()
    }
    this.#waiting.push(`${JSON.stringify(event)}\n`)
    if (this.#next === undefined) this.#next = this.#writing = this.#writing.then(() => this.#flush())
    return this.#next
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#file?.close()
    this.#file = undefined
  }

  async #flush(): Promise<void> {
    const lines = this.#waiting
    this.#waiting = []
    this.#next = undefined
    try {
      await this.#append(new TextEncoder().encode(lines.join('')))
    } catch (error) {
      this.#parts.errors.add({ plugin: 'log' }, lines.length)
      this.#parts.log.error('audit events could not be written', { events: lines.length, error: errorText(error) })
    }
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const { path, bytesMax } = this.#options
    this.#file ??= await this.#parts.files.openAppend(path)
    if (this.#file.bytes > 0 && this.#file.bytes + bytes.length > bytesMax) {
      await this.#rotate(this.#file)
      this.#file = await this.#parts.files.openAppend(path)
    }
    await this.#file.append(bytes)
  }

  async #rotate(file: AppendFile): Promise<void> {
    const { files, clock } = this.#parts
    const { path, backupsMax, ageMsMax } = this.#options
    this.#file = undefined
    await file.close()
    const slash = path.lastIndexOf('/') + 1
    const dot = path.lastIndexOf('.')
    const end = dot > slash ? path.slice(dot) : ''
    const start = `${path.slice(slash, path.length - end.length)}-`
    const folder = path.slice(0, slash)
    const stamp = new Date(clock.nowMs()).toISOString().slice(0, 23).replaceAll(':', '-')
    await files.rename(path, `${folder}${start}${stamp}${end}`)
    const old = (await files.list(folder === '' ? '.' : folder))
      .filter((name) => name.startsWith(start) && name.endsWith(end))
      .map((name) => ({ name, ms: stampMs(name.slice(start.length, name.length - end.length)) }))
      .filter(({ ms }) => !Number.isNaN(ms))
      .toSorted((a, b) => b.ms - a.ms)
    const isKept = (ms: number, index: number): boolean =>
      (backupsMax === 0 || index < backupsMax) && (ageMsMax === 0 || clock.nowMs() - ms <= ageMsMax)
    for (const [index, { name, ms }] of old.entries()) if (!isKept(ms, index)) await files.remove(folder + name)
  }
}

/** The time in a full file's name. */
const stampMs = (stamp: string): number =>
  /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}$/.test(stamp)
    ? Date.parse(`${stamp.slice(0, 10)}T${stamp.slice(11).replaceAll('-', ':')}Z`)
    : Number.NaN
