// AuthorizerMetrics: the decisions of each authorizer and the changes of the Node authorizer's graph, under upstream's names.
import type { Clock } from '../../base/time/clock.ts'
import type { Counter, Histogram, HistogramSeries, Metrics } from '../../base/observability/metrics.ts'
import type { Authorizer, Decision } from '../authorization/authorizer.ts'

/** 0.1 ms, doubled 11 times. */
const graphSecondsBounds = Array.from({ length: 12 }, (_, index) => 2 ** index / 10_000)

export type GraphAction = 'AddPod' | 'DeletePod' | 'AddPV' | 'DeletePV'

export class AuthorizerMetrics {
  readonly #decisions: Counter
  readonly #graph: Histogram
  readonly #graphSeries = new Map<GraphAction, HistogramSeries>()
  readonly #clock: Clock

  constructor(metrics: Metrics, clock: Clock) {
    this.#clock = clock
    this.#decisions = metrics.counter(
      'apiserver_authorization_decisions_total',
      '[ALPHA] Total number of terminal decisions made by an authorizer split by authorizer type, name, and decision.',
      ['decision', 'name', 'type'],
    )
    this.#graph = metrics.histogram(
      'node_authorizer_graph_actions_duration_seconds',
      '[ALPHA] Histogram of duration of graph actions in node authorizer.',
      graphSecondsBounds,
      ['operation'],
    )
  }

  /** The authorizer, with its decisions counted; one without an opinion is not a decision. */
  counted(authorizer: Authorizer, type: string, name: string): Authorizer {
    const seriesOf = (decision: string) => this.#decisions.with({ decision, name, type })
    let [allowed, denied]: (ReturnType<typeof seriesOf> | undefined)[] = []
    const count = (decision: Decision): Decision => {
      if (decision.kind === 'allowed') (allowed ??= seriesOf('allowed')).add(1)
      else if (decision.kind === 'denied') (denied ??= seriesOf('denied')).add(1)
      return decision
    }
    return {
      name: authorizer.name,
      rulesFor: (user, namespace) => authorizer.rulesFor(user, namespace),
      authorize(attributes, signal) {
        const decision = authorizer.authorize(attributes, signal)
        return decision instanceof Promise ? decision.then(count) : count(decision)
      },
    }
  }

  /** Returns the time for `endGraphAction`. */
  startGraphAction(): number {
    return this.#clock.monotonicMs()
  }

  endGraphAction(action: GraphAction, startMs: number): void {
    let series = this.#graphSeries.get(action)
    if (series === undefined) {
      series = this.#graph.with({ operation: action })
      this.#graphSeries.set(action, series)
    }
    series.observe((this.#clock.monotonicMs() - startMs) / 1000)
  }
}
