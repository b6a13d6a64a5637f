// The values of etcd's flags.
import { lookup } from '../../base/collections/lookup.ts'
import { hostOfUrl } from '../../base/net/host-port.ts'
import { parseDuration } from '../../schema/scalar/duration.ts'
import type { HistoryBounds } from '../../store/history.ts'
import { UsageError } from '../command/command.ts'

export interface ListenUrl {
  readonly host: string
  readonly port: number
  readonly isEncrypted: boolean
}

const ports: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** A list of http and https URLs without a path, separated by commas. */
export function urlsOf(flag: string, text: string): URL[] {
  return text.split(',').map((part) => {
    const url = URL.parse(part)
    if (
      url === null ||
      lookup(ports, url.protocol) === undefined ||
      url.pathname !== '/' ||
      url.search !== '' ||
      url.username !== ''
    )
      throw new UsageError(`--${flag}: ${JSON.stringify(part)} is not like http://127.0.0.1:2379`)
    return url
  })
}

export function listenUrl(url: URL): ListenUrl {
  const host = hostOfUrl(url)
  return {
    host: host === 'localhost' ? '127.0.0.1' : host,
    port: url.port === '' ? (lookup(ports, url.protocol) ?? 0) : Number(url.port),
    isEncrypted: url.protocol === 'https:',
  }
}

export function positiveInteger(flag: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--${flag} ${text} is not a whole number`)
  return Number(text)
}

export function durationMs(flag: string, text: string): number {
  const parsed = parseDuration(text)
  if (parsed.kind === 'fault') throw new UsageError(`--${flag}: ${parsed.fault}`)
  const ms = Number(parsed.nanos) / 1e6
  if (ms < 0) throw new UsageError(`--${flag} ${text} is negative`)
  return ms
}

export interface KeptHistory {
  readonly ms: number
  readonly bounds: HistoryBounds
}

const unbounded: HistoryBounds = { versionsMax: Infinity, bytesMax: Infinity }

/** The history that --auto-compaction-mode and --auto-compaction-retention keep; by default, all of it. */
export function historyOf(mode: string, retention: string): KeptHistory {
  if (mode !== 'periodic' && mode !== 'revision')
    throw new UsageError(`--auto-compaction-mode ${mode} is none of periodic, revision`)
  if (retention === '0') return { ms: Infinity, bounds: unbounded }
  if (mode === 'revision')
    return {
      ms: Infinity,
      bounds: { ...unbounded, versionsMax: positiveInteger('auto-compaction-retention', retention) },
    }
  // A number counts hours, as in etcd.
  const text = /^\d+$/.test(retention) ? `${retention}h` : retention
  return { ms: durationMs('auto-compaction-retention', text) || Infinity, bounds: unbounded }
}
