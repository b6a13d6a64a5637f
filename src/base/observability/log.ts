// Structured log: one line per entry, as text in a terminal and as JSON otherwise. Log once, at the boundary, with
// fields.
import { setOwn } from '../collections/lookup.ts'
import type { Clock } from '../time/clock.ts'

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]
export type LogFields = Readonly<Record<string, unknown>>

export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A log that adds these fields to every entry. */
  with(fields: LogFields): Log
}

export interface LogOptions {
  readonly clock: Clock
  readonly write: (line: string) => void
  readonly format: 'text' | 'json'
  readonly level?: LogLevel
}

export function createLog(options: LogOptions, bound: LogFields = {}): Log {
  const threshold = logLevels.indexOf(options.level ?? 'info')
  const formatted = options.format === 'json' ? jsonLine : textLine
  const at = (level: LogLevel) =>
    logLevels.indexOf(level) < threshold
      ? () => {}
      : (message: string, fields: LogFields = {}) =>
          options.write(formatted(options.clock.nowMs(), level, message, { ...bound, ...fields }))
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => createLog(options, { ...bound, ...fields }),
  }
}

export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLog,
}

/** Longer texts are cut off: clients choose names and paths that are logged. */
export const logTextCharsMax = 8_192

/** The text of a string or an error; other values as they are. */
function bounded(value: unknown): unknown {
  const text = value instanceof Error ? errorText(value) : value
  return typeof text === 'string' && text.length > logTextCharsMax ? `${text.slice(0, logTextCharsMax - 1)}…` : text
}

function jsonLine(atMs: number, level: LogLevel, message: string, fields: LogFields): string {
  const entry: Record<string, unknown> = { time: new Date(atMs).toISOString(), level, message }
  for (const [name, value] of Object.entries(fields)) setOwn(entry, name, bounded(value))
  return `${JSON.stringify(entry, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}\n`
}

function textLine(atMs: number, level: LogLevel, message: string, fields: LogFields): string {
  const tail = Object.entries(fields).map(([name, value]) =>
    // As in JSON.
    value === undefined
      ? ''
      : ` ${name}=${value instanceof Error ? JSON.stringify(bounded(value)) : textValue(bounded(value))}`,
  )
  const label = level === 'info' ? '' : `${level.toUpperCase()} `
  return `${new Date(atMs).toISOString().slice(11, 23)} ${label}${message}${tail.join('')}\n`
}

function textValue(value: unknown): string {
  if (typeof value === 'string') return /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The message of an error and of its causes, without repetition. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause === undefined) return error.message
  const why = errorText(error.cause)
  return error.message.includes(why) ? error.message : `${error.message}: ${why}`
}
