// DefinitionObserver: adds the resources of established definitions to the catalogue, and removes them with their
// definitions. It is called for every change of a definition, before the change can be read.
import { customKind } from '../../api/apiextensions/custom-kind/custom-kind.ts'
import { isEstablished, type CustomResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import type { RuleMeasures } from '../../api/apiextensions/rules/rule-measures.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { compareVersions } from '../../api/kind/version-priority.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { CustomResource, CustomResourceVersion } from '../kinds/custom-resource.ts'
import type { KindCatalogue } from '../kinds/kind-catalogue.ts'
import type { CacheObserver } from '../watch-cache/object-caches.ts'
import { versionCodec } from './version-codec.ts'
import type { VersionConversion } from './version-conversion.ts'

export interface DefinitionObserverDeps {
  readonly catalogue: KindCatalogue
  conversionOf(definition: CustomResourceDefinition): VersionConversion
  readonly measures: RuleMeasures
}

export class DefinitionObserver implements CacheObserver {
  readonly #deps: DefinitionObserverDeps
  /** The definitions that are served, by name. */
  readonly #served = new Map<string, CustomResourceDefinition>()

  constructor(deps: DefinitionObserverDeps) {
    this.#deps = deps
  }

  changed(now: ApiObject | undefined, before: ApiObject | undefined): void {
    const definition = now as CustomResourceDefinition | undefined
    const name = (now ?? before)?.metadata.name ?? ''
    if (definition === undefined || !isEstablished(definition)) {
      this.#served.delete(name)
      this.#deps.catalogue.delete(name)
      return
    }
    const served = this.#served.get(name)
    this.#served.set(name, definition)
    const { catalogue, conversionOf, measures } = this.#deps
    if (served === undefined || !isServedEqually(served, definition))
      catalogue.set(customResource(definition, conversionOf(definition), measures))
    if (definition.metadata.deletionTimestamp !== undefined) catalogue.terminate(name)
  }
}

/**
 * Labels, annotations, conditions and the begin of the deletion change nothing in what is served, so watches continue. The deletion
 * changes the generation, but not the spec.
 */
const isServedEqually = (a: CustomResourceDefinition, b: CustomResourceDefinition): boolean =>
  a.metadata.uid === b.metadata.uid &&
  (a.metadata.generation === b.metadata.generation || equalValues(a.spec, b.spec)) &&
  equalValues(a.status.acceptedNames, b.status.acceptedNames)

function customResource(
  definition: CustomResourceDefinition,
  conversion: VersionConversion,
  measures: RuleMeasures,
): CustomResource {
  const { metadata, spec } = definition
  const versions = (spec.versions ?? []).toSorted((a, b) => compareVersions(a.name, b.name))
  const kinds = versions.map((version) => ({ version, kind: customKind(definition, version, measures) }))
  const storageKind = kinds.find(({ version }) => version.storage)?.kind
  if (storageKind === undefined) throw new Error(`${metadata.name} has no storage version`) // validation requires one
  const codecVersions = { kinds: kinds.map(({ kind }) => kind), storageKind, conversion }
  const resourceVersion = (kind: Kind): CustomResourceVersion => ({
    kind,
    codec: versionCodec(kind, codecVersions),
  })
  return {
    name: metadata.name,
    storage: resourceVersion(storageKind),
    versions: kinds.filter(({ version }) => version.served).map(({ kind }) => resourceVersion(kind)),
  }
}
