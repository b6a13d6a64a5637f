// What the credentials of a node permit: each row is one request and its response, as kube-apiserver v1.36 decides with its
// default feature gates (Node authorizer and NodeRestriction), or as Coxswain documents it where upstream has no such thing.
// Objects named `mine` belong to the stolen node or its pods, those named `theirs` to another node.
import { decisionQueriesPath, decisionsPath, flowEventsPath } from '../../src/api/coxswain/v1/flow-protocol.ts'
import { nodeAgentTokenSecondsMax } from '../../src/apiserver/authorization/node/node-agents.ts'

/** A status, or the end of the message of a 403. */
type Answer = number | string
export type Row = readonly [request: string, answer: Answer, body?: object]

export const stolen = 'node-0'
export const other = 'node-1'
const core = '/api/v1'
const apps = '/apis'
const inDefault = `${core}/namespaces/default`
const dry = '?dryRun=All'
const denied = ''
const unrelated = `no relationship found between node '${stolen}' and this object`
const onlyGet = 'can only get individual resources of this type'
const named = (name: string, more: object = {}) => ({ metadata: { name }, ...more })
const containers = [{ name: 'c', image: 'i' }]

const reads: readonly Row[] = [
  ...['secrets', 'configmaps'].flatMap((resource): Row[] => [
    [`GET ${inDefault}/${resource}/mine`, 200],
    [`GET ${inDefault}/${resource}/theirs`, unrelated],
    [`GET ${inDefault}/${resource}`, 'No Object name found'],
    [`GET ${core}/${resource}`, 'can only read namespaced object of this type'],
    [`GET ${core}/${resource}?watch=true&timeoutSeconds=1`, 'can only read namespaced object of this type'],
    [`GET ${inDefault}/${resource}?fieldSelector=metadata.name%3Dmine`, 200],
    [`GET ${inDefault}/${resource}?fieldSelector=metadata.name%3Dtheirs`, unrelated],
  ]),
  [`GET ${inDefault}/secrets/of-node-publish`, 200],
  [`GET ${inDefault}/secrets/of-controller-publish`, unrelated],
  ...[
    `${inDefault}/persistentvolumeclaims`,
    `${core}/persistentvolumes`,
    `${apps}/storage.k8s.io/v1/volumeattachments`,
    `${apps}/resource.k8s.io/v1/namespaces/default/resourceclaims`,
  ].flatMap((path): Row[] => [
    [`GET ${path}/mine`, 200],
    [`GET ${path}/theirs`, unrelated],
    [`GET ${path}`, onlyGet],
    [`GET ${path}?watch=true&timeoutSeconds=1`, onlyGet],
  ]),
  [`GET ${inDefault}/persistentvolumeclaims/mine/status`, 'can only get/update/patch this type'],
  [`GET ${inDefault}/serviceaccounts/mine`, 200],
  [`GET ${inDefault}/serviceaccounts/theirs`, unrelated],
  [`GET ${inDefault}/serviceaccounts`, denied],
  [`GET ${inDefault}/pods/mine`, 200],
  [`GET ${inDefault}/pods/theirs`, unrelated],
  [`GET ${core}/pods`, 'can only list/watch pods with spec.nodeName field selector'],
  [`GET ${inDefault}/pods`, 'can only list/watch pods with spec.nodeName field selector'],
  [`GET ${core}/pods?fieldSelector=spec.nodeName%3D${stolen}`, 200],
  [
    `GET ${core}/pods?fieldSelector=spec.nodeName%3D${other}`,
    'can only list/watch pods with spec.nodeName field selector',
  ],
  [
    `GET ${core}/pods?fieldSelector=spec.nodeName!%3D${other}`,
    'can only list/watch pods with spec.nodeName field selector',
  ],
  [`GET ${inDefault}/pods/mine/log`, denied],
  [`GET ${inDefault}/pods/theirs/log`, denied],
  [`POST ${inDefault}/pods/mine/exec?command=id`, denied],
  [`GET ${inDefault}/pods/mine/exec?command=id`, denied],
  [`GET ${inDefault}/pods/theirs/portforward`, denied],
  [`GET ${inDefault}/pods/theirs/proxy/`, denied],
  [`GET ${core}/nodes/${stolen}`, 200],
  [`GET ${core}/nodes/${other}`, `node '${stolen}' cannot read '${other}', only its own Node object`],
  [`GET ${core}/nodes`, `node '${stolen}' cannot read all nodes, only its own Node object`],
  [`GET ${core}/nodes?watch=true&timeoutSeconds=1`, `node '${stolen}' cannot read all nodes, only its own Node object`],
  [`GET ${core}/nodes/${stolen}/proxy/pods`, denied],
  [`GET ${core}/nodes/${other}/proxy/pods`, denied],
  [`GET ${apps}/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${stolen}`, 200],
  [
    `GET ${apps}/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${other}`,
    'can only access node lease with the same name as the requesting node',
  ],
  [
    `GET ${apps}/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler`,
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  [`GET ${apps}/storage.k8s.io/v1/csinodes/${stolen}`, 200],
  [
    `GET ${apps}/storage.k8s.io/v1/csinodes/${other}`,
    'can only access CSINode with the same name as the requesting node',
  ],
  [`GET ${apps}/resource.k8s.io/v1/resourceslices/mine`, 200],
  [`GET ${apps}/resource.k8s.io/v1/resourceslices/theirs`, unrelated],
  [`GET ${apps}/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3D${stolen}`, 200],
  [
    `GET ${apps}/resource.k8s.io/v1/resourceslices`,
    'can only list/watch/deletecollection resourceslices with nodeName field selector',
  ],
  [`GET ${core}/services`, 200],
  [`GET ${inDefault}/endpoints/missing`, 404],
  [`GET ${inDefault}/endpoints`, denied],
  [`GET ${apps}/storage.k8s.io/v1/csidrivers`, 200],
  [`GET ${apps}/node.k8s.io/v1/runtimeclasses`, 200],
  [`GET ${apps}/certificates.k8s.io/v1/certificatesigningrequests`, 200],
  ...[
    `${core}/namespaces`,
    `${core}/events`,
    `${core}/replicationcontrollers`,
    `${apps}/apps/v1/deployments`,
    `${apps}/discovery.k8s.io/v1/endpointslices`,
    `${apps}/networking.k8s.io/v1/networkpolicies`,
    `${apps}/networking.k8s.io/v1/ingresses`,
    `${apps}/rbac.authorization.k8s.io/v1/clusterroles`,
    `${apps}/storage.k8s.io/v1/storageclasses`,
    `${apps}/apiextensions.k8s.io/v1/customresourcedefinitions`,
  ].map((path): Row => [`GET ${path}`, denied]),
]

const mirror = (namespace: string, spec: object, nodeName = stolen) => ({
  metadata: {
    name: 'mirror',
    namespace,
    annotations: { 'kubernetes.io/config.mirror': 'h' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: stolen, uid: `<uid of ${stolen}>`, controller: true }],
  },
  spec: { nodeName, containers, ...spec },
})
const range = (cidr: string) => ({ spec: { podCIDR: cidr, podCIDRs: [cidr] } })
const noRanges = `node "${stolen}" is not allowed to set podCIDRs`
const notOther = `node "${stolen}" is not allowed to modify node "${other}"`
const status = { status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] } }
const tokenOf = (pod: string, more: object = {}) => ({
  spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod, uid: `<uid of ${pod}>` }, ...more },
})
export const agentTokenOf = (node: string, more: object = {}) => ({
  spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Node', name: node, uid: `<uid of ${node}>` }, ...more },
})
const agents = `${core}/namespaces/kube-system/serviceaccounts`
const notItself = 'node requested token of an agent not bound to itself'
const slice = (nodeName: string) => ({
  metadata: { name: 'new' },
  spec: { nodeName, driver: 'd.example.com', pool: { name: nodeName, resourceSliceCount: 1, generation: 1 } },
})
const slices = `${apps}/resource.k8s.io/v1/resourceslices`
const leases = `${apps}/coordination.k8s.io/v1/namespaces`

