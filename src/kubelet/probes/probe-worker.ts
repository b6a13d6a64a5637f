// ProbeWorker: asks one container again and again by one of its probes, and decides when enough answers agree.
import type { Clock, Timer } from '../../base/time/clock.ts'
import type { Probe } from '../../api/core/v1/container/probe.ts'
import type { ProbeOutcome } from './probe-check.ts'

export const probeKinds = ['startup', 'liveness', 'readiness'] as const
export type ProbeKind = (typeof probeKinds)[number]

export type ProbeResult = 'open' | 'success' | 'failure'

export interface ProbeWorkerDeps {
  readonly clock: Clock
  readonly spec: Probe
  /** Asks once; rejects when it cannot be asked. */
  readonly ask: (signal: AbortSignal) => Promise<ProbeOutcome>
  /** Hears of every answer, and how long it took. */
  readonly onAnswer: (answer: 'success' | 'failure', tookMs: number) => void
  /** Hears of every answer that is no plain success. */
  readonly onProblem: (trouble: ProbeProblem) => void
  readonly onVerdict: (verdict: ProbeResult) => void
}

export type ProbeProblem =
  | Exclude<ProbeOutcome, { kind: 'success' }>
  | { readonly kind: 'error'; readonly message: string }

/** How often one question is put again when it could not be put at all. */
const triesMax = 3

export class ProbeWorker {
  readonly #deps: ProbeWorkerDeps
  readonly #stopped = new AbortController()
  #verdict: ProbeResult
  #timer: Timer | undefined
  /** How many of the last answers were the same. */
  #last: 'success' | 'failure' | undefined
  #run = 0

  constructor(deps: ProbeWorkerDeps, verdict: ProbeResult) {
    this.#deps = deps
    this.#verdict = verdict
  }

  get verdict(): ProbeResult {
    return this.#verdict
  }

  /** Begins after a while; asks every period from then on. */
  start(delayMs: number): void {
    this.#timer = this.#deps.clock.after(delayMs, () => void this.#tick())
  }

  stop(): void {
    this.#timer?.cancel()
    this.#stopped.abort()
  }

  async #tick(): Promise<void> {
    const { clock, spec, onAnswer } = this.#deps
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
    const { ask, onProblem: onTrouble } = this.#deps
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
    const { spec, onVerdict } = this.#deps
    this.#run = answer === this.#last ? this.#run + 1 : 1
    this.#last = answer
    const threshold = answer === 'success' ? spec.successThreshold : spec.failureThreshold
    if (this.#run < threshold || this.#verdict === answer) return
    this.#verdict = answer
    onVerdict(answer)
  }
}
