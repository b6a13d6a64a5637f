// The kinds of the navigation: by topic, the most used first. Custom resources are listed by their group.
import { resourceId, type Resource } from '../source/source.ts'

export interface KindSection {
  readonly name: string
  readonly isCustom: boolean
  readonly resources: readonly Resource[]
}

/** The topic of each group, in the order of the navigation, and the kinds that come first. */
const topics: readonly {
  readonly name: string
  readonly groups: readonly string[]
  readonly first: readonly string[]
}[] = [
  {
    name: 'Workloads',
    groups: ['apps', 'autoscaling', 'batch', 'policy'],
    first: ['pods', 'deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch', 'cronjobs.batch'],
  },
  {
    name: 'Network',
    groups: ['discovery.k8s.io', 'gateway.networking.k8s.io', 'networking.k8s.io'],
    first: ['services', 'ingresses.networking.k8s.io', 'networkpolicies.networking.k8s.io'],
  },
  { name: 'Configuration', groups: [], first: ['configmaps', 'secrets', 'resourcequotas', 'limitranges'] },
  {
    name: 'Storage',
    groups: ['snapshot.storage.k8s.io', 'storage.k8s.io'],
    first: ['persistentvolumeclaims', 'persistentvolumes', 'storageclasses.storage.k8s.io'],
  },
  {
    name: 'Access',
    groups: ['certificates.k8s.io', 'rbac.authorization.k8s.io'],
    first: [
      'serviceaccounts',
      'roles.rbac.authorization.k8s.io',
      'rolebindings.rbac.authorization.k8s.io',
      'clusterroles.rbac.authorization.k8s.io',
      'clusterrolebindings.rbac.authorization.k8s.io',
    ],
  },
  {
    name: 'Cluster',
    groups: [],
    first: ['nodes', 'namespaces', 'events', 'customresourcedefinitions.apiextensions.k8s.io'],
  },
]
/** Kinds of the core group whose topic is not Cluster. */
const topicOfCore: ReadonlyMap<string, string> = new Map([
  ['endpoints', 'Network'],
  ['podtemplates', 'Workloads'],
  ['replicationcontrollers', 'Workloads'],
])
/** Other names for objects that are listed already. */
const repeated: ReadonlySet<string> = new Set(['events.events.k8s.io'])

export function kindSections(resources: readonly Resource[]): readonly KindSection[] {
  const listed = resources.filter((resource) => !repeated.has(resourceId(resource)))
  const byTopic = Map.groupBy(listed, topicOf)
  const sections = topics.map(({ name, first }): KindSection => ({
    name,
    isCustom: false,
    resources: ordered(byTopic.get(name) ?? [], first),
  }))
  const custom = [...byTopic.keys()].filter((name) => !topics.some((topic) => topic.name === name)).toSorted()
  return [
    ...sections.filter((section) => section.resources.length > 0),
    ...custom.map((name) => ({ name, isCustom: true, resources: ordered(byTopic.get(name) ?? [], []) })),
  ]
}

/** The topic of a kind; of a custom resource its group. */
function topicOf(resource: Resource): string {
  const { group, plural } = resource
  const id = resourceId(resource)
  const topic = topics.find(({ groups, first }) => first.includes(id) || groups.includes(group))
  if (topic !== undefined) return topic.name
  return group === '' ? (topicOfCore.get(plural) ?? 'Cluster') : group.endsWith('.k8s.io') ? 'Cluster' : group
}

function ordered(resources: readonly Resource[], first: readonly string[]): Resource[] {
  const placeOf = (resource: Resource): number => {
    const at = first.indexOf(resourceId(resource))
    return at < 0 ? first.length : at
  }
  return resources.toSorted((a, b) => placeOf(a) - placeOf(b) || kindLabel(a).localeCompare(kindLabel(b), 'en'))
}

/** The plural in the letters of the kind: `NetworkPolicies`. A plural that has nothing of the kind is used as it is. */
export function kindLabel({ kind, plural }: Pick<Resource, 'kind' | 'plural'>): string {
  let same = 0
  while (same < kind.length && kind[same]?.toLowerCase() === plural[same]) same++
  if (same === 0) return plural
  return kind.length - same <= 1 ? kind.slice(0, same) + plural.slice(same) : kind
}