const writes: readonly Row[] = [
  [`PATCH ${core}/nodes/${stolen}${dry}`, 200, { metadata: { labels: { 'example.com/disk': 'fast' } } }],
  [`PATCH ${core}/nodes/${stolen}${dry}`, 200, { spec: { unschedulable: true } }],
  [`PATCH ${core}/nodes/${stolen}/status${dry}`, 200, status],
  [`PATCH ${core}/nodes/${other}${dry}`, notOther, { metadata: { labels: { a: 'b' } } }],
  [`PATCH ${core}/nodes/${other}/status${dry}`, notOther, status],
  [`POST ${core}/nodes${dry}`, `node "${stolen}" is not allowed to modify node "new"`, named('new')],
  [`DELETE ${core}/nodes/${stolen}${dry}`, denied],
  [`DELETE ${core}/nodes/${other}${dry}`, denied],
  ...['node-restriction.kubernetes.io/team', 'node-role.kubernetes.io/control-plane', 'a.k8s.io/b'].map(
    (label): Row => [
      `PATCH ${core}/nodes/${stolen}${dry}`,
      `is not allowed to modify labels: ${label}`,
      { metadata: { labels: { [label]: 'x' } } },
    ],
  ),
  [
    `PATCH ${core}/nodes/${stolen}${dry}`,
    `node "${stolen}" is not allowed to modify taints`,
    { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } },
  ],
  [
    `PATCH ${core}/nodes/${stolen}${dry}`,
    `node "${stolen}" is not allowed to modify ownerReferences`,
    { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: other, uid: 'u' }] } },
  ],
  ...['0.0.0.0/0', '10.96.0.0/12', '10.244.1.0/24', '::/0'].flatMap((cidr): Row[] => [
    // Its range was assigned, and does not change.
    [`PATCH ${core}/nodes/${stolen}${dry}`, 422, range(cidr)],
    [`POST ${core}/nodes${dry}`, noRanges, { ...named(stolen), ...range(cidr) }],
  ]),

  [`POST ${inDefault}/pods${dry}`, 201, mirror('default', {})],
  [
    `POST ${inDefault}/pods${dry}`,
    `node "${stolen}" can only create pods with spec.nodeName set to itself`,
    mirror('default', {}, other),
  ],
  [
    `POST ${inDefault}/pods${dry}`,
    `pod does not have "kubernetes.io/config.mirror" annotation, node "${stolen}" can only create mirror pods`,
    { ...named('plain'), spec: { nodeName: stolen, containers } },
  ],
  [
    `POST ${inDefault}/pods${dry}`,
    'a mirror pod may not reference secrets',
    mirror('default', { volumes: [{ name: 'v', secret: { secretName: 'theirs' } }] }),
  ],
  [
    `POST ${inDefault}/pods${dry}`,
    'a mirror pod may not reference service accounts',
    mirror('default', { serviceAccountName: 'theirs' }),
  ],
  [`DELETE ${inDefault}/pods/mine${dry}`, 200],
  [`DELETE ${inDefault}/pods/theirs${dry}`, `node "${stolen}" can only delete pods with spec.nodeName set to itself`],
  [`DELETE ${inDefault}/pods${dry}`, denied],
  [`POST ${inDefault}/pods/mine/eviction${dry}`, 201, named('mine')],
  [
    `POST ${inDefault}/pods/theirs/eviction${dry}`,
    `node ${stolen} can only evict pods with spec.nodeName set to itself`,
    named('theirs'),
  ],
  [`PATCH ${inDefault}/pods/mine/status${dry}`, 200, { status: { message: 'x' } }],
  [
    `PATCH ${inDefault}/pods/theirs/status${dry}`,
    `node "${stolen}" can only update pod status for pods with spec.nodeName set to itself`,
    { status: { message: 'x' } },
  ],
  [
    `PATCH ${inDefault}/pods/mine/status${dry}`,
    `node "${stolen}" cannot update labels through pod status`,
    { metadata: { labels: { app: 'theirs' } } },
  ],
  [
    `PATCH ${inDefault}/pods/mine/status${dry}`,
    `node "${stolen}" cannot update resource claim statues`,
    { status: { resourceClaimStatuses: [{ name: 'd', resourceClaimName: 'theirs' }] } },
  ],
  [`PATCH ${inDefault}/pods/mine${dry}`, denied, { metadata: { labels: { a: 'b' } } }],
  [`PATCH ${inDefault}/pods/mine/ephemeralcontainers${dry}`, denied, {}],
  [`PATCH ${inDefault}/pods/mine/resize${dry}`, denied, {}],
  [`POST ${inDefault}/pods/mine/binding${dry}`, denied, { target: { name: stolen } }],

  [`POST ${inDefault}/serviceaccounts/mine/token`, 201, tokenOf('mine')],
  [`POST ${inDefault}/serviceaccounts/theirs/token`, unrelated, tokenOf('theirs')],
  [`POST ${inDefault}/serviceaccounts/mine/token`, 'node requested token not bound to a pod', { spec: {} }],
  [`POST ${inDefault}/serviceaccounts/mine/token`, 'node requested token not bound to a pod', agentTokenOf(stolen)],
  [
    `POST ${inDefault}/serviceaccounts/mine/token`,
    'node requested token bound to a pod scheduled on a different node',
    tokenOf('theirs'),
  ],
  [
    `POST ${inDefault}/serviceaccounts/mine/token`,
    `audience "vault" not found in pod spec volume, system:node:${stolen} is not authorized to request tokens for this audience`,
    tokenOf('mine', { audiences: ['vault'] }),
  ],
  [`POST ${agents}/node-controller/token`, unrelated, agentTokenOf(stolen)],
  ...['coxswain-network', 'coxswain-local-path'].flatMap((agent): Row[] => [
    [`POST ${agents}/${agent}/token`, 201, agentTokenOf(stolen)],
    [`POST ${agents}/${agent}/token`, notItself, agentTokenOf(other)],
    [`POST ${agents}/${agent}/token`, notItself, { spec: {} }],
    [
      `POST ${agents}/${agent}/token`,
      'node requested token of an agent for another audience',
      agentTokenOf(stolen, { audiences: ['vault'] }),
    ],
    [
      `POST ${agents}/${agent}/token`,
      `tokens of agents expire within ${nodeAgentTokenSecondsMax} seconds`,
      agentTokenOf(stolen, { expirationSeconds: nodeAgentTokenSecondsMax + 1 }),
    ],
  ]),
  [`POST ${agents}${dry}`, denied, named('new')],

  [
    `PATCH ${leases}/kube-node-lease/leases/${stolen}${dry}`,
    200,
    { spec: { renewTime: '2030-01-01T00:00:00.000000Z' } },
  ],
  [
    `PATCH ${leases}/kube-node-lease/leases/${other}${dry}`,
    'can only access node lease with the same name as the requesting node',
    {},
  ],
  [
    `POST ${leases}/kube-node-lease/leases${dry}`,
    'can only access node lease with the same name as the requesting node',
    named('new'),
  ],
  [
    `PATCH ${leases}/kube-system/leases/kube-controller-manager${dry}`,
    'can only access leases in the "kube-node-lease" system namespace',
    {},
  ],
  [
    `PATCH ${apps}/storage.k8s.io/v1/csinodes/${other}${dry}`,
    'can only access CSINode with the same name as the requesting node',
    {},
  ],
  [`POST ${slices}${dry}`, 201, slice(stolen)],
  [`POST ${slices}${dry}`, 'can only create ResourceSlice with the same NodeName as the requesting node', slice(other)],
  [`DELETE ${slices}/theirs${dry}`, unrelated],
  [`DELETE ${slices}${dry}`, 'can only list/watch/deletecollection resourceslices with nodeName field selector'],
  [`DELETE ${slices}${dry}&fieldSelector=spec.nodeName%3D${stolen}`, 200],

  [`PATCH ${inDefault}/persistentvolumeclaims/mine/status${dry}`, 200, { status: { capacity: { storage: '2Gi' } } }],
  [
    `PATCH ${inDefault}/persistentvolumeclaims/mine/status${dry}`,
    `node "${stolen}" is not allowed to update fields other than status.quantity and status.conditions`,
    { metadata: { labels: { a: 'b' } } },
  ],
  [`PATCH ${inDefault}/persistentvolumeclaims/theirs/status${dry}`, unrelated, { status: {} }],
  [`PATCH ${inDefault}/persistentvolumeclaims/mine${dry}`, onlyGet, {}],
  [`POST ${core}/persistentvolumes${dry}`, onlyGet, named('new')],
  [`PATCH ${core}/persistentvolumes/mine${dry}`, onlyGet, {}],
  [`DELETE ${core}/persistentvolumes/mine${dry}`, onlyGet],
  [`PATCH ${inDefault}/secrets/mine${dry}`, 'can only read resources of this type', {}],
  [`POST ${inDefault}/secrets${dry}`, 'can only read resources of this type', named('new')],

  // As upstream: events can be written into every namespace, and reviews are created for the kubelet's own port.
  [
    `POST ${core}/namespaces/kube-system/events${dry}`,
    201,
    { ...named('e'), involvedObject: { kind: 'Pod', name: 'x', namespace: 'kube-system' } },
  ],
  [`POST ${apps}/authentication.k8s.io/v1/tokenreviews`, 201, { spec: { token: 'x' } }],
  [
    `POST ${apps}/authorization.k8s.io/v1/subjectaccessreviews`,
    201,
    { spec: { user: 'x', resourceAttributes: { verb: 'get', resource: 'pods' } } },
  ],
  [`POST ${core}/namespaces${dry}`, denied, named('new')],
  [`POST ${inDefault}/services${dry}`, denied, named('new')],
  [`PATCH ${inDefault}/services/kubernetes/status${dry}`, denied, {}],
  [`POST ${apps}/discovery.k8s.io/v1/namespaces/default/endpointslices${dry}`, denied, named('new')],
  [`POST ${apps}/rbac.authorization.k8s.io/v1/clusterrolebindings${dry}`, denied, named('new')],
  [`POST ${apps}/storage.k8s.io/v1/volumeattachments${dry}`, onlyGet, named('new')],
]

