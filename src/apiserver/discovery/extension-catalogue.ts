// ExtensionCatalogue: what discovery and OpenAPI show of the group versions that other servers serve.
import type { GroupVersion } from '../kinds/kind-catalogue.ts'
import type { OpenApiV2Part } from './openapi-v2.ts'

export interface ExtensionCatalogue {
  /** Whether another server serves a version of the group. */
  hasGroup(group: string): boolean
  /** The version in aggregated discovery; undefined where this server serves it. */
  discoveryOf(groupVersion: GroupVersion): object | undefined
  /** The names of OpenAPI v3 documents of extensions, `apis/<group>/<version>`, and where they are; undefined: unknown. */
  openApiV3(): ReadonlyMap<string, string | undefined>
  openApiV2(): readonly OpenApiV2Part[]
}

export const noExtensionCatalogue: ExtensionCatalogue = {
  hasGroup: () => false,
  discoveryOf: () => undefined,
  openApiV3: () => new Map(),
  openApiV2: () => [],
}
