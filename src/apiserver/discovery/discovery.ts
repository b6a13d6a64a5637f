// Discovery: the served groups, versions and resources, in the old format and in the aggregated one.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { KindCatalogue } from '../kinds/kind-catalogue.ts'
import { subresourcesOf, verbsOf } from './served-resources.ts'

export const apiVersions = (host: string): object => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: host }],
})

/** The names of all versions by group, both in the order of discovery. */
function versionsByGroup({ groupVersions }: KindCatalogue): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const { group, version } of groupVersions) getOrInsert(groups, group, () => []).push(version)
  return groups
}

const groupOf = (name: string, names: readonly string[]): object => {
  const versions = names.map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions, preferredVersion: versions[0] }
}

export function apiGroup(catalogue: KindCatalogue, name: string): object | undefined {
  const versions = versionsByGroup(catalogue).get(name)
  return versions && groupOf(name, versions)
}

const shownGroups = (catalogue: KindCatalogue, hidden: readonly string[]) =>
  [...versionsByGroup(catalogue)].filter(([name]) => name !== '' && !hidden.includes(name))

export const apiGroupList = (catalogue: KindCatalogue, hidden: readonly string[] = []): object => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: shownGroups(catalogue, hidden).map(([name, versions]) => groupOf(name, versions)),
})

const kindsOf = (catalogue: KindCatalogue, group: string, version: string): Kind[] =>
  catalogue.inGroupVersion({ group, version }).toSorted((a, b) => (a.plural < b.plural ? -1 : 1))

export function apiResourceList(catalogue: KindCatalogue, group: string, version: string): object | undefined {
  const served = kindsOf(catalogue, group, version)
  if (served.length === 0) return undefined
  const resources = served.flatMap((kind) => [
    {
      name: kind.plural,
      singularName: kind.singular,
      namespaced: kind.namespaced,
      kind: kind.kind,
      verbs: verbsOf(kind),
      ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
      ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
    },
    ...subresourcesOf(kind).map(({ name, response, verbs }) => ({
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
    apiVersion: 'v1',
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources,
  }
}

/** All resources in one response; `legacy` is the core group, the other response all other groups. */
export function aggregatedDiscovery(catalogue: KindCatalogue, legacy: boolean, hidden: readonly string[] = []): object {
  const groups = legacy ? ([['', ['v1']]] as const) : shownGroups(catalogue, hidden)
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(([name, versions]) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map((version) => ({
        version,
        freshness: 'Current',
        resources: kindsOf(catalogue, name, version).map(aggregatedResource),
      })),
    })),
  }
}

/** Group and version are set where they differ from those of the list. */
const responseKind = (response: Pick<Kind, 'group' | 'version' | 'kind'>, { group, version }: Kind): object =>
  response.group === group && response.version === version
    ? { group: '', version: '', kind: response.kind }
    : { group: response.group, version: response.version, kind: response.kind }

function aggregatedResource(kind: Kind): object {
  const subresources = subresourcesOf(kind).map(({ name, response, verbs }) => ({
    subresource: name,
    responseKind: responseKind(response ?? kind, kind),
    verbs,
  }))
  return {
    resource: kind.plural,
    responseKind: responseKind(kind, kind),
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: verbsOf(kind),
    ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
    ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  }
}
