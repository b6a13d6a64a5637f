// Restrictions of kubelets and owners beyond their roles.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import type { Policies } from '../filters/policies.ts'
import { startServer, type Harness } from '../server.harness.ts'
import { noOpinion, allowed } from '../authorization/authorizer.ts'
import { ownerReferencesPermissionEnforcement } from './plugins/owner-references-permission-enforcement.ts'
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts'
import { openPolicies } from '../open-policies.ts'
import { kubelet, make, merge } from './restrictions.harness.ts'

const pods = '/api/v1/namespaces/default/pods'
const nodes = '/api/v1/nodes'

const tokens = { kind: serviceAccount, subresource: 'token', review: (body: unknown) => body as object }
/** All users may do everything, except request tokens of any audience: only one of them may. */
const authorize: Policies['authorize'] = (asked) =>
  asked.verb === 'request-serviceaccounts-token-audience' && asked.kind === 'resource' && asked.resource !== 'granted'
    ? noOpinion()
    : allowed()
const tokenVolume = (audience: string) => ({
  name: 't',
  projected: { sources: [{ serviceAccountToken: { path: 'token', audience } }] },
})

/** A server with two nodes and a pod on each. */
async function withNodes(): Promise<Harness> {
  const server = await startServer({ ...openPolicies, reviews: [tokens], authorize })
  for (const name of ['n1', 'n2']) {
    await make(server, nodes, { metadata: { name, labels: { 'node-restriction.kubernetes.io/team': 'a' } } })
    await make(server, pods, {
      metadata: { name: `on-${name}` },
      spec: { nodeName: name, containers: [{ name: 'c', image: 'i' }], volumes: [tokenVolume('vault')] },
    })
  }
  return server
}

const mirror = (nodeName: string, more: object = {}) => ({
  metadata: { name: 'm', annotations: { 'kubernetes.io/config.mirror': 'h' }, ...more },
  spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
})
const owned = (change: object) => ({
  ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u', controller: true, ...change }],
})
/** A mirror pod with a volume, or with further fields of the spec. */
const mirrorWith = (spec: object) => ({
  ...mirror('n1', owned({ uid: '<uid of n1>' })),
  spec: { ...mirror('n1').spec, ...spec },
})
const mounting = (...sources: object[]) =>
  mirrorWith({ volumes: sources.map((source, index) => ({ name: `v${index}`, ...source })) })
const container = (more: object) => ({ name: 'c', image: 'i', ...more })
const secretKey = [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }]
const configKey = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 's', key: 'k' } } }]
const noSecrets = 'a mirror pod may not reference secrets'
const not = (what: string) => `node "n1" can not create pods that reference ${what}`
const projected = (source: object) => ({ projected: { sources: [source] } })
const claimTemplate = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }

/** The responses of kube-apiserver v1.36. */
const mirrors: [why: string, pod: object, answer: number | string][] = [
  ['the host', mounting({ hostPath: { path: '/x' } }), 201],
  ['the downward API', mounting(projected({ downwardAPI: { items: [] } })), 201],
  ['an account', mirrorWith({ serviceAccountName: 'default' }), 'a mirror pod may not reference service accounts'],
  ['a secret', mounting({ secret: { secretName: 's' } }), noSecrets],
  ['a secret in a projection', mounting(projected({ secret: { name: 's' } })), noSecrets],
  ['a secret of a CSI driver', mounting({ csi: { driver: 'd.x', nodePublishSecretRef: { name: 's' } } }), noSecrets],
  ['a secret of a file share', mounting({ azureFile: { secretName: 's', shareName: 'x' } }), noSecrets],
  ['a secret as an environment variable', mirrorWith({ containers: [container({ env: secretKey })] }), noSecrets],
  ['a secret in envFrom', mirrorWith({ containers: [container({ envFrom: [{ secretRef: { name: 's' } }] })] }), noSecrets],
  ['a secret of an init container', mirrorWith({ initContainers: [container({ name: 'i', env: secretKey })] }), noSecrets],
  ['an image pull secret', mirrorWith({ imagePullSecrets: [{ name: 's' }] }), noSecrets],
  ['a ConfigMap', mounting({ configMap: { name: 'c' } }), not('configmaps')],
  ['a ConfigMap in a projection', mounting(projected({ configMap: { name: 's' } })), not('configmaps')],
  ['a ConfigMap as an environment variable', mirrorWith({ containers: [container({ env: configKey })] }), not('configmaps')],
  ['a claim', mounting({ persistentVolumeClaim: { claimName: 'c' } }), not('persistentvolumeclaims')],
  ['a claim and a ConfigMap', mounting({ persistentVolumeClaim: { claimName: 'c' } }, { configMap: { name: 'c' } }), not('configmaps')],
  ['an ephemeral claim', mounting({ ephemeral: { volumeClaimTemplate: claimTemplate } }), not('persistentvolumeclaims (via ephemeral volumes)')],
  ['a CSI volume', mounting({ csi: { driver: 'd.x' } }), not('csidrivers (via CSI volumes)')],
  ['a token', mounting(projected({ serviceAccountToken: { path: 't' } })), 'a mirror pod may not use ServiceAccountToken volume projections'],
  ['a ClusterTrustBundle', mounting(projected({ clusterTrustBundle: { name: 'x', path: 'p' } })), not('clustertrustbundles')],
  ['a certificate', mounting(projected({ podCertificate: { signerName: 'a.b/c', keyType: 'ED25519', credentialBundlePath: 'x' } })), not('podcertificates')],
  ['a resource claim', mirrorWith({ resourceClaims: [{ name: 'r', resourceClaimName: 'x' }] }), not('resourceclaims')],
] // prettier-ignore

