// ProbeWorker: repeats one probe of a container and applies its success and failure thresholds.
import type { Clock, Timer } from '../../base/time/clock.ts'
import type { Probe } from '../../api/core/v1/container/probe.ts'
import type { ProbeOutcome } from './probe-check.ts'

export const probeKinds = ['startup', 'liveness', 'readiness'] as const
export type ProbeKind = (typeof probeKinds)[number]

export type ProbeResult = 'open' | 'success' | 'failure'

export interface ProbeWorkerDeps {
  readonly clock: Clock
  readonly spec: Probe
  /** Performs the probe once; rejects when that is not possible. */
  readonly ask: (signal: AbortSignal) => Promise<ProbeOutcome>
  /** Called with every result and its duration. */
  readonly onAnswer: (answer: 'success' | 'failure', tookMs: number) => void
  /** Called with every outcome other than plain success. */
  readonly onProblem: (trouble: ProbeProblem) => void
  readonly onVerdict: (verdict: ProbeResult) => void
}

export type ProbeProblem =
  | Exclude<ProbeOutcome, { kind: 'success' }>
  | { readonly kind: 'error'; readonly message: string }

/** Attempts per probe when it cannot be performed. */
const triesMax = 3

export class ProbeWorker {
  readonly #deps: ProbeWorkerDeps
  readonly #stopped = new AbortController()
  #verdict: ProbeResult
  #timer: Timer | undefined
  /** The last result and how often it has occurred in a row. */
  #last: 'success' | 'failure' | undefined
  #run = 0

  constructor(deps: ProbeWorkerDeps, verdict: ProbeResult) {
    this.#deps = deps
    this.#verdict = verdict
  }

  get verdict(): ProbeResult {
    return this.#verdict
  }

  /** Starts after the delay and repeats every period. */
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
