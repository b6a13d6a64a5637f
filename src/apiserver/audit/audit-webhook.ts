// AuditWebhook: events posted as EventLists, many at a time. What does not fit into its buffer is dropped and counted.
import { errorText, type Log } from '../../base/log.ts'
import type { Counter } from '../../base/metrics.ts'
import type { Timer } from '../../base/clock.ts'
import { exchangeText, isGood, type JsonServer } from '../outbound-json.ts'
import type { AuditEvent } from './audit-record.ts'
import type { AuditBackend } from './auditor.ts'

export interface AuditWebhookOptions {
  /** Events that wait; more are dropped. */
  readonly bufferMax: number
  /** Events of one post. */
  readonly batchMax: number
  /** How long an event waits for others to go with it. */
  readonly waitMs: number
  readonly backoffMs: number
}

export interface AuditWebhookParts {
  readonly server: JsonServer
  readonly target: string
  readonly log: Log
  readonly errors: Counter
}

const triesMax = 5
const backoffFactor = 1.5

export class AuditWebhook implements AuditBackend {
  readonly #options: AuditWebhookOptions
  readonly #parts: AuditWebhookParts
  readonly #end = new AbortController()
  #waiting: AuditEvent[] = []
  #timer: Timer | undefined
  #sending: Promise<void> | undefined

  constructor(options: AuditWebhookOptions, parts: AuditWebhookParts) {
    this.#options = options
    this.#parts = parts
  }

  /** Nobody waits for the other server. */
  write(event: AuditEvent): Promise<void> {
    const { bufferMax, batchMax, waitMs } = this.#options
    if (this.#waiting.length >= bufferMax) this.#parts.errors.add({ plugin: 'webhook' })
    else this.#waiting.push(event)
    if (this.#waiting.length >= batchMax) this.#send()
    else this.#timer ??= this.#parts.server.clock.after(waitMs, () => this.#send())
    return Promise.resolve()
  }

  /** What waits is sent once more, without a second try. */
  async close(): Promise<void> {
    this.#end.abort(new Error('the server ends'))
    await this.#sending
    this.#timer?.cancel()
    while (this.#waiting.length > 0) await this.#post(this.#batch(), new AbortController().signal)
  }

  #batch(): readonly AuditEvent[] {
    return this.#waiting.splice(0, this.#options.batchMax)
  }

  #send(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined))
  }

  /** Full batches follow one another; what is left over waits for its timer. */
  async #sendAll(): Promise<void> {
    const { batchMax, waitMs } = this.#options
    do await this.#post(this.#batch(), this.#end.signal)
    while (this.#waiting.length >= batchMax && !this.#end.signal.aborted)
    if (this.#waiting.length > 0) this.#timer ??= this.#parts.server.clock.after(waitMs, () => this.#send())
  }

  async #post(events: readonly AuditEvent[], signal: AbortSignal): Promise<void> {
    const { server, target, log, errors } = this.#parts
    const body = JSON.stringify({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items: events })
    const request = { method: 'POST', target, headers: { 'content-type': 'application/json' }, body }
    for (let tries = 1; ; tries++) {
      const problem = await exchangeText(server, request, new AbortController().signal).then(
        ({ status }) => (isGood(status) ? undefined : { text: `status ${status}`, again: isBusy(status) }),
        (error: unknown) => ({ text: errorText(error), again: true }),
      )
      if (problem === undefined) return
      if (problem.again && tries < triesMax && !signal.aborted) {
        const pauseMs = this.#options.backoffMs * backoffFactor ** (tries - 1)
        await server.clock.sleep(pauseMs, signal).catch(() => {}) // the end is seen at the next turn
        continue
      }
      errors.add({ plugin: 'webhook' }, events.length)
      log.error('audit events could not be sent', { events: events.length, error: problem.text })
      return
    }
  }
}

const isBusy = (status: number): boolean => status === 429 || status >= 500
