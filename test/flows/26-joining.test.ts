// Flow 26, the supported parts: a machine joins with a bootstrap token, its certificate is renewed, and it leaves.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { tokenReview } from '../../src/api/authentication/v1/token-review.ts'
import { certificateSigningRequest } from '../../src/api/certificates/v1/certificate-signing-request.ts'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { lease } from '../../src/api/coordination/v1/lease.ts'
import { node } from '../../src/api/core/v1/node/node.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { secret } from '../../src/api/core/v1/secret.ts'
import { clusterRoleBinding } from '../../src/api/rbac/v1/cluster-role-binding.ts'
import { userWithName } from '../../src/apiserver/request/request.ts'
import { rfc3339 } from '../../src/base/time/clock.ts'
import { context } from '../../src/base/observability/context.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import { Cluster } from '../../src/cluster/run/cluster.ts'
import { adminUser, nodeUser } from '../../src/cluster/client/component-users.ts'
import { temporaryCertificates } from '../../src/cluster/certificates/cluster-certificates.ts'
import { buildRequestPolicies } from '../../src/cluster/policy/request-policies.ts'
import { flowTreesOf } from '../../src/flows/flow-graph.ts'
import { textDiagram } from '../../src/flows/text-diagram.ts'
import { base64Text } from '../../src/pki/pem.ts'
import { certificateRequestPem } from '../../src/pki/certificate-request.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { MemoryStore } from '../../src/store/memory-store.ts'
import { comparePage, excerpt } from './page.ts'

const ctx = context(new AbortController().signal)
const roles = 'system:certificates.k8s.io:certificatesigningrequests'

async function start() {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const random = seededRandom(1)
  const certificates = temporaryCertificates({ clock, random, platform: nodePlatform, hosts: [] })
  const { policies } = buildRequestPolicies({ clock, random, platform: nodePlatform, ...certificates })
  const store = new MemoryStore(clock)
  const controllerSettings = { signer: certificates.signer, certificateAuthority: () => certificates.authority }
  const cluster = new Cluster({ clock, random, log: silentLog, store, policies, nodes: 1, controllerSettings })
  cluster.start()
  await clock.advance('5s')
  const admin = cluster.client('admin', adminUser)
  // Set up by an installer: who may join, and the public cluster information.
  for (const [role, group] of [
    ['system:node-bootstrapper', 'system:bootstrappers'],
    [`${roles}:nodeclient`, 'system:bootstrappers'],
    [`${roles}:selfnodeclient`, 'system:nodes'],
  ] as const)
    await admin.of(clusterRoleBinding).create(
      {
        metadata: { name: role },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
      },
      '',
      ctx,
    )
  const { authority } = certificates
  await cluster.publishInfo({ server: 'https://192.0.2.100:6443', authority }, ctx.signal)
  const token = { id: 'abcdef', secret: '0123456789abcdef' }
  await admin.of(secret).create(
    {
      metadata: { name: `bootstrap-token-${token.id}` },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': token.id,
        'token-secret': token.secret,
        'usage-bootstrap-authentication': 'true',
        'usage-bootstrap-signing': 'true',
        expiration: rfc3339(clock.nowMs() + 3_600_000),
      },
    },
    'kube-system',
    ctx,
  )
  await clock.advance('1s')
  const userOf = async (shown: string) => {
    const { status } = await admin.of(tokenReview).create({ metadata: {}, spec: { token: shown } }, '', ctx)
    return status?.authenticated === true ? userWithName(status.user?.username ?? '', status.user?.groups) : undefined
  }
  const ask = async (name: string, sender: string, by: ReturnType<typeof nodeUser>, nodeName: string) => {
    const key = nodePlatform.crypto.generateKey()
    const subject = { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] }
    const spec = {
      request: base64Text(certificateRequestPem({ subject }, key)),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    }
    await cluster.client(sender, by).of(certificateSigningRequest).create({ metadata: { name }, spec }, '', ctx)
    await clock.advance('1s')
    return (await admin.of(certificateSigningRequest).get(name, '', ctx)).status.certificate
  }
  const flowOf = (name: string) =>
    textDiagram(flowTreesOf(cluster.flow.events(), { resource: 'certificatesigningrequests', namespace: '', name }))
  return {
    cluster,
    clock,
    admin,
    token,
    certificates,
    userOf,
    ask,
    flowOf,
    [Symbol.asyncDispose]: () => cluster.stop(),
  }
}