const labelled = (labels: Record<string, string>) => ({ metadata: { labels } })
const account = '/api/v1/namespaces/default/serviceaccounts/default/token'
const tokenOf = (name: string, audience: string, uid = `<uid of ${name}>`) => ({
  spec: {
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    ...(audience ? { audiences: [audience] } : {}),
  },
})
const agentTokenOf = (name: string, more: object = {}, uid = `<uid of ${name}>`) => ({
  spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Node', name, uid }, ...more },
})
const agentToken = '/api/v1/namespaces/kube-system/serviceaccounts/coxswain-network/token'
const notItself = 'node requested token of an agent not bound to itself'
const withRange = (range: string) => ({ podCIDR: range, podCIDRs: [range] })
const noRanges = 'node "n1" is not allowed to set podCIDRs'
const onlyParts = (part: string) =>
  `unexpected pod subresource ${JSON.stringify(part)}, only 'status' and 'eviction' are allowed`
const leaseNamespaces = '/apis/coordination.k8s.io/v1/namespaces'

const rows: [why: string, method: string, path: string, body: object | undefined, answer: number | string][] = [
  ['a mirror pod of its own', 'POST', pods, mirror('n1', owned({ uid: '<uid of n1>' })), 201],
  [
    'a mirror pod of a node with another uid',
    'POST',
    pods,
    mirror('n1', owned({ uid: 'u' })),
    'node n1 UID mismatch: expected u got <uid of n1>',
  ],
  [
    'a mirror pod without an owner',
    'POST',
    pods,
    mirror('n1'),
    'node "n1" can only create pods with an owner reference set to itself',
  ],
  ...mirrors.map(([why, pod, answer]): (typeof rows)[number] => [
    `a mirror pod with ${why}`,
    'POST',
    `${pods}?dryRun=All`,
    pod,
    answer,
  ]),
  ['an eviction of its pod', 'POST', `${pods}/on-n1/eviction`, { metadata: { name: 'on-n1' } }, 201],
  [
    'an eviction of a pod on another node',
    'POST',
    `${pods}/on-n2/eviction`,
    { metadata: { name: 'on-n2' } },
    'node n1 can only evict pods with spec.nodeName set to itself',
  ],
  ['an eviction of a missing pod', 'POST', `${pods}/gone/eviction`, { metadata: { name: 'gone' } }, 404],
  ['a binding', 'POST', `${pods}/on-n1/binding`, { target: { name: 'n1' } }, onlyParts('binding')],
  ['a token of its pod', 'POST', account, tokenOf('on-n1', ''), 201],
  ['a token for an audience that its pod names', 'POST', account, tokenOf('on-n1', 'vault'), 201],
  ['a token for an audience that it is authorized for', 'POST', account, tokenOf('on-n1', 'granted'), 201],
  [
    'a token for another audience',
    'POST',
    account,
    tokenOf('on-n1', 'other'),
    'audience "other" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
  ],
  [
    'a token for two audiences',
    'POST',
    account,
    { spec: { ...tokenOf('on-n1', '').spec, audiences: ['a', 'b'] } },
    'node may only request 0 or 1 audiences',
  ],
  ['an unbound token', 'POST', account, { spec: {} }, 'node requested token not bound to a pod'],
  [
    'a token bound to a pod without its uid',
    'POST',
    account,
    tokenOf('on-n1', '', ''),
    'node requested token with a pod binding without a uid',
  ],
  [
    'a token bound to a pod with another uid',
    'POST',
    account,
    tokenOf('on-n1', '', 'u'),
    'the UID in the bound object reference (u) does not match the UID in record. The object might have been deleted and then recreated',
  ],
  [
    'a token of a pod on another node',
    'POST',
    account,
    tokenOf('on-n2', ''),
    'node requested token bound to a pod scheduled on a different node',
  ],
  ['a token of a missing pod', 'POST', account, tokenOf('gone', '', 'u'), 404],
  [
    'a mirror pod for another node',
    'POST',
    pods,
    mirror('n2'),
    'node "n1" can only create pods with spec.nodeName set to itself',
  ],
  [
    'a pod that is not a mirror pod',
    'POST',
    pods,
    { metadata: { name: 'x' }, spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] } },
    'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
  ],
  [
    'a mirror pod with another owner',
    'POST',
    pods,
    mirror('n1', owned({ name: 'n2' })),
    'node "n1" can only create pods with an owner reference set to itself',
  ],
  [
    'a mirror pod that blocks the deletion of its owner',
    'POST',
    pods,
    mirror('n1', owned({ blockOwnerDeletion: true })),
    'node "n1" must not set blockOwnerDeletion on an owner reference',
  ],
  ['the status of its pod', 'PATCH', `${pods}/on-n1/status`, { status: { phase: 'Running' } }, 200],
  [
    'the status of a pod on another node',
    'PATCH',
    `${pods}/on-n2/status`,
    { status: { phase: 'Running' } },
    'node "n1" can only update pod status for pods with spec.nodeName set to itself',
  ],
  [
    'labels in a status update',
    'PATCH',
    `${pods}/on-n1/status`,
    labelled({ a: 'b' }),
    'node "n1" cannot update labels through pod status',
  ],
  [
    'an update of its pod',
    'PATCH',
    `${pods}/on-n1`,
    labelled({ a: 'b' }),
    'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
  ],
  ['deletion of its pod', 'DELETE', `${pods}/on-n1?gracePeriodSeconds=0`, undefined, 200],
  [
    'deletion of a pod on another node',
    'DELETE',
    `${pods}/on-n2`,
    undefined,
    'node "n1" can only delete pods with spec.nodeName set to itself',
  ],
  ['its node', 'PATCH', `${nodes}/n1`, labelled({ 'kubernetes.io/hostname': 'h', 'example.com/x': 'y' }), 200],
  ['another node', 'PATCH', `${nodes}/n2`, labelled({ a: 'b' }), 'node "n1" is not allowed to modify node "n2"'],
  [
    'labels that a node may not set',
    'PATCH',
    `${nodes}/n1`,
    labelled({ 'node-restriction.kubernetes.io/team': 'b', 'node-role.kubernetes.io/control-plane': '' }),
    'is not allowed to modify labels: node-restriction.kubernetes.io/team, node-role.kubernetes.io/control-plane',
  ],
  [
    'taints',
    'PATCH',
    `${nodes}/n1`,
    { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } },
    'node "n1" is not allowed to modify taints',
  ],
  ['its range of pods', 'PATCH', `${nodes}/n1`, { spec: withRange('10.9.0.0/24') }, noRanges],
  ['all addresses as its range', 'PATCH', `${nodes}/n1`, { spec: { podCIDRs: ['0.0.0.0/0'] } }, noRanges],
  ['its range with its status', 'PATCH', `${nodes}/n1/status`, { spec: withRange('10.9.0.0/24') }, 200],
  [
    'a new node with a range',
    'POST',
    `${nodes}?dryRun=All`,
    { metadata: { name: 'n1' }, spec: withRange('::/0') },
    noRanges,
  ],
  [
    'a resource claim in a status update',
    'PATCH',
    `${pods}/on-n1/status`,
    { status: { resourceClaimStatuses: [{ name: 'r', resourceClaimName: 'stolen' }] } },
    'node "n1" cannot update resource claim statues',
  ],
  [
    'an extended resource claim in a status update',
    'PATCH',
    `${pods}/on-n1/status`,
    { status: { extendedResourceClaimStatus: { resourceClaimName: 'stolen', requestMappings: [] } } },
    'node "n1" cannot update extended resource claim status',
  ],
  ['a token of its agent', 'POST', agentToken, agentTokenOf('n1'), 201],
  ['a token of its agent for another node', 'POST', agentToken, agentTokenOf('n2'), notItself],
  ['a token of its agent for a former node of its name', 'POST', agentToken, agentTokenOf('n1', {}, 'u'), notItself],
  ['an unbound token of its agent', 'POST', agentToken, { spec: {} }, notItself],
  [
    'a token of its agent for another audience',
    'POST',
    agentToken,
    agentTokenOf('n1', { audiences: ['vault'] }),
    'node requested token of an agent for another audience',
  ],
  [
    'a token of its agent that is valid for long',
    'POST',
    agentToken,
    agentTokenOf('n1', { expirationSeconds: 3_601 }),
    'tokens of agents expire within 3600 seconds',
  ],
  [
    'a token of another account, bound to itself',
    'POST',
    account,
    agentTokenOf('n1'),
    'node requested token not bound to a pod',
  ],
  ['its lease', 'POST', `${leaseNamespaces}/kube-node-lease/leases`, { metadata: { name: 'n1' } }, 201],
  [
    'the lease of another node',
    'POST',
    `${leaseNamespaces}/kube-node-lease/leases`,
    { metadata: { name: 'n2' } },
    'can only access node lease with the same name as the requesting node',
  ],
  [
    'a lease in another namespace',
    'POST',
    `${leaseNamespaces}/default/leases`,
    { metadata: { name: 'n1' } },
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  [
    'the CSINode of another node',
    'POST',
    '/apis/storage.k8s.io/v1/csinodes',
    { metadata: { name: 'n2' }, spec: { drivers: [] } },
    'can only access CSINode with the same name as the requesting node',
  ],
]
for (const [why, method, path, body, answer] of rows)
  test(`a kubelet writes ${why}`, async () => {
    await using server = await withNodes()
    for (const name of ['kube-node-lease', 'kube-system'])
      await make(server, '/api/v1/namespaces', { metadata: { name } })
    const headers = method === 'PATCH' ? { ...kubelet, ...merge } : kubelet
    const uids = new Map([
      ['n1', (await server.call('GET', `${nodes}/n1`)).body.metadata.uid],
      ['n2', (await server.call('GET', `${nodes}/n2`)).body.metadata.uid],
      ['on-n1', (await server.call('GET', `${pods}/on-n1`)).body.metadata.uid],
      ['on-n2', (await server.call('GET', `${pods}/on-n2`)).body.metadata.uid],
    ])
    const withUids = (text: string) => text.replaceAll(/<uid of ([\w-]+)>/g, (_, of: string) => uids.get(of))
    const sent = body === undefined ? undefined : withUids(JSON.stringify(body))
    const { status, body: result } = await server.call(method, path, sent, headers)
    if (typeof answer === 'number') equal(status, answer, JSON.stringify(result))
    else deepEqual([status, result.message.replace(/^.* is forbidden: /, '')], [403, withUids(answer)])
  })

