// RemovedResources: removes the series of resources whose definitions were deleted.
import type { Metrics } from '../../base/observability/metrics.ts'
import { RemovedSeries } from '../../base/observability/removed-series.ts'
import type { CustomResource } from '../kinds/custom-resource.ts'
import type { CatalogueObserver } from '../kinds/kind-catalogue.ts'

export class RemovedResources implements CatalogueObserver {
  readonly #series: RemovedSeries

  constructor(metrics: Metrics) {
    this.#series = new RemovedSeries(metrics, ['group', 'resource'])
  }

  changed(removed: CustomResource | undefined, added: CustomResource | undefined): void {
    if (added !== undefined) this.#series.added(...labelsOf(added))
    else if (removed !== undefined) this.#series.removed(...labelsOf(removed))
  }

  /** Also before each scrape. */
  removeSeries(): void {
    this.#series.removeSeries()
  }
}

const labelsOf = ({ storage: { kind } }: CustomResource): readonly [string, string] => [kind.group, kind.plural]
