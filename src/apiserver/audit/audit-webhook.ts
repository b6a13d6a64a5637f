// AuditWebhook: posts events as EventLists in batches. Events that do not fit into its buffer are dropped and counted.
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Counter } from '../../base/observability/metrics.ts'
import type { Timer } from '../../base/time/clock.ts'
import { exchangeText, isSuccess, type JsonServer } from '../outbound/outbound-json.ts'
import { AuditBuffer } from './audit-buffer.ts'
import { auditLine } from './audit-line.ts'
import type { AuditEvent } from './audit-record.ts'
import type { AuditBackend, AuditMode } from './auditor.ts'

export interface AuditWebhookOptions {
  /** Events that may wait; further events are dropped. Their characters are limited as well (AuditBuffer). */
  readonly bufferMax: number
  /** Events in one post. */
  readonly batchMax: number
  /** How long an event waits for others to be posted with it. */
  readonly waitMs: number
  readonly backoffMs: number
  readonly mode: AuditMode
  /** Limits of an event, which is truncated, and of a post; unlimited if undefined. */
  readonly truncation?: { readonly eventBytesMax: number; readonly batchBytesMax: number } | undefined
}

export interface AuditWebhookDeps {
  readonly server: JsonServer
  readonly target: string
  readonly log: Log
  readonly errors: Counter
}

const triesMax = 5
const backoffFactor = 1.5

export class AuditWebhook implements AuditBackend {
  readonly #options: AuditWebhookOptions
  readonly #deps: AuditWebhookDeps
  readonly #end = new AbortController()
  /** As JSON, because the size of a batch is limited in bytes. */
  readonly #waiting: AuditBuffer
  #timer: Timer | undefined
  #sending: Promise<void> | undefined

  constructor(options: AuditWebhookOptions, deps: AuditWebhookDeps) {
    this.#options = options
    this.#deps = deps
    this.#waiting = new AuditBuffer(options.bufferMax)
  }

  /** In batch mode the request does not wait for the webhook. */
  write(event: AuditEvent): Promise<boolean> {
    const { batchMax, waitMs, mode, truncation } = this.#options
    const line = auditLine(event, truncation?.eventBytesMax)
    if (line !== undefined && mode !== 'batch') return this.#post([line], this.#end.signal)
    if (line === undefined || !this.#waiting.push(line)) {
      this.#deps.errors.add({ plugin: 'webhook' })
      return Promise.resolve(false)
    }
    if (this.#waiting.size >= batchMax) this.#send()
    else this.#timer ??= this.#deps.server.clock.after(waitMs, () => this.#send())
    return Promise.resolve(true)
  }

  /** Posts the waiting events, without retries. */
  async close(): Promise<void> {
    this.#end.abort(new Error('the server ends'))
    await this.#sending
    this.#timer?.cancel()
    while (this.#waiting.size > 0) await this.#post(this.#batch(), new AbortController().signal)
  }

  #batch(): readonly string[] {
    const { batchMax, truncation } = this.#options
    return this.#waiting.take(batchMax, truncation?.batchBytesMax)
  }

  #send(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined))
  }

  /** Posts full batches one after the other; the rest waits for its timer. */
  async #sendAll(): Promise<void> {
    const { batchMax, waitMs } = this.#options
    do await this.#post(this.#batch(), this.#end.signal)
    while (this.#waiting.size >= batchMax && !this.#end.signal.aborted)
    if (this.#waiting.size > 0) this.#timer ??= this.#deps.server.clock.after(waitMs, () => this.#send())
  }

  /** Whether the webhook accepted the events. */
  async #post(lines: readonly string[], signal: AbortSignal): Promise<boolean> {
    const { server, target, log, errors } = this.#deps
    const body = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${lines.join()}]}`
    const request = { method: 'POST', target, headers: { 'content-type': 'application/json' }, body }
    for (let tries = 1; ; tries++) {
      const problem = await exchangeText(server, request, new AbortController().signal).then(
        ({ status }) => (isSuccess(status) ? undefined : { text: `status ${status}`, again: isBusy(status) }),
        (error: unknown) => ({ text: errorText(error), again: true }),
      )
      if (problem === undefined) return true
      if (problem.again && tries < triesMax && !signal.aborted) {
        const pauseMs = this.#options.backoffMs * backoffFactor ** (tries - 1)
        await server.clock.sleep(pauseMs, signal).catch(() => {}) // the next iteration checks the signal
        continue
      }
      errors.add({ plugin: 'webhook' }, lines.length)
      log.error('audit events could not be sent', { events: lines.length, error: problem.text })
      return false
    }
  }
}

const isBusy = (status: number): boolean => status === 429 || status >= 500