const event = (from: string, arrow = 'call') => ({
  events: [{ span: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, from, to: 'Network', what: 'x', arrow, atMs: 1 }],
})

const ownEndpoints: readonly Row[] = [
  [`GET ${flowEventsPath}`, denied],
  [`POST ${flowEventsPath}`, 200, event(`kubelet/${stolen}`)],
  ...[`kubelet/${other}`, 'apiserver', 'scheduler', 'controllers', 'controller/job', 'client'].map((from): Row => [
    `POST ${flowEventsPath}`,
    `system:node:${stolen} does not speak as "${from}"`,
    event(from),
  ]),
  [`POST ${flowEventsPath}`, 400, event(`kubelet/${stolen}`, 'persist')],
  [`GET ${decisionsPath}default/theirs`, denied],
  [`GET ${decisionQueriesPath}`, denied],
  [`POST ${decisionQueriesPath}`, denied, { id: 1, explanation: {} }],
  // The page shows what its user may read.
  ...['history', 'why', 'flow'].flatMap((view): Row[] => [
    [`GET /ui/api/${view}?version=v1&resource=secrets&namespace=default&name=theirs`, unrelated],
    [`GET /ui/api/${view}?version=v1&resource=pods&namespace=default&name=theirs`, unrelated],
  ]),
  ['GET /ui/api/history?version=v1&resource=pods&namespace=default&name=mine', 200],
  ['GET /metrics', denied],
  ['GET /logs/', denied],
  ['GET /debug/pprof/', denied],
  ['GET /configz', denied],
  ['GET /openid/v1/jwks', denied],
  // Discovery, as of every authenticated user.
  ['GET /apis', 200],
  ['GET /openapi/v2', 200],
  ['GET /version', 200],
]

