// RemovedResources: removes the series of resources whose definitions were deleted. Without it, each resource that ever existed
// would have series in a dozen metrics.
import { RecentMap } from '../../base/collections/recent-map.ts'
import type { Metrics } from '../../base/observability/metrics.ts'
import type { CustomResource } from '../kinds/custom-resource.ts'
import type { CatalogueObserver } from '../kinds/kind-catalogue.ts'

/** Requests that end after their resource was removed create series again, so the last removed resources are remembered. */
const rememberedMax = 1_000
/** Resources that are removed between two passes over all series. */
const removedPerPass = 16

export class RemovedResources implements CatalogueObserver {
  readonly #metrics: Metrics
  readonly #removed = new RecentMap<string, true>(rememberedMax)
  #sincePass = 0

  constructor(metrics: Metrics) {
    this.#metrics = metrics
  }

  changed(removed: CustomResource | undefined, added: CustomResource | undefined): void {
    if (added !== undefined) this.#removed.delete(added.name)
    else if (removed !== undefined) {
      this.#removed.set(removed.name, true)
      if (++this.#sincePass === removedPerPass) this.removeSeries()
    }
  }

  /** Also before each scrape. */
  removeSeries(): void {
    this.#sincePass = 0
    this.#metrics.removeWhere(
      ['group', 'resource'],
      ([group, resource]) => this.#removed.get(`${resource}.${group}`) ?? false,
    )
  }
}
