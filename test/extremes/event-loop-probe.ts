// EventLoopProbe: asks a server for /readyz again and again, and measures how long it waits. The machine may be busy with
// other work, so an answer counts as late only if the server's main thread computed for that long in the meantime.
import { readFileSync } from 'node:fs'
import { realClock } from '../../src/base/time/clock.ts'
import { rawCalls } from '../flows/raw-calls.ts'

const probeEveryMs = 50

export interface LateAnswer {
  /** What the test did when the probe was sent. */
  readonly during: string
  readonly waitedMs: number
  /** The time for which the main thread computed while the probe waited. */
  readonly busyMs: number
}

export class EventLoopProbe implements AsyncDisposable {
  readonly #pid: number
  readonly #calls: ReturnType<typeof rawCalls>
  readonly #over = new AbortController()
  readonly #done: Promise<void>
  /** Answers that took longer than the bound, and everything that was no answer. */
  readonly late: LateAnswer[] = []
  readonly failures: string[] = []
  longestBusyMs = 0
  answers = 0
  onLate: (late: LateAnswer) => void = () => {}
  /** Named in late answers. */
  during = 'start'

  constructor(pid: number, kubeconfig: string, busyMsMax: number) {
    this.#pid = pid
    this.#calls = rawCalls(kubeconfig)
    this.#done = this.#run(busyMsMax)
  }

  async #run(busyMsMax: number): Promise<void> {
    const { signal } = this.#over
    for (; !signal.aborted; await realClock.sleep(probeEveryMs, signal).catch(() => {})) {
      const during = this.during
      const sinceMs = realClock.monotonicMs()
      const busyBeforeMs = mainThreadMs(this.#pid)
      try {
        const { status, body } = await this.#calls.call('GET', '/readyz')
        if (status !== 200) this.failures.push(`${during}: ${status} ${String(body)}`)
        this.answers++
        const busyMs = mainThreadMs(this.#pid) - busyBeforeMs
        this.longestBusyMs = Math.max(this.longestBusyMs, busyMs)
        if (busyMs <= busyMsMax) continue
        const late = { during, waitedMs: realClock.monotonicMs() - sinceMs, busyMs }
        this.late.push(late)
        this.onLate(late)
      } catch (error) {
        if (!signal.aborted) this.failures.push(`${during}: ${String(error)}`)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort()
    await this.#calls[Symbol.asyncDispose]()
    await this.#done
  }
}

const ticksPerSecond = 100

/** The processor time of a process' main thread. */
function mainThreadMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return ((Number(user) + Number(system)) * 1000) / ticksPerSecond
}