test('owner references need permission to delete the object and to block the deletion of its owner', async () => {
  const admission = [ownerReferencesPermissionEnforcement]
  const may = new Set<string>()
  await using server = await startServer({
    ...openPolicies,
    admission,
    authorize: (asked) =>
      asked.user.name === 'admin' ||
      asked.kind === 'path' ||
      may.has(`${asked.verb} ${asked.resource}${asked.subresource === '' ? '' : `/${asked.subresource}`}`)
        ? allowed()
        : noOpinion(),
  })
  const maps = '/api/v1/namespaces/default/configmaps'
  await make(server, maps, { metadata: { name: 'm' } })
  const own = (change: object = {}) =>
    server.call(
      'PATCH',
      `${maps}/m`,
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', ...change }] } },
      { ...merge, as: 'jane' },
    )
  may.add('patch configmaps')
  match((await own()).body.message, /cannot set an ownerRef on a resource you can't delete/)
  may.add('delete configmaps')
  match((await own({ blockOwnerDeletion: true })).body.message, /a resource you can't set finalizers on/)
  equal((await own()).status, 200)
  may.add('update pods/finalizers')
  equal((await own({ blockOwnerDeletion: true })).status, 200)
  match((await own({ kind: 'Nothing', uid: 'v', blockOwnerDeletion: true })).body.message, /cannot find RESTMapping/)
})

test('a bound pod has the zone and region of its node', async () => {
  await using server = await startServer()
  const zone = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' }
  await make(server, nodes, { metadata: { name: 'n', labels: { ...zone, 'kubernetes.io/hostname': 'h' } } })
  await make(server, pods, {
    metadata: { name: 'p', labels: { app: 'a' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  })
  await make(server, `${pods}/p/binding`, {
    metadata: { name: 'p' },
    target: { apiVersion: 'v1', kind: 'Node', name: 'n' },
  })
  const { body } = await server.call('GET', `${pods}/p`)
  deepEqual([body.spec.nodeName, body.metadata.labels], ['n', { app: 'a', ...zone }])
})

test('storage protection and the initial taint are added when the cluster runs their controllers', async () => {
  await using server = await startServer({
    ...openPolicies,
    admission: [storageObjectInUseProtection, taintNodesByCondition],
  })
  const claim = await server.call('POST', '/api/v1/namespaces/default/persistentvolumeclaims', {
    metadata: { name: 'c', finalizers: ['example.com/own'] },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })
  deepEqual(claim.body.metadata.finalizers, ['example.com/own', 'kubernetes.io/pvc-protection'])
  const volume = await server.call('POST', '/api/v1/persistentvolumes', {
    metadata: { name: 'v' },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
  })
  deepEqual(volume.body.metadata.finalizers, ['kubernetes.io/pv-protection'])
  const { body } = await server.call('POST', nodes, { metadata: { name: 'n' } })
  deepEqual(body.spec.taints, [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }])
})
