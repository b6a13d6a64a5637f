// The relations of an object as a graph: what owns, selects, scales or uses it at its left, what it owns, selects or uses at its right.
import { selects } from '../../../../api/selectors/selectors.ts'
import type { LabelSelector } from '../../../../api/meta/v1/label-selector.ts'
import { referencesOf } from './pod-references.ts'
import type { LinkedObject, RelatedLists, RelatedQuery } from './summary-parts.ts'
import { podTemplateOf, usersOf } from './used-by.ts'
import { podStateOf, type PodState } from '../pod-marks.ts'
import type { ClusterObject } from '../../source/source.ts'

/** A box of the graph. Column 0 has the object itself; columns before it have negative numbers. */
export interface RelationBox {
  /** Undefined if the cluster has no such kind, or if the box stands for several objects. */
  readonly object: LinkedObject | undefined
  readonly kind: string
  readonly name: string
  /** What the object is for the one it is connected with. */
  readonly role: string
  readonly state: PodState | undefined
  readonly column: number
  readonly row: number
}

export interface RelationLine {
  readonly from: RelationBox
  readonly to: RelationBox
}

export interface RelationGraph {
  readonly boxes: readonly RelationBox[]
  readonly lines: readonly RelationLine[]
  /** The first and the last column, and the rows of the longest. */
  readonly firstColumn: number
  readonly lastColumn: number
  readonly rows: number
}

/** Boxes that one object has of the same role; further objects are counted. */
const boxesMax = 8
/** Owner references can form a cycle. */
const ownersDepthMax = 4

const ownedResources = [
  'controllerrevisions.apps',
  'endpointslices.discovery.k8s.io',
  'jobs.batch',
  'persistentvolumeclaims',
  'pods',
  'replicasets.apps',
  'statefulsets.apps',
]
const scalers = 'horizontalpodautoscalers.autoscaling'
const budgets = 'poddisruptionbudgets.policy'
const policies = 'networkpolicies.networking.k8s.io'
const ingresses = 'ingresses.networking.k8s.io'
const users = ['cronjobs.batch', 'daemonsets.apps', 'deployments.apps', 'serviceaccounts']

/** The lists that the relations of an object need. Objects without a namespace own nothing that is shown. */
export const relationQueries = (resource: string, { metadata }: ClusterObject): readonly RelatedQuery[] => {
  const { namespace, name } = metadata
  if (resource === 'nodes') return [{ resource: 'pods', namespace: '', fieldSelector: `spec.nodeName=${name}` }]
  if (namespace === undefined) return []
  return [...ownedResources, ...users, 'services', scalers, budgets, policies, ingresses].map((each) => ({
    resource: each,
    namespace,
  }))
}

/** What is known of the kinds of the cluster. */
export interface RelationKinds {
  readonly kindOf: (resource: string) => string | undefined
  /** The id of the resource of a kind. */
  readonly idOf: (kind: string, apiVersion: string | undefined) => string | undefined
}