/** Requests with the certificate of the node. */
export const nodeRows = [...reads, ...writes, ...ownEndpoints]

/** Requests of the network agent: what upstream's kube-proxy may, and what the agents of CNI plugins read. */
export const networkRows: readonly Row[] = [
  ...[
    `${core}/nodes`,
    `${core}/services`,
    `${core}/pods`,
    `${core}/namespaces`,
    `${apps}/discovery.k8s.io/v1/endpointslices`,
    `${apps}/networking.k8s.io/v1/networkpolicies`,
  ].map((path): Row => [`GET ${path}`, 200]),
  [`GET ${core}/nodes/${other}`, 200],
  [`GET ${inDefault}/pods/theirs`, denied],
  [`GET ${core}/secrets`, denied],
  [`GET ${inDefault}/secrets/mine`, denied],
  [`GET ${core}/configmaps`, denied],
  [`GET ${core}/persistentvolumes`, denied],
  [`PATCH ${core}/nodes/${stolen}${dry}`, denied, {}],
  [`PATCH ${core}/nodes/${other}/status${dry}`, denied, status],
  [`PATCH ${inDefault}/services/kubernetes/status${dry}`, denied, {}],
  [`PATCH ${inDefault}/pods/mine/status${dry}`, denied, {}],
  [`DELETE ${inDefault}/pods/theirs${dry}`, denied],
  [`POST ${agents}/coxswain-network/token`, denied, agentTokenOf(stolen)],
  [`POST ${flowEventsPath}`, denied, event(`proxy/${stolen}`)],
  [`GET ${flowEventsPath}`, denied],
  ['GET /metrics', denied],
]

