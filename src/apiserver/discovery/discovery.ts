// Discovery: the served groups, versions and resources, in the old format and in the aggregated one.
import { groupVersions, kinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { subresourcesOf, verbsOf } from './served-resources.ts'

export const apiVersions = (host: string): object => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: host }],
})

const versionsOf = (group: string) => groupVersions.filter((entry) => entry.group === group)

const groupNames = [...new Set(groupVersions.map(({ group }) => group))].filter((group) => group !== '')

export const apiGroup = (name: string): object | undefined => {
  const versions = versionsOf(name).map(({ version }) => ({ groupVersion: `${name}/${version}`, version }))
  return versions.length === 0 ? undefined : { name, versions, preferredVersion: versions[0] }
}

const shownGroups = (hidden: readonly string[]) => groupNames.filter((name) => !hidden.includes(name))

export const apiGroupList = (hidden: readonly string[] = []): object => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: shownGroups(hidden).map(apiGroup),
})

const kindsOf = (group: string, version: string): Kind[] =>
  kinds
    .filter((kind) => kind.group === group && kind.version === version)
    .toSorted((a, b) => (a.plural < b.plural ? -1 : 1))

export function apiResourceList(group: string, version: string): object | undefined {
  const served = kindsOf(group, version)
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
export function aggregatedDiscovery(legacy: boolean, hidden: readonly string[] = []): object {
  const groups = legacy ? [''] : shownGroups(hidden)
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map((name) => ({
      metadata: name === '' ? {} : { name },
      versions: versionsOf(name).map(({ version }) => ({
        version,
        freshness: 'Current',
        resources: kindsOf(name, version).map(aggregatedResource),
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
