// Node authorizer: a kubelet may read the objects that the pods of its node reference and write the objects of its node.
import type { AccessAttributes, ResourceAttributes } from '../attributes.ts'
import { allowed, noOpinion, noRules, type Authorizer } from '../authorizer.ts'
import { defaultClusterRoles } from '../bootstrap-policy/default-rbac-objects.ts'
import { RuleTable } from '../rbac/rule-table.ts'
import type { AuthorizerMetrics } from '../../metrics/authorizer-metrics.ts'
import { NodeGraph } from './node-graph.ts'
import { isNodeAgent } from './node-agents.ts'
import { nodeNameOf } from './node-user.ts'
import type { ObjectCaches } from '../../watch-cache/object-caches.ts'

const leaseNamespace = 'kube-node-lease'

/** The rules of all nodes; the special rules below restrict them. */
const nodeRules = new RuleTable(
  defaultClusterRoles.find(({ metadata }) => metadata.name === 'system:node')?.rules ?? [],
)

export function nodeAuthorizer(caches: ObjectCaches, metrics: AuthorizerMetrics): Authorizer {
  const graph = new NodeGraph(caches, metrics)
  return {
    name: 'Node',
    authorize(attributes) {
      const node = nodeNameOf(attributes.user)
      if (node === undefined) return none
      if (node === '') return noOpinion(`unknown node for user ${JSON.stringify(attributes.user.name)}`)
      const rejection = attributes.kind === 'path' ? undefined : rejectionOf(node, attributes, graph)
      if (rejection !== undefined) return noOpinion(rejection)
      return isOwnSlice(attributes) || nodeRules.allows(attributes) ? yes : none
    },
    rulesFor: (user) =>
      nodeNameOf(user) === undefined
        ? noRules
        : { ...noRules, errors: ['node authorizer does not support user rule resolution'] },
  }
}

const none = noOpinion()
const yes = allowed('Node: allowed by the rules of nodes')

/** The rules of nodes have only one verb for ResourceSlices; the rejections below decide about all. */
const isOwnSlice = (attributes: AccessAttributes): boolean =>
  attributes.kind === 'resource' && resourceOf(attributes) === slices

const slices = 'resourceslices.resource.k8s.io'
const resourceOf = ({ resource, group }: ResourceAttributes): string => `${resource}.${group}`

/** Why the special rules do not allow the access; undefined if the general rules decide. */
function rejectionOf(node: string, attributes: ResourceAttributes, graph: NodeGraph): string | undefined {
  switch (resourceOf(attributes)) {
    case 'secrets.':
    case 'configmaps.':
      return readRejection(node, attributes, graph, ['get', 'list', 'watch'])
    case 'persistentvolumeclaims.':
      return attributes.subresource === 'status'
        ? statusRejection(node, attributes, graph)
        : readRejection(node, attributes, graph, ['get'])
    case 'persistentvolumes.':
    case 'resourceclaims.resource.k8s.io':
    case 'volumeattachments.storage.k8s.io':
      return readRejection(node, attributes, graph, ['get'])
    case 'serviceaccounts.':
      return attributes.subresource === 'token'
        ? tokenRejection(node, attributes, graph)
        : readRejection(node, attributes, graph, ['get'])
    case 'leases.coordination.k8s.io':
      return ownRejection(node, attributes, 'lease', leaseNamespace)
    case 'csinodes.storage.k8s.io':
      return ownRejection(node, attributes, 'CSINode', '')
    case slices:
      return sliceRejection(node, attributes, graph)
    case 'nodes.':
      return nodeRejection(node, attributes)
    case 'pods.':
      return podRejection(node, attributes, graph)
    default:
      return undefined
  }
}

function relationRejection(node: string, { resource, namespace, name }: ResourceAttributes, graph: NodeGraph) {
  if (name === '') return 'No Object name found'
  return graph.isNeeded(node, resource, namespace, name)
    ? undefined
    : `no relationship found between node '${node}' and this object`
}

const statusRejection = (node: string, attributes: ResourceAttributes, graph: NodeGraph) =>
  ['update', 'patch'].includes(attributes.verb)
    ? relationRejection(node, attributes, graph)
    : 'can only get/update/patch this type'

function readRejection(node: string, attributes: ResourceAttributes, graph: NodeGraph, verbs: readonly string[]) {
  if (!verbs.includes(attributes.verb))
    return verbs.length === 1
      ? 'can only get individual resources of this type'
      : 'can only read resources of this type'
  if (attributes.subresource !== '') return verbs.length === 1 ? 'cannot get subresource' : 'cannot read subresource'
  if (verbs.length > 1 && attributes.namespace === '') return 'can only read namespaced object of this type'
  return relationRejection(node, attributes, graph)
}

function tokenRejection(node: string, attributes: ResourceAttributes, graph: NodeGraph): string | undefined {
  if (attributes.verb !== 'create' || attributes.name === '')
    return 'can only create tokens for individual service accounts'
  return isNodeAgent(attributes) ? undefined : relationRejection(node, attributes, graph)
}

/** Objects with the name of their node: its lease and its CSINode. */
function ownRejection(node: string, { verb, namespace, name }: ResourceAttributes, what: string, home: string) {
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(verb))
    return `can only get, create, update, patch, or delete a node ${what}`
  if (namespace !== home) return `can only access leases in the "${home}" system namespace`
  if (verb !== 'create' && name !== node)
    return `can only access ${what === 'lease' ? 'node lease' : what} with the same name as the requesting node`
  return undefined
}

const selectsNode = ({ fields = [] }: ResourceAttributes, key: string, node: string): boolean =>
  fields.some(
    (field) => field.key === key && field.operator === 'In' && field.values.length === 1 && field.values[0] === node,
  )

/** NodeRestriction decides about the contents of new slices. */
function sliceRejection(node: string, attributes: ResourceAttributes, graph: NodeGraph): string | undefined {
  if (attributes.subresource !== '') return 'cannot authorize ResourceSlice subresources'
  switch (attributes.verb) {
    case 'create':
      return undefined
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return relationRejection(node, attributes, graph)
    case 'list':
    case 'watch':
    case 'deletecollection':
      return selectsNode(attributes, 'spec.nodeName', node)
        ? undefined
        : 'can only list/watch/deletecollection resourceslices with nodeName field selector'
    default:
      return 'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection'
  }
}

function nodeRejection(node: string, { verb, name }: ResourceAttributes): string | undefined {
  if (!['get', 'list', 'watch'].includes(verb) || name === node) return undefined
  return `node '${node}' cannot read ${name === '' ? 'all nodes' : `'${name}'`}, only its own Node object`
}

function podRejection(node: string, attributes: ResourceAttributes, graph: NodeGraph): string | undefined {
  switch (attributes.verb) {
    case 'get':
      return attributes.subresource === '' ? relationRejection(node, attributes, graph) : undefined
    case 'list':
    case 'watch':
      if (selectsNode(attributes, 'spec.nodeName', node)) return undefined
      return attributes.name === ''
        ? 'can only list/watch pods with spec.nodeName field selector'
        : relationRejection(node, attributes, graph)
    default:
      return undefined
  }
}
