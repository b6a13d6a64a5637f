// AdmissionChain: runs the plugins in order. The plugins that handle a kind, operation and subresource are selected once.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { MaybePromise } from '../../../base/async/maybe-promise.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { AdmissionMetrics, AdmissionTimer } from '../../metrics/admission-metrics.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPlugin } from './admission-plugin.ts'
import { Reservations, type Reservation } from './reservation.ts'

interface Measured<T> {
  readonly act: T
  readonly timer: AdmissionTimer
}

interface Concerned {
  readonly admitting: readonly Measured<Admit>[]
  readonly validating: readonly Measured<Validate>[]
  readonly reserving: readonly AdmissionPlugin[]
  readonly admitTimer: AdmissionTimer
  readonly validateTimer: AdmissionTimer
}

type Admit = NonNullable<AdmissionPlugin['admit']>
type Validate = NonNullable<AdmissionPlugin['validate']>

export interface AdmissionChainMeasures {
  readonly clock: Clock
  readonly metrics: AdmissionMetrics
}

export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]
  readonly host: AdmissionHost
  readonly #measures: AdmissionChainMeasures
  readonly #reservations = new Reservations()
  /** By kind, operation and subresource. */
  readonly #concerned = new WeakMap<Kind, Map<string, Map<string, Concerned>>>()

  constructor(plugins: readonly AdmissionPlugin[], host: AdmissionHost, measures: AdmissionChainMeasures) {
    this.#plugins = plugins
    this.host = host
    this.#measures = measures
  }

  /** Returns the object as the mutating plugins changed it. */
  admit(attributes: AdmissionAttributes): MaybePromise<ApiObject | undefined> {
    const { admitting, admitTimer } = this.#of(attributes)
    const startMs = this.#measures.clock.monotonicMs()
    try {
      const admitted = this.#admitFrom(0, startMs, admitting, attributes)
      return this.#ended(admitted, admitTimer, startMs)
    } catch (error) {
      throw this.#rejected(error, admitTimer, startMs)
    }
  }

  #admitFrom(
    first: number,
    firstMs: number,
    plugins: Concerned['admitting'],
    attributes: AdmissionAttributes,
  ): MaybePromise<ApiObject | undefined> {
    const { clock } = this.#measures
    for (let at = first, current = attributes, startMs = firstMs; ; at++) {
      const plugin = plugins[at]
      if (plugin === undefined)
        return current.reinvocation.startNextRound() ? this.#admitFrom(0, startMs, plugins, current) : current.object
      const { act, timer } = plugin
      let admitted: ReturnType<Admit>
      try {
        admitted = act(current, this.host)
      } catch (error) {
        throw this.#rejected(error, timer, startMs)
      }
      if (admitted instanceof Promise)
        return this.#ended(admitted, timer, startMs).then((object) =>
          this.#admitFrom(at + 1, clock.monotonicMs(), plugins, { ...current, object }),
        )
      if (admitted !== current.object) current = { ...current, object: admitted }
      startMs = this.#accepted(timer, startMs)
    }
  }

  validate(attributes: AdmissionAttributes): MaybePromise<void> {
    const { validating, validateTimer } = this.#of(attributes)
    const startMs = this.#measures.clock.monotonicMs()
    try {
      return this.#ended(this.#validateFrom(0, startMs, validating, attributes), validateTimer, startMs)
    } catch (error) {
      throw this.#rejected(error, validateTimer, startMs)
    }
  }

  #validateFrom(
    first: number,
    firstMs: number,
    plugins: Concerned['validating'],
    attributes: AdmissionAttributes,
  ): MaybePromise<void> {
    const { clock } = this.#measures
    let startMs = firstMs
    for (let at = first; at < plugins.length; at++) {
      const { act, timer } = plugins[at] as Measured<Validate>
      let verdict: MaybePromise<void>
      try {
        verdict = act(attributes, this.host)
      } catch (error) {
        throw this.#rejected(error, timer, startMs)
      }
      if (verdict instanceof Promise)
        return this.#ended(verdict, timer, startMs).then(() =>
          this.#validateFrom(at + 1, clock.monotonicMs(), plugins, attributes),
        )
      startMs = this.#accepted(timer, startMs)
    }
  }

  /** Returns the time, at which the next plugin starts. */
  #accepted(timer: AdmissionTimer, startMs: number): number {
    const nowMs = this.#measures.clock.monotonicMs()
    timer(false, (nowMs - startMs) / 1000)
    return nowMs
  }

  #rejected(error: unknown, timer: AdmissionTimer, startMs: number): unknown {
    timer(true, (this.#measures.clock.monotonicMs() - startMs) / 1000)
    return error
  }

  /** Records the duration of a step, when its result is known. */
  #ended<R extends MaybePromise<unknown>>(result: R, timer: AdmissionTimer, startMs: number): R {
    if (!(result instanceof Promise)) {
      this.#accepted(timer, startMs)
      return result
    }
    return result.then(
      (value: unknown) => {
        this.#accepted(timer, startMs)
        return value
      },
      (error: unknown) => {
        throw this.#rejected(error, timer, startMs)
      },
    ) as R
  }

  /** Commits a write together with the reservations of the plugins. */
  reserving<T>(attributes: AdmissionAttributes, commit: (reserved: readonly Reservation[]) => Promise<T>): Promise<T> {
    const { reserving } = this.#of(attributes)
    if (reserving.length === 0) return commit([])
    const startReservations = () =>
      reserving.map((plugin) => plugin.reserve?.(attributes, this.host)).filter((each) => each !== undefined)
    let pending: ReturnType<typeof startReservations> | undefined = startReservations()
    // Most namespaces have no quota. Their writes are committed synchronously.
    if (pending.length === 0) return commit([])
    const reserve = async () => {
      const answers = pending ?? startReservations()
      pending = undefined
      return (await Promise.all(answers)).flat()
    }
    return this.#reservations.write(attributes.namespace, reserve, commit)
  }

  #of({ kind, operation, subresource }: AdmissionAttributes): Concerned {
    const known = this.#concerned.get(kind)?.get(operation)?.get(subresource)
    if (known !== undefined) return known
    const { metrics } = this.#measures
    const plugins = this.#plugins.filter((plugin) => isConcerned(plugin, kind, operation, subresource))
    const found = {
      admitting: plugins.flatMap(({ name, admit }) =>
        admit === undefined ? [] : [{ act: admit, timer: metrics.pluginTimer(name, operation, 'admit') }],
      ),
      validating: plugins.flatMap(({ name, validate }) =>
        validate === undefined ? [] : [{ act: validate, timer: metrics.pluginTimer(name, operation, 'validate') }],
      ),
      reserving: plugins.filter(({ reserve }) => reserve !== undefined),
      admitTimer: metrics.stepTimer(operation, 'admit'),
      validateTimer: metrics.stepTimer(operation, 'validate'),
    }
    const byOperation = getOrInsert(this.#concerned, kind, () => new Map<string, Map<string, Concerned>>())
    getOrInsert(byOperation, operation, () => new Map<string, Concerned>()).set(subresource, found)
    return found
  }
}

function isConcerned(
  { handles: { operations, kinds, subresources = [''] } }: AdmissionPlugin,
  kind: Kind,
  operation: AdmissionAttributes['operation'],
  subresource: string,
): boolean {
  if (!operations.includes(operation) || (kinds !== undefined && !kinds.includes(kind))) return false
  return subresources === 'all' || subresources.includes(subresource)
}
