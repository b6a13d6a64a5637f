// AggregatedDiscovery: all resources in one response. The text of each group is kept until one of its kinds changes, so a
// change among thousands of custom kinds costs little.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { CustomResource } from '../kinds/custom-resource.ts'
import type { CatalogueObserver, KindCatalogue } from '../kinds/kind-catalogue.ts'
import type { ApiResponse } from '../request/response.ts'
import { aggregatedGroup } from './discovery.ts'
import type { ExtensionCatalogue } from './extension-catalogue.ts'
import type { ServedGroups } from './served-groups.ts'

const contentType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const start = '{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":['

export interface AggregatedDiscoveryDeps {
  readonly catalogue: KindCatalogue
  readonly groups: ServedGroups
  readonly extensions: ExtensionCatalogue
  readonly digest: (text: string) => string
}

export class AggregatedDiscovery implements CatalogueObserver {
  readonly #deps: AggregatedDiscoveryDeps
  /** JSON by group. */
  readonly #groups = new Map<string, string>()
  readonly #responses = new Map<'core' | 'groups', ApiResponse>()

  constructor(deps: AggregatedDiscoveryDeps) {
    this.#deps = deps
    deps.catalogue.observe(this)
  }

  changed(removed: CustomResource | undefined, added: CustomResource | undefined): void {
    for (const { storage } of [removed, added].filter((each) => each !== undefined)) this.discard(storage.kind.group)
  }

  /** A version of the group, or its priority, has changed. */
  discard(group: string): void {
    this.#groups.delete(group)
    this.#responses.clear()
  }

  /** The core group. */
  core(): ApiResponse {
    return getOrInsert(this.#responses, 'core', () => this.#responseOf(['']))
  }

  /** All other groups. */
  groups(): ApiResponse {
    const names = () => [...this.#deps.groups.versions.keys()].filter((name) => name !== '')
    return getOrInsert(this.#responses, 'groups', () => this.#responseOf(names()))
  }

  #responseOf(names: readonly string[]): ApiResponse {
    const { catalogue, groups, extensions, digest } = this.#deps
    const { versions } = groups
    const texts = names.map((name) =>
      getOrInsert(this.#groups, name, () =>
        JSON.stringify(aggregatedGroup(catalogue, name, versions.get(name) ?? [], extensions)),
      ),
    )
    const body = `${start}${texts.join(',')}]}`
    return { kind: 'document', body, contentType, etag: `"${digest(body)}"`, cacheControl: 'public' }
  }
}
