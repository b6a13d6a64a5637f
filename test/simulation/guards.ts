// Invariants of the cluster: a budget against evictions, ranges of nodes, names in certificates, and a quota. The
// actions that test them, and the checks.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { isPodReady } from '../../src/api/core/v1/pod/pod-readiness.ts'
import { isBeingDeleted } from '../../src/api/meta/object.ts'
import {
  certificateSigningRequest,
  clusterRoleBinding,
  configMap,
  deployment,
  node,
  pod,
  podDisruptionBudget,
  resourceQuota,
} from '../../src/cluster/index.ts'
import { base64Text } from '../../src/pki/pem.ts'
import { certificateRequestPem } from '../../src/pki/certificate-request.ts'
import { nodeCrypto } from '../../src/platform/node/crypto.ts'
import { attempt, ctx, home, isSettled, listOf, nodeCount, selector, template, type Act, type World } from './world.ts'

const guarded = { app: 'guarded', replicas: 4, minAvailable: 2 }
const mapsMax = 5
const key = nodeCrypto.generateKey()
const stranger = 'mallory'

export async function startGuards({ cluster: { client } }: World): Promise<void> {
  const { app, replicas, minAvailable } = guarded
  const spec = { replicas, selector: selector(app), template: template(app, 'image:0') }
  await client.of(deployment).create({ metadata: { name: app }, spec }, home, ctx)
  const budget = { minAvailable, selector: selector(app) }
  await client.of(podDisruptionBudget).create({ metadata: { name: app }, spec: budget }, home, ctx)
  const hard = { 'count/configmaps': String(mapsMax) }
  await client.of(resourceQuota).create({ metadata: { name: 'maps' }, spec: { hard } }, home, ctx)
  const apiGroup = 'rbac.authorization.k8s.io'
  const mayAsk = 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient'
  for (const [role, kind, name] of [
    [mayAsk, 'Group', 'system:nodes'],
    [mayAsk.replace('self', ''), 'Group', 'system:bootstrappers'],
    ['system:node-bootstrapper', 'User', stranger],
  ] as const) {
    const roleRef = { apiGroup, kind: 'ClusterRole', name: role }
    await client
      .of(clusterRoleBinding)
      .create({ metadata: { name: role }, roleRef, subjects: [{ apiGroup, kind, name }] }, '', ctx)
  }
}

/** A node or another user requests a certificate, for its own name or for another. */
async function requestCertificate({ cluster, random }: World): Promise<void> {
  const nodeNameAt = (index: number) => `system:node:node-${index}`
  const own = random.below(nodeCount)
  const requested = random.below(nodeCount)
  const isNode = random.below(3) > 0
  const client = cluster.as(isNode ? nodeNameAt(own) : stranger, isNode ? ['system:nodes'] : [])
  const subject = { commonName: nodeNameAt(requested), organizations: ['system:nodes'] }
  const spec = {
    request: base64Text(certificateRequestPem({ subject }, key)),
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
  }
  await attempt(() => client.of(certificateSigningRequest).create({ metadata: { generateName: 'r-' }, spec }, '', ctx))
}

async function evict(world: World): Promise<void> {
  const pods = ((await listOf(world, pod)) ?? []).filter(({ metadata }) => metadata.labels?.['app'] === guarded.app)
  // Concurrent evictions compete for the remaining disruptions of the budget.
  const chosen = pods.filter(() => world.random.below(2) === 0)
  const pending = chosen.map(({ metadata: { name } }) =>
    attempt(() => world.cluster.client.of(pod).createSubresource(name, home, 'eviction', { metadata: { name } }, ctx)),
  )
  await Promise.all(pending)
}

export const guardActions: readonly Act[] = [
  requestCertificate,
  evict,
  evict,
  async ({ cluster, random }) => {
    const maps = cluster.client.of(configMap)
    const makers = Array.from({ length: random.below(8) }, () =>
      attempt(() => maps.create({ metadata: { generateName: 'm-' } }, home, ctx)),
    )
    await Promise.all(makers)
  },
  async (world) => {
    // Pods need the root certificate, which cannot be published again while the quota is used up.
    const maps = (await listOf(world, configMap))?.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt') ?? []
    for (const { metadata } of maps)
      if (world.random.below(2) === 0)
        await attempt(() => world.cluster.client.of(configMap).delete(metadata.name, home, {}, ctx))
  },
]

const readyGuarded = async (world: World): Promise<number | undefined> =>
  (await listOf(world, pod))?.filter(
    (each) => each.metadata.labels?.['app'] === guarded.app && isPodReady(each) && !isBeingDeleted(each),
  ).length

/** Holds at any moment. */
export async function checkGuards(world: World): Promise<void> {
  const ready = await readyGuarded(world)
  if (ready === guarded.replicas && isSettled(world)) world.isGuardBroken = false
  ok(
    ready === undefined || world.isGuardBroken || ready >= guarded.minAvailable,
    `${ready} guarded pods are ready: evictions went beyond the budget`,
  )
  const ranges = ((await listOf(world, node)) ?? []).flatMap(({ spec }) => spec.podCIDRs ?? [])
  equal(new Set(ranges).size, ranges.length, `a range is held twice: ${ranges.join()}`)
  const maps = (await listOf(world, configMap)) ?? []
  ok(!world.isQuotaKnown || maps.length <= mapsMax, `${maps.length} ConfigMaps, ${mapsMax} are allowed`)
  const [quota] = (await listOf(world, resourceQuota)) ?? []
  world.isQuotaKnown ||= quota?.status.used !== undefined && maps.length <= mapsMax
  for (const { metadata, spec, status } of (await listOf(world, certificateSigningRequest)) ?? []) {
    if (status.certificate === undefined) continue
    const { subject } = new X509Certificate(atob(status.certificate))
    equal(
      subject,
      `O=system:nodes\nCN=${spec.username}`,
      `${metadata.name} was signed for another name than the requester's`,
    )
  }
}

/** Holds at the end. */
export async function checkSettledGuards(world: World): Promise<void> {
  equal(await readyGuarded(world), guarded.replicas, 'ready guarded pods')
  const maps = (await listOf(world, configMap)) ?? []
  for (const { status } of (await listOf(world, resourceQuota)) ?? [])
    deepEqual(status.used, { 'count/configmaps': String(maps.length) }, 'the usage in the quota')
  for (const { metadata, spec } of (await listOf(world, node)) ?? [])
    ok(spec.podCIDR !== undefined, `${metadata.name} has no range`)
  for (const { metadata, spec, status } of (await listOf(world, certificateSigningRequest)) ?? [])
    equal(status.certificate !== undefined, spec.username !== stranger, `the certificate of ${metadata.name}`)
}