test('26 joining: token, request, certificate, renewal', async () => {
  await using world = await start()
  const { cluster, token, certificates, userOf, ask, flowOf, admin } = world
  const info = await admin.of(configMap).get('cluster-info', 'kube-public', ctx)
  match(info.data?.['jws-kubeconfig-abcdef'] ?? '', /^[\w-]+\.\.[\w-]+$/, 'holders of the token can verify it')
  const stranger = cluster.client('machine', userWithName('system:anonymous', ['system:unauthenticated']))
  deepEqual((await stranger.of(configMap).get('cluster-info', 'kube-public', ctx)).data, info.data)
  await rejects(stranger.of(configMap).list({ namespace: 'kube-public' }, ctx), /cannot list resource "configmaps"/)
  const machine = await userOf(`${token.id}.${token.secret}`)
  deepEqual([machine?.name, machine?.groups.includes('system:bootstrappers')], ['system:bootstrap:abcdef', true])
  const issued = await ask('joining', 'machine', machine ?? adminUser, 'worker')
  const certificate = new X509Certificate(atob(issued ?? ''))
  equal(certificate.subject, 'O=system:nodes\nCN=system:node:worker')
  ok(certificate.verify(new X509Certificate(certificates.authority).publicKey))
  const kubelet = cluster.client('kubelet/worker', nodeUser('worker'))
  await kubelet.of(node).create({ metadata: { name: 'worker' } }, '', ctx)
  ok(await ask('renewal', 'kubelet/worker', nodeUser('worker'), 'worker'))
  const arrows = [/certificatesigningrequests/, /subjectaccessreviews/]
  const leaving = await leave(world)
  await comparePage(
    '26-joining',
    'Joining and leaving',
    [
      {
        heading: 'A machine joins',
        text: 'The machine authenticates with its bootstrap token. Its certificate request is approved, because its group may request certificates of nodes, and signed.',
        diagram: excerpt(flowOf('joining'), ...arrows, /Store: put certificatesigningrequest/),
      },
      {
        heading: 'A certificate is renewed',
        text: 'The request is approved, because the node requests a certificate for itself.',
        diagram: excerpt(flowOf('renewal'), ...arrows, /Store: put certificatesigningrequest/),
      },
      ...leaving,
    ],
    [
      ['a wrong or expired token', 'is rejected', 'test/flows/26-joining.test.ts'],
      [
        'a node requests the certificate or the secrets of another node',
        'both requests are rejected',
        'test/flows/26-joining.test.ts',
      ],
      [
        'a machine joins, and its kubelet is killed and restarted',
        'its containers keep running',
        'test/kubelet/joining.test.ts',
      ],
    ],
  )
})

/** The node is drained and deleted, then its machine is reset. */
async function leave({ cluster, clock, admin }: Awaited<ReturnType<typeof start>>) {
  const kubectl = cluster.client('kubectl', adminUser)
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  await admin.of(pod).create({ metadata: { name: 'work' }, spec }, 'default', ctx)
  await clock.advance('5s')
  await kubectl.of(node).patch('node-0', '', { spec: { unschedulable: true } }, 'merge', ctx)
  await kubectl.of(pod).createSubresource('work', 'default', 'eviction', { metadata: { name: 'work' } }, ctx)
  await clock.advance('1m')
  equal(await admin.of(pod).find('work', 'default', ctx), undefined)
  await cluster.component('kubelet/node-0').kill()
  await kubectl.of(node).delete('node-0', '', {}, ctx)
  await clock.advance('1m')
  equal(await admin.of(lease).find('node-0', 'kube-node-lease', ctx), undefined, 'its lease goes with it')
  const lifeText = (resource: string, namespace: string, name: string) =>
    textDiagram(flowTreesOf(cluster.flow.events(), { resource, namespace, name }))
  return [
    {
      heading: 'A node is drained',
      text: 'The node is cordoned, and its pods are evicted gracefully as far as disruption budgets allow.',
      diagram: [
        excerpt(lifeText('nodes', '', 'node-0'), /kubectl ──► API Server: patch nodes/),
        excerpt(
          lifeText('pods', 'default', 'work'),
          /eviction/,
          /Runtime: stop/,
          /(delete|update) pods/,
          /Store: delete pod/,
        ),
      ].join('\n\n'),
    },
    {
      heading: 'A node leaves',
      text: 'Its kubelet has stopped. The pod garbage collector deletes the pods of the node.',
      diagram: excerpt(lifeText('leases', 'kube-node-lease', 'node-0'), /delete leases/, /Store: delete lease/),
    },
  ]
}

test('26: a wrong or expired token is rejected', async () => {
  await using world = await start()
  const { clock, token, userOf } = world
  equal(await userOf(`${token.id}.fedcba9876543210`), undefined)
  equal(await userOf(`fedcba.${token.secret}`), undefined)
  await clock.advance('1h')
  equal(await userOf(`${token.id}.${token.secret}`), undefined)
})

test('26: a node gets neither the certificate nor the secrets of another node', async () => {
  await using world = await start()
  const { cluster, clock, admin, ask } = world
  await rejects(ask('theft', 'kubelet/a', nodeUser('a'), 'b'), /can only create a node CSR with CN=system:node:a/)
  await admin.of(secret).create({ metadata: { name: 'password' }, stringData: { p: 'x' } }, 'default', ctx)
  const volumes = [{ name: 'v', secret: { secretName: 'password' } }]
  const spec = { containers: [{ name: 'c', image: 'i' }], volumes }
  await admin.of(pod).create({ metadata: { name: 'p' }, spec }, 'default', ctx)
  await clock.advance('5s')
  const read = (name: string) =>
    cluster.client(`kubelet/${name}`, nodeUser(name)).of(secret).get('password', 'default', ctx)
  ok(await read('node-0'), 'the node that runs the pod may read it')
  await rejects(read('other'), /no relationship found between node 'other' and this object/)
})