export function relationGraph(
  resource: string,
  object: ClusterObject,
  lists: RelatedLists,
  kinds: RelationKinds,
): RelationGraph {
  const boxes: RelationBox[] = []
  const lines: RelationLine[] = []
  const rows = new Map<number, number>()
  const place = (column: number, box: Omit<RelationBox, 'column' | 'row'>): RelationBox => {
    const row = rows.get(column) ?? 0
    rows.set(column, row + 1)
    const placed = { ...box, column, row }
    boxes.push(placed)
    return placed
  }
  const boxOf = (id: string, each: ClusterObject, role: string) => ({
    object: { resource: id, namespace: each.metadata.namespace ?? '', name: each.metadata.name },
    kind: kinds.kindOf(id) ?? id,
    name: each.metadata.name,
    role,
    state: id === 'pods' && each.status !== undefined ? podStateOf(each) : undefined,
  })
  const self = place(0, boxOf(resource, object, ''))
  /** Connects boxes with one, at its left or right; what is beyond the limit is one box. */
  const connect = (near: RelationBox, side: -1 | 1, found: readonly Omit<RelationBox, 'column' | 'row'>[]) => {
    const shown = found.length > boxesMax ? found.slice(0, boxesMax - 1) : found
    const more = found.length - shown.length
    const all = more === 0 ? shown : [...shown, moreBox(found[0]?.role ?? '', more)]
    return all.map((each) => {
      const placed = place(near.column + side, each)
      lines.push(side < 0 ? { from: placed, to: near } : { from: near, to: placed })
      return placed
    })
  }

  connectOwners(object, self, ownersDepthMax)
  function connectOwners(owned: ClusterObject, near: RelationBox, depth: number): void {
    for (const { kind, apiVersion, name, uid } of owned.metadata.ownerReferences ?? []) {
      const id = kinds.idOf(kind, apiVersion)
      const namespace = owned.metadata.namespace ?? ''
      const owner = id === undefined ? undefined : lists(id).find(({ metadata }) => metadata.uid === uid)
      const named = { kind, name, role: 'owner', state: undefined }
      const link = id === undefined ? undefined : { resource: id, namespace, name }
      const [placed] = connect(near, -1, [{ ...named, object: link }])
      if (owner !== undefined && placed !== undefined && depth > 1) connectOwners(owner, placed, depth - 1)
    }
  }
  for (const { role, found } of incomingOf(resource, object, lists))
    connect(
      self,
      -1,
      found.map(({ resource: id, object: each }) => boxOf(id, each, role)),
    )

  const all = ownedResources.flatMap((id) => lists(id).map((each) => ({ resource: id, object: each })))
  connectOwned(self, object.metadata.uid, ownersDepthMax)
  function connectOwned(near: RelationBox, uid: string | undefined, depth: number): void {
    if (uid === undefined || depth === 0) return
    const owned = all.filter(({ object: { metadata } }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
    const placed = connect(
      near,
      1,
      owned.map((each) => boxOf(each.resource, each.object, 'owned')),
    )
    for (const [at, box] of placed.entries())
      if (box.object !== undefined) connectOwned(box, owned[at]?.object.metadata.uid, depth - 1)
  }
  for (const { role, resource: id, objects } of outgoingOf(resource, object, lists))
    connect(
      self,
      1,
      objects.map((each) => boxOf(id, each, role)),
    )
  const columns = [...rows.keys()]
  return {
    boxes,
    lines,
    firstColumn: Math.min(...columns),
    lastColumn: Math.max(...columns),
    rows: Math.max(...rows.values()),
  }
}

const moreBox = (role: string, count: number) => ({
  object: undefined,
  kind: '',
  name: `and ${count} more`,
  role,
  state: undefined,
})

const clusterScoped: ReadonlySet<string> = new Set(['nodes', 'persistentvolumes', 'storageclasses.storage.k8s.io'])

interface Incoming {
  readonly role: string
  readonly found: readonly { readonly resource: string; readonly object: ClusterObject }[]
}

/** What refers to the object by its name or its labels. */
function incomingOf(resource: string, { metadata, spec }: ClusterObject, lists: RelatedLists): readonly Incoming[] {
  const { name } = metadata
  const found = (role: string, id: string, is: (object: ClusterObject) => boolean): Incoming => ({
    role,
    found: lists(id)
      .filter(is)
      .map((object) => ({ resource: id, object })),
  })
  const labels =
    resource === 'pods'
      ? metadata.labels
      : (
          spec?.['template'] as
            | { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } }
            | undefined
        )?.metadata?.labels
  const bySelector =
    labels === undefined
      ? []
      : [
          found('reaches it', 'services', (each) => selectsBy(each.spec?.['selector'], labels)),
          found('limits disruption', budgets, (each) => selects(each.spec?.['selector'] as LabelSelector, labels)),
          found('limits traffic', policies, (each) => selects(each.spec?.['podSelector'] as LabelSelector, labels)),
        ]
  const byName = [
    found('scales it', scalers, (each) => {
      const target = each.spec?.['scaleTargetRef'] as { readonly kind?: string; readonly name?: string } | undefined
      return target?.name === name && `${target.kind?.toLowerCase()}s` === resource.split('.', 1)[0]
    }),
    ...(resource === 'services' ? [found('routes to it', ingresses, (each) => backendsOf(each).includes(name))] : []),
  ]
  const uses = usersOf(lists, ({ secrets, configMaps, claims, serviceAccount }) => {
    switch (resource) {
      case 'secrets':
        return secrets.includes(name)
      case 'configmaps':
        return configMaps.includes(name)
      case 'persistentvolumeclaims':
        return claims.includes(name)
      case 'serviceaccounts':
        return (serviceAccount ?? 'default') === name
      default:
        return false
    }
  })
  return [...bySelector, ...byName, { role: 'uses it', found: uses }]
}

/** The selector of a Service is a map of labels; an empty one selects nothing. */
const selectsBy = (selector: unknown, labels: Readonly<Record<string, string>>): boolean => {
  const matchLabels = (selector ?? {}) as Readonly<Record<string, string>>
  return Object.keys(matchLabels).length > 0 && selects({ matchLabels }, labels)
}

interface Backend {
  readonly service?: { readonly name?: string }
}

function backendsOf({ spec }: ClusterObject): readonly (string | undefined)[] {
  const { rules = [], defaultBackend } = (spec ?? {}) as {
    readonly rules?: readonly { readonly http?: { readonly paths?: readonly { readonly backend?: Backend }[] } }[]
    readonly defaultBackend?: Backend
  }
  const paths = rules.flatMap(({ http }) => http?.paths ?? [])
  return [defaultBackend, ...paths.map(({ backend }) => backend)].map((backend) => backend?.service?.name)
}

interface Outgoing {
  readonly role: string
  /** The id of a resource. */
  readonly resource: string
  readonly objects: readonly ClusterObject[]
}

/** What the object refers to by name or by labels. */
function outgoingOf(
  resource: string,
  { metadata, spec = {} }: ClusterObject,
  lists: RelatedLists,
): readonly Outgoing[] {
  /** Objects that are named may not exist. */
  const named = (role: string, id: string, ...names: readonly unknown[]): Outgoing => {
    const scope = clusterScoped.has(id) ? {} : { namespace: metadata.namespace ?? '' }
    const texts = names.filter((name): name is string => typeof name === 'string' && name !== '')
    const known = lists(id)
    return {
      role,
      resource: id,
      objects: texts.map(
        (name) => known.find((each) => each.metadata.name === name) ?? { metadata: { name, ...scope } },
      ),
    }
  }
  const pods = (role: string, is: (object: ClusterObject) => boolean): Outgoing => ({
    role,
    resource: 'pods',
    objects: lists('pods').filter(is),
  })
  switch (resource) {
    case ingresses:
      return [named('gets traffic', 'services', ...new Set(backendsOf({ metadata, spec })))]
    case policies:
      return [pods('limited', (pod) => selects(spec['podSelector'] as LabelSelector, pod.metadata.labels))]
    case 'nodes':
      return [pods('runs on it', (pod) => pod.spec?.['nodeName'] === metadata.name)]
    case 'persistentvolumeclaims':
      return [
        named('volume', 'persistentvolumes', spec['volumeName']),
        named('class', 'storageclasses.storage.k8s.io', spec['storageClassName']),
      ]
    case 'services':
      return [pods('gets traffic', (pod) => selectsBy(spec['selector'], pod.metadata.labels ?? {}))]
    default: {
      const { secrets, configMaps, claims, serviceAccount } = referencesOf(podTemplateOf(resource, spec))
      return [
        ...(resource === 'pods' ? [named('runs it', 'nodes', spec['nodeName'])] : []),
        named('identity', 'serviceaccounts', serviceAccount),
        named('used', 'configmaps', ...configMaps),
        named('used', 'secrets', ...secrets),
        named('used', 'persistentvolumeclaims', ...claims),
      ]
    }
  }
}
