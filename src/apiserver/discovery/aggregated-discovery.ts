// AggregatedDiscovery: all resources in one response. The text of each group is kept until one of its kinds changes, so a
// change among thousands of custom kinds costs little.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { CustomResource } from '../kinds/custom-resource.ts'
import type { CatalogueObserver, KindCatalogue } from '../kinds/kind-catalogue.ts'
import type { ApiResponse } from '../request/response.ts'
import { aggregatedGroup, shownGroups, versionsByGroup } from './discovery.ts'

const contentType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const start = '{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":['

export class AggregatedDiscovery implements CatalogueObserver {
  readonly #catalogue: KindCatalogue
  readonly #digest: (text: string) => string
  /** JSON by group. */
  readonly #groups = new Map<string, string>()
  /** Responses by the names of the groups that they leave out. */
  readonly #responses = new Map<string, ApiResponse>()

  constructor(catalogue: KindCatalogue, digest: (text: string) => string) {
    this.#catalogue = catalogue
    this.#digest = digest
    catalogue.observe(this)
  }

  changed(removed: CustomResource | undefined, added: CustomResource | undefined): void {
    for (const { storage } of [removed, added].filter((each) => each !== undefined))
      this.#groups.delete(storage.kind.group)
    this.#responses.clear()
  }

  /** The core group. */
  core(): ApiResponse {
    return getOrInsert(this.#responses, 'core', () => this.#responseOf(['']))
  }

  /** All other groups. */
  groups(hidden: readonly string[]): ApiResponse {
    const names = () => shownGroups(this.#catalogue, hidden).map(([name]) => name)
    return getOrInsert(this.#responses, `groups without ${hidden.join()}`, () => this.#responseOf(names()))
  }

  #responseOf(groups: readonly string[]): ApiResponse {
    const versions = versionsByGroup(this.#catalogue)
    const texts = groups.map((name) =>
      getOrInsert(this.#groups, name, () =>
        JSON.stringify(aggregatedGroup(this.#catalogue, name, versions.get(name) ?? [])),
      ),
    )
    const body = `${start}${texts.join(',')}]}`
    return { kind: 'document', body, contentType, etag: `"${this.#digest(body)}"`, cacheControl: 'public' }
  }
}
