// Discovery: which groups, versions and resources are served, in the old form and in the aggregated one.
import { groupVersions, kinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind.ts'
import { strategies } from '../registry/strategies.ts'
import type { Strategy } from '../registry/strategy.ts'

const objectVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const
const partVerbs = ['get', 'patch', 'update'] as const

interface Subresource {
  readonly name: string
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly verbs: readonly string[]
}

/** Subresources that are more than a part of their object, by the kind's plural. */
const further: Readonly<Record<string, readonly Subresource[]>> = {
  pods: [
    { name: 'attach', kind: core('PodAttachOptions'), verbs: ['create', 'get'] },
    { name: 'eviction', kind: { group: 'policy', version: 'v1', kind: 'Eviction' }, verbs: ['create'] },
    { name: 'exec', kind: core('PodExecOptions'), verbs: ['create', 'get'] },
    { name: 'log', kind: core('Pod'), verbs: ['get'] },
    { name: 'portforward', kind: core('PodPortForwardOptions'), verbs: ['create', 'get'] },
  ],
  nodes: [{ name: 'proxy', kind: core('NodeProxyOptions'), verbs: ['create', 'delete', 'get', 'patch', 'update'] }],
}

function core(kind: string): Subresource['kind'] {
  return { group: '', version: 'v1', kind }
}

const strategyOf = (kind: Kind): Strategy | undefined => strategies.find((strategy) => strategy.kind === kind)

const verbsOf = (kind: Kind): readonly string[] =>
  strategyOf(kind)?.deletesOneByOne ? objectVerbs.filter((verb) => verb !== 'deletecollection') : objectVerbs

function subresourcesOf(kind: Kind): Subresource[] {
  const own = { group: kind.group, version: kind.version, kind: kind.kind }
  const strategy = strategyOf(kind)
  const actions = Object.keys(strategy?.actions ?? {})
  const parts = Object.keys(strategy?.parts ?? {})
  return [
    ...actions.map((name) => ({
      name,
      kind: { ...own, kind: name[0]?.toUpperCase() + name.slice(1) },
      verbs: ['create'],
    })),
    ...parts.map((name) => ({ name, kind: own, verbs: name === 'finalize' ? ['update'] : partVerbs })),
    ...(kind.scale === undefined
      ? []
      : [{ name: 'scale', kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs: partVerbs }]),
    ...(kind.hasStatus ? [{ name: 'status', kind: own, verbs: partVerbs }] : []),
    ...(kind.group === '' ? (further[kind.plural] ?? []) : []),
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

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

export const apiGroupList = (): object => ({ kind: 'APIGroupList', apiVersion: 'v1', groups: groupNames.map(apiGroup) })

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
    ...subresourcesOf(kind).map(({ name, kind: answer, verbs }) => ({
      name: `${kind.plural}/${name}`,
      singularName: '',
      namespaced: kind.namespaced,
      ...(answer.group === kind.group ? {} : { group: answer.group, version: answer.version }),
      kind: answer.kind,
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

/** Everything in one answer; `legacy` holds the core group, the other answer all the rest. */
export function aggregatedDiscovery(legacy: boolean): object {
  const groups = legacy ? [''] : groupNames
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

function aggregatedResource(kind: Kind): object {
  const subresources = subresourcesOf(kind).map(({ name, kind: responseKind, verbs }) => ({
    subresource: name,
    responseKind,
    verbs,
  }))
  return {
    resource: kind.plural,
    responseKind: { group: kind.group, version: kind.version, kind: kind.kind },
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: verbsOf(kind),
    ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
    ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  }
}
