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
  readonly check: (signal: AbortSignal) => Promise<ProbeOutcome>
  /** Called with every result and its duration. */
  readonly onResult: (outcome: 'success' | 'failure', tookMs: number) => void
  /** Called with every outcome other than plain success. */
  readonly onProblem: (trouble: ProbeProblem) => void
  readonly onResultChange: (result: ProbeResult) => void
}

export type ProbeProblem =
  | Exclude<ProbeOutcome, { kind: 'success' }>
  | { readonly kind: 'error'; readonly message: string }

/** Attempts per probe when it cannot be performed. */
const triesMax = 3

export class ProbeWorker {
  readonly #deps: ProbeWorkerDeps
  readonly #stopped = new AbortController()
  #result: ProbeResult
  #timer: Timer | undefined
  /** The last result and how often it has occurred in a row. */
  #lastResult: 'success' | 'failure' | undefined
  #runLength = 0

  constructor(deps: ProbeWorkerDeps, result: ProbeResult) {
    this.#deps = deps
    this.#result = result
  }

  get result(): ProbeResult {
    return this.#result
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
    const { clock, spec, onResult } = this.#deps
    const beganMs = clock.monotonicMs()
    const outcome = await this.#check()
    if (this.#stopped.signal.aborted) return
    if (outcome !== undefined) {
      onResult(outcome, clock.monotonicMs() - beganMs)
      this.#applyThreshold(outcome)
    }
    if (this.#stopped.signal.aborted) return
    const takenMs = clock.monotonicMs() - beganMs
    this.start(Math.max(0, spec.periodSeconds * 1000 - takenMs))
  }

  async #check(): Promise<'success' | 'failure' | undefined> {
    const { check, onProblem } = this.#deps
    const { signal } = this.#stopped
    let message = ''
    for (let tries = 0; tries < triesMax; tries++) {
      try {
        const result = await check(signal)
        if (signal.aborted) return undefined
        if (result.kind !== 'success') onProblem(result)
        return result.kind === 'failure' ? 'failure' : 'success'
      } catch (error) {
        if (signal.aborted) return undefined
        message = (error as Error).message
      }
    }
    onProblem({ kind: 'error', message })
    return undefined
  }

  #applyThreshold(outcome: 'success' | 'failure'): void {
    const { spec, onResultChange } = this.#deps
    this.#runLength = outcome === this.#lastResult ? this.#runLength + 1 : 1
    this.#lastResult = outcome
    const threshold = outcome === 'success' ? spec.successThreshold : spec.failureThreshold
    if (this.#runLength < threshold || this.#result === outcome) return
    this.#result = outcome
    onResultChange(outcome)
  }
}
