// ProblemReporter: records warning events about objects when their problems change, and does not repeat them.
import { keyOf, type ApiObject, type ObjectKey } from '../api/meta/object.ts'
import type { Cause } from '../base/observability/flow-recorder.ts'
import type { Log } from '../base/observability/log.ts'
import type { Random } from '../base/random/random.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Client } from '../client/client.ts'
import { EventRecorder } from '../client/events/event-recorder.ts'

export interface Problem {
  readonly reason: string
  readonly message: string
}

/** A port that another program uses, for example. */
export const portProblem = (port: number, why: string): Problem => ({
  reason: 'PortUnavailable',
  message: `port ${port} cannot be opened, it is tried again: ${why}`,
})

export interface ProblemReporterDeps {
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

/** Events about one object at a time; an object may have thousands of problems. */
export const problemsReportedMax = 8

export class ProblemReporter {
  readonly #events: EventRecorder
  /** What was last reported about each object. */
  readonly #reported = new Map<ObjectKey, string>()

  /** `component` is the source of the events. */
  constructor({ client, clock, random, log }: ProblemReporterDeps, component: string) {
    this.#events = new EventRecorder(client, component, { clock, random, log })
  }

  report(object: ApiObject, problems: readonly Problem[], cause: Cause): void {
    const reported = limited(problems)
    const text = reported.map(({ message }) => message).join('\n')
    if ((this.#reported.get(keyOf(object)) ?? '') === text) return
    this.#reported.set(keyOf(object), text)
    for (const { reason, message } of reported)
      this.#events.record(object, { type: 'Warning', reason, message }, { cause })
  }

  forget(key: ObjectKey): void {
    this.#reported.delete(key)
  }

  /** Forgets all other objects. */
  retain(objects: readonly ApiObject[]): void {
    const keys = new Set(objects.map(keyOf))
    for (const key of this.#reported.keys()) if (!keys.has(key)) this.#reported.delete(key)
  }

  /** Writes the events until the signal is aborted. */
  run(signal: AbortSignal): Promise<void> {
    return this.#events.run(signal)
  }
}

const limited = (problems: readonly Problem[]): readonly Problem[] => {
  const left = problems.length - problemsReportedMax
  const next = problems[problemsReportedMax]
  if (next === undefined) return problems
  return [...problems.slice(0, problemsReportedMax), { reason: next.reason, message: `and ${left} more problems` }]
}
