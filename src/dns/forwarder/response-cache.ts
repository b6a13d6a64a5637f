// ResponseCache: responses of upstream servers until their times to live end, bounded in entries and in bytes. Responses
// without records are cached as long as the SOA record of their zone allows (RFC 2308).
import type { Clock } from '../../base/time/clock.ts'
import { responseCode } from '../message/header.ts'
import type { ResourceRecord } from '../message/record.ts'

export interface Resolution {
  readonly code: number
  readonly answers: readonly ResourceRecord[]
  readonly authority: readonly ResourceRecord[]
  readonly additional: readonly ResourceRecord[]
}

export interface CacheLimits {
  readonly entriesMax: number
  readonly bytesMax: number
}

export const cacheLimitsDefault: CacheLimits = { entriesMax: 20_000, bytesMax: 16 << 20 }

const successSecondsMax = 3_600
const denialSecondsMax = 1_800

interface Entry {
  readonly resolution: Resolution
  readonly storedMs: number
  readonly untilMs: number
  readonly bytes: number
}

export class ResponseCache {
  readonly #clock: Clock
  readonly #limits: CacheLimits
  /** The least recently used entry is the first. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  constructor(clock: Clock, limits: CacheLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  get size(): number {
    return this.#entries.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Times to live are reduced by the time since the response arrived. */
  get(key: string): Resolution | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const nowMs = this.#clock.monotonicMs()
    this.#remove(key, entry)
    if (entry.untilMs <= nowMs) return undefined
    this.#add(key, entry)
    return aged(entry.resolution, Math.floor((nowMs - entry.storedMs) / 1000))
  }

  set(key: string, resolution: Resolution): void {
    const old = this.#entries.get(key)
    if (old !== undefined) this.#remove(key, old)
    const seconds = secondsToKeep(resolution)
    const bytes = approximateBytes(key, resolution)
    if (seconds <= 0 || bytes > this.#limits.bytesMax) return
    const storedMs = this.#clock.monotonicMs()
    this.#add(key, { resolution, storedMs, untilMs: storedMs + seconds * 1000, bytes })
    for (const [first, entry] of this.#entries) {
      if (this.#entries.size <= this.#limits.entriesMax && this.#bytes <= this.#limits.bytesMax) break
      this.#remove(first, entry)
    }
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry)
    this.#bytes += entry.bytes
  }

  #remove(key: string, { bytes }: Entry): void {
    this.#entries.delete(key)
    this.#bytes -= bytes
  }
}

function aged({ code, answers, authority, additional }: Resolution, seconds: number): Resolution {
  const older = (records: readonly ResourceRecord[]) =>
    seconds === 0
      ? records
      : records.map((record) => ({ ...record, ttlSeconds: Math.max(0, record.ttlSeconds - seconds) }))
  return { code, answers: older(answers), authority: older(authority), additional: older(additional) }
}

/** 0 for what must not be cached. */
export function secondsToKeep({ code, answers, authority }: Resolution): number {
  const isDenial = code === responseCode.nameError || (code === responseCode.noError && answers.length === 0)
  if (!isDenial && code !== responseCode.noError) return 0
  const times = answers.map(({ ttlSeconds }) => ttlSeconds)
  if (!isDenial) return Math.min(successSecondsMax, ...times)
  const soa = authority.find(({ data }) => data.kind === 'authority')
  if (soa?.data.kind !== 'authority') return 0
  return Math.min(denialSecondsMax, soa.ttlSeconds, soa.data.minimumSeconds, ...times)
}

const entryBytes = 300
const recordBytes = 150

/** What an entry occupies in memory, roughly. */
function approximateBytes(key: string, { answers, authority, additional }: Resolution): number {
  const sum = (records: readonly ResourceRecord[]) =>
    records.reduce(
      (total, { name, data }) => total + recordBytes + name.length + (data.kind === 'opaque' ? data.bytes.length : 0),
      0,
    )
  return entryBytes + key.length + sum(answers) + sum(authority) + sum(additional)
}