const volume = (node: string, local: object = { path: '/data/pvc-u' }) => ({
  metadata: { name: 'pvc-u' },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    claimRef: { namespace: 'default', name: 'theirs', uid: 'u' },
    local,
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] }],
      },
    },
  },
})
const onlyItself = `node "${stolen}" can only write persistentvolumes that are directories of itself`

/** Requests of the provisioner: it reads as an external provisioner, and writes volumes of its own node only. */
export const provisionerRows: readonly Row[] = [
  ...[`${core}/persistentvolumes`, `${core}/persistentvolumeclaims`, `${apps}/storage.k8s.io/v1/storageclasses`].map(
    (path): Row => [`GET ${path}`, 200],
  ),
  [`POST ${core}/persistentvolumes${dry}`, onlyItself, volume(other)],
  [`POST ${core}/persistentvolumes${dry}`, onlyItself, volume(stolen, { path: '/etc' })],
  [
    `POST ${core}/persistentvolumes${dry}`,
    `node "${stolen}" can only create persistentvolumes for unbound claims whose selected node is itself`,
    volume(stolen),
  ],
  [`PATCH ${core}/persistentvolumes/theirs${dry}`, onlyItself, { spec: { capacity: { storage: '2Gi' } } }],
  [`DELETE ${core}/persistentvolumes/theirs${dry}`, onlyItself],
  [`PATCH ${inDefault}/persistentvolumeclaims/mine/status${dry}`, denied, {}],
  [`PATCH ${inDefault}/persistentvolumeclaims/theirs${dry}`, denied, {}],
  [`GET ${core}/pods`, denied],
  [`GET ${core}/nodes/${stolen}`, denied],
  [`GET ${core}/secrets`, denied],
  [`POST ${core}/namespaces/default/events${dry}`, denied, named('e')],
  [`POST ${agents}/coxswain-network/token`, denied, agentTokenOf(stolen)],
]
