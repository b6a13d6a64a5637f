// ProbeWorker: asks one container again and again by one of its probes, and decides when enough answers agree.
import type { Clock, Timer } from '../../base/clock.ts'
import type { Probe } from '../../api/core/v1/probe.ts'
import type { CheckResult } from './check.ts'

export const probeKinds = ['startup', 'liveness', 'readiness'] as const
export type ProbeKind = (typeof probeKinds)[number]

export type Verdict = 'open' | 'success' | 'failure'

export interface ProbeWorkerParts {
  readonly clock: Clock
  readonly spec: Probe
  /** Asks once; rejects when it cannot be asked. */
  readonly ask: (signal: AbortSignal) => Promise<CheckResult>
  /** Hears of every answer, and how long it took. */
  readonly onAnswer: (answer: 'success' | 'failure', tookMs: number) => void
  /** Hears of every answer that is no plain success. */
  readonly onTrouble: (trouble: Trouble) => void
  readonly onVerdict: (verdict: Verdict) => void
}

export type Trouble = Exclude<CheckResult, { kind: 'success' }> | { readonly kind: 'error'; readonly message: string }

/** How often one question is put again when it could not be put at all. */
const triesMax = 3

export class ProbeWorker {
  readonly #parts: ProbeWorkerParts
  readonly #stopped = new AbortController()
  #verdict: Verdict
  #timer: Timer | undefined
  /** How many of the last answers were the same. */
  #last: 'success' | 'failure' | undefined
  #run = 0

  constructor(parts: ProbeWorkerParts, verdict: Verdict) {
    this.#parts = parts
    this.#verdict = verdict
  }

  get verdict(): Verdict {
    return this.#verdict
  }

  /** Begins after a while; asks every period from then on. */
  start(delayMs: number): void {
    this.#timer = this.#parts.clock.after(delayMs, () => void this.#tick())
  }

  stop(): void {
    this.#timer?.cancel()
    this.#stopped.abort()
  }

  async #tick(): Promise<void> {
    const { clock, spec, onAnswer } = this.#parts
    const beganMs = clock.monotonicMs()
    const answer = await this.#ask()
    if (this.#stopped.signal.aborted) return
    if (answer !== undefined) {
      onAnswer(answer, clock.monotonicMs() - beganMs)
      this.#count(answer)
    }
    if (this.#stopped.signal.aborted) return
    const takenMs = clock.monotonicMs() - beganMs
    this.start(Math.max(0, spec.periodSeconds * 1000 - takenMs))
  }

  async #ask(): Promise<'success' | 'failure' | undefined> {
    const { ask, onTrouble } = this.#parts
    const { signal } = this.#stopped
    let message = ''
    for (let tries = 0; tries < triesMax; tries++) {
      try {
        const result = await ask(signal)
        if (signal.aborted) return undefined
        if (result.kind !== 'success') onTrouble(result)
        return result.kind === 'failure' ? 'failure' : 'success'
      } catch (error) {
        if (signal.aborted) return undefined
        message = (error as Error).message
      }
    }
    onTrouble({ kind: 'error', message })
    return undefined
  }

  #count(answer: 'success' | 'failure'): void {
    const { spec, onVerdict } = this.#parts
    this.#run = answer === this.#last ? this.#run + 1 : 1
    this.#last = answer
    const threshold = answer === 'success' ? spec.successThreshold : spec.failureThreshold
    if (this.#run < threshold || this.#verdict === answer) return
    this.#verdict = answer
    onVerdict(answer)
  }
}
