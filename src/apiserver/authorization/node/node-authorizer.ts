// NodeAuthorizer: a kubelet may read what the pods of its node need, and write what is its node's own.
import type { AccessAttributes, ResourceAttributes } from '../attributes.ts'
import { allowed, noOpinion, noRules, type Authorizer, type Decision } from '../authorizer.ts'
import { defaultClusterRoles } from '../bootstrap-policy/default-rbac-objects.ts'
import { RuleTable } from '../rbac/rule-table.ts'
import { NodeGraph } from './node-graph.ts'
import { nodeNameOf } from './node-user.ts'
import type { ObjectCaches } from '../../watch-cache/object-caches.ts'

const leaseNamespace = 'kube-node-lease'

/** What every node may do, as far as the table of special rules does not narrow it. */
const nodeRules = new RuleTable(
  defaultClusterRoles.find(({ metadata }) => metadata.name === 'system:node')?.rules ?? [],
)

export function nodeAuthorizer(caches: ObjectCaches): Authorizer {
  const graph = new NodeGraph(caches)
  return {
    name: 'Node',
    authorize(attributes) {
      const node = nodeNameOf(attributes.user)
      if (node === undefined) return none
      if (node === '') return noOpinion(`unknown node for user ${JSON.stringify(attributes.user.name)}`)
      const refusal = attributes.kind === 'path' ? undefined : refusalOf(node, attributes, graph)
      if (refusal !== undefined) return noOpinion(refusal)
      return byRules(attributes)
    },
    rulesFor: (user) =>
      nodeNameOf(user) === undefined
        ? noRules
        : { ...noRules, errors: ['node authorizer does not support user rule resolution'] },
  }
}

const none = noOpinion()
const yes = allowed('Node: allowed by the rules of nodes')

const byRules = (attributes: AccessAttributes): Decision => (nodeRules.allows(attributes) ? yes : none)

/** Why the node may not, by the special rules; undefined leaves it to the general ones. */
function refusalOf(node: string, asked: ResourceAttributes, graph: NodeGraph): string | undefined {
  switch (`${asked.resource}.${asked.group}`) {
    case 'secrets.':
    case 'configmaps.':
      return readRefusal(node, asked, graph, ['get', 'list', 'watch'])
    case 'persistentvolumeclaims.':
      return asked.subresource === 'status'
        ? relationRefusal(node, asked, graph)
        : readRefusal(node, asked, graph, ['get'])
    case 'persistentvolumes.':
    case 'resourceclaims.resource.k8s.io':
    case 'volumeattachments.storage.k8s.io':
      return readRefusal(node, asked, graph, ['get'])
    case 'serviceaccounts.':
      return asked.subresource === 'token' ? tokenRefusal(node, asked, graph) : readRefusal(node, asked, graph, ['get'])
    case 'leases.coordination.k8s.io':
      return ownRefusal(node, asked, 'lease', leaseNamespace)
    case 'csinodes.storage.k8s.io':
      return ownRefusal(node, asked, 'CSINode', '')
    case 'resourceslices.resource.k8s.io':
      return sliceRefusal(node, asked)
    case 'nodes.':
      return nodeRefusal(node, asked)
    case 'pods.':
      return podRefusal(node, asked, graph)
    default:
      return undefined
  }
}

const relationRefusal = (node: string, { resource, namespace, name }: ResourceAttributes, graph: NodeGraph) =>
  name !== '' && graph.isNeeded(node, resource, namespace, name)
    ? undefined
    : `no relationship found between node '${node}' and this object`

function readRefusal(node: string, asked: ResourceAttributes, graph: NodeGraph, verbs: readonly string[]) {
  if (!verbs.includes(asked.verb))
    return verbs.length === 1
      ? 'can only get individual resources of this type'
      : 'can only read resources of this type'
  if (asked.subresource !== '') return verbs.length === 1 ? 'cannot get subresource' : 'cannot read subresource'
  return relationRefusal(node, asked, graph)
}

function tokenRefusal(node: string, asked: ResourceAttributes, graph: NodeGraph): string | undefined {
  if (asked.verb !== 'create' || asked.name === '') return 'can only create tokens for individual service accounts'
  return relationRefusal(node, asked, graph)
}

/** Objects that are named after their node: one lease, one CSINode. */
function ownRefusal(node: string, { verb, namespace, name }: ResourceAttributes, what: string, home: string) {
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

function sliceRefusal(node: string, asked: ResourceAttributes): string | undefined {
  if (asked.subresource !== '') return 'cannot authorize ResourceSlice subresources'
  if (['list', 'watch', 'deletecollection'].includes(asked.verb))
    return selectsNode(asked, 'spec.nodeName', node)
      ? undefined
      : `can only list/watch/deletecollection resourceslices with spec.nodeName field selector`
  return undefined
}

function nodeRefusal(node: string, { verb, name }: ResourceAttributes): string | undefined {
  if (!['get', 'list', 'watch'].includes(verb) || name === node) return undefined
  return `node '${node}' cannot read ${name === '' ? 'all nodes' : `'${name}'`}, only its own Node object`
}

function podRefusal(node: string, asked: ResourceAttributes, graph: NodeGraph): string | undefined {
  switch (asked.verb) {
    case 'get':
      return asked.subresource === '' ? relationRefusal(node, asked, graph) : undefined
    case 'list':
    case 'watch':
      return selectsNode(asked, 'spec.nodeName', node)
        ? undefined
        : `can only list/watch pods with spec.nodeName field selector`
    default:
      return undefined
  }
}
