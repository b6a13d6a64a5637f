// AdmissionChain: runs the plugins in order. The plugins that handle a kind, operation and subresource are selected once.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { MaybePromise } from '../../../base/async/maybe-promise.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { AdmissionMetrics, AdmissionTimer } from '../../metrics/admission-metrics.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPlugin } from './admission-plugin.ts'
import { Reservations, type Reservation } from './reservation.ts'

interface Concerned {
  readonly admitting: readonly Admit[]
  readonly validating: readonly Validate[]
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
  readonly #concerned = new Map<Kind, Map<string, Map<string, Concerned>>>()

  constructor(plugins: readonly AdmissionPlugin[], host: AdmissionHost, measures: AdmissionChainMeasures) {
    this.#plugins = plugins
    this.host = host
    this.#measures = measures
  }

  /** Returns the object as the mutating plugins changed it. */
  admit(attributes: AdmissionAttributes): MaybePromise<ApiObject | undefined> {
    const { admitting, admitTimer } = this.#of(attributes)
    return timed(this.#measures.clock, admitTimer, () => this.#admitFrom(0, admitting, attributes))
  }

  #admitFrom(
    first: number,
    plugins: readonly Admit[],
    attributes: AdmissionAttributes,
  ): MaybePromise<ApiObject | undefined> {
    for (let at = first, current = attributes; ; at++) {
      const plugin = plugins[at]
      if (plugin === undefined)
        return current.reinvocation.startNextRound() ? this.#admitFrom(0, plugins, current) : current.object
      const admitted = plugin(current, this.host)
      if (admitted instanceof Promise)
        return admitted.then((object) => this.#admitFrom(at + 1, plugins, { ...current, object }))
      if (admitted !== current.object) current = { ...current, object: admitted }
    }
  }

  validate(attributes: AdmissionAttributes): MaybePromise<void> {
    const { validating, validateTimer } = this.#of(attributes)
    return timed(this.#measures.clock, validateTimer, () => this.#validateFrom(0, validating, attributes))
  }

  #validateFrom(first: number, plugins: readonly Validate[], attributes: AdmissionAttributes): MaybePromise<void> {
    for (let at = first; at < plugins.length; at++) {
      const verdict = plugins[at]?.(attributes, this.host)
      if (verdict instanceof Promise) return verdict.then(() => this.#validateFrom(at + 1, plugins, attributes))
    }
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
    const { clock, metrics } = this.#measures
    const plugins = this.#plugins.filter((plugin) => isConcerned(plugin, kind, operation, subresource))
    const found = {
      admitting: plugins.flatMap(({ name, admit }) =>
        admit === undefined ? [] : [measured<Admit>(admit, clock, metrics.pluginTimer(name, operation, 'admit'))],
      ),
      validating: plugins.flatMap(({ name, validate }) =>
        validate === undefined
          ? []
          : [measured<Validate>(validate, clock, metrics.pluginTimer(name, operation, 'validate'))],
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

/** The plugin's function, with its duration recorded. */
const measured =
  <T extends Admit | Validate>(act: T, clock: Clock, timer: AdmissionTimer) =>
  (attributes: AdmissionAttributes, host: AdmissionHost): ReturnType<T> =>
    timed(clock, timer, () => act(attributes, host)) as ReturnType<T>

/** A rejection is measured too. Results that are available are returned synchronously. */
function timed<T>(clock: Clock, timer: AdmissionTimer, act: () => MaybePromise<T>): MaybePromise<T> {
  const startMs = clock.monotonicMs()
  const end = (isRejected: boolean) => timer(isRejected, (clock.monotonicMs() - startMs) / 1000)
  const failed = (error: unknown): never => {
    end(true)
    throw error
  }
  let result: MaybePromise<T>
  try {
    result = act()
  } catch (error) {
    return failed(error)
  }
  if (result instanceof Promise)
    return result.then((value) => {
      end(false)
      return value
    }, failed)
  end(false)
  return result
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
