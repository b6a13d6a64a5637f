// Discovery: the served groups, versions and resources, in the old format and in the aggregated one.
import type { Kind } from '../../api/kind/kind.ts'
import type { GroupVersion, KindCatalogue } from '../kinds/kind-catalogue.ts'
import { noExtensionCatalogue, type ExtensionCatalogue } from './extension-catalogue.ts'
import type { VersionsByGroup } from './served-groups.ts'
import { discoveredSubresourcesOf, discoveredVerbsOf } from './served-resources.ts'

export const apiVersions = (): object => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '' }],
})

const groupOf = (name: string, names: readonly string[]): object => {
  const versions = names.map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions, preferredVersion: versions[0] }
}

export function apiGroup(groups: VersionsByGroup, name: string): object | undefined {
  const versions = name === '' ? undefined : groups.get(name)
  return versions && groupOf(name, versions)
}

export const apiGroupList = (groups: VersionsByGroup): object => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: [...groups].flatMap(([name, versions]) => (name === '' ? [] : [groupOf(name, versions)])),
})

const kindsOf = (catalogue: KindCatalogue, group: string, version: string): Kind[] =>
  catalogue.inGroupVersion({ group, version }).toSorted((a, b) => (a.plural < b.plural ? -1 : 1))

/** Changes with the version in which objects are stored. */
export type StorageVersionHash = (groupVersionKind: string) => string

export function apiResourceList(
  catalogue: KindCatalogue,
  { group, version }: GroupVersion,
  hashOf: StorageVersionHash,
): object | undefined {
  const served = kindsOf(catalogue, group, version)
  if (served.length === 0) return undefined
  const resources = served.flatMap((kind) => [
    {
      name: kind.plural,
      singularName: kind.singular,
      namespaced: kind.namespaced,
      kind: kind.kind,
      verbs: discoveredVerbsOf(catalogue, kind),
      ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
      ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
      ...(kind.computed === undefined ? { storageVersionHash: hashOf(storedGroupVersionKind(catalogue, kind)) } : {}),
    },
    ...discoveredSubresourcesOf(kind).map(({ name, response, verbs }) => ({
      name: `${kind.plural}/${name}`,
      singularName: '',
      namespaced: kind.namespaced,
      ...(response === undefined || response.group === kind.group
        ? {}
        : { group: response.group, version: response.version }),
      kind: response?.kind ?? kind.kind,
      verbs,
    })),
  ])
  return {
    kind: 'APIResourceList',
    // As upstream: the list of the core group has no version of its own.
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources,
  }
}

function storedGroupVersionKind(catalogue: KindCatalogue, kind: Kind): string {
  const custom = catalogue.customResource(`${kind.plural}.${kind.group}`)
  const stored = kind.custom === undefined ? (kind.storedAs?.kind ?? kind) : (custom?.storage.kind ?? kind)
  return `${stored.group}/${stored.version}/${stored.kind}`
}

/** A group in aggregated discovery. */
export const aggregatedGroup = (
  catalogue: KindCatalogue,
  name: string,
  versions: readonly string[],
  extensions: ExtensionCatalogue = noExtensionCatalogue,
): object => ({
  metadata: name === '' ? {} : { name },
  versions: versions.map(
    (version) =>
      extensions.discoveryOf({ group: name, version }) ?? {
        version,
        freshness: 'Current',
        resources: kindsOf(catalogue, name, version).map((kind) => aggregatedResource(catalogue, kind)),
      },
  ),
})

/** Group and version are set where they differ from those of the list, and for custom kinds. */
const responseKind = (response: Pick<Kind, 'group' | 'version' | 'kind'>, { group, version, custom }: Kind): object =>
  custom === undefined && response.group === group && response.version === version
    ? { group: '', version: '', kind: response.kind }
    : { group: response.group, version: response.version, kind: response.kind }

function aggregatedResource(catalogue: KindCatalogue, kind: Kind): object {
  const subresources = discoveredSubresourcesOf(kind).map(({ name, response, verbs }) => ({
    subresource: name,
    responseKind: responseKind(response ?? kind, kind),
    verbs,
  }))
  return {
    resource: kind.plural,
    responseKind: responseKind(kind, kind),
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: discoveredVerbsOf(catalogue, kind),
    ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
    ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  }
}
