// Certificate signing requests: automatic approval, signing, lifetimes and deletion.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import {
  certificateSigningRequest,
  type CertificateSigningRequest,
} from '../../api/certificates/v1/certificate-signing-request.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { userWithName } from '../../apiserver/request/request.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { context } from '../../base/observability/context.ts'
import { Cluster } from '../../cluster/run/cluster.ts'
import { adminUser, nodeUser } from '../../cluster/client/component-users.ts'
import { temporaryCertificates } from '../../cluster/certificates/cluster-certificates.ts'
import { buildRequestPolicies } from '../../cluster/policy/request-policies.ts'
import { base64Text } from '../../pki/pem.ts'
import { parseCertificateRequest } from '../../pki/parse-certificate-request.ts'
import { certificateRequestPem, type CertificateRequestOptions } from '../../pki/certificate-request.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { made, nowMs } from '../runtime/plan.harness.ts'
import { approvalRulesFor } from './certificate-approving.ts'
import { deletionDueMs } from './certificate-cleaning.ts'
import { lifetimeMs } from './certificate-signing.ts'
import { signerRejection } from './signer-rules.ts'

const key = nodePlatform.crypto.generateKey()
const signers = {
  client: 'kubernetes.io/kube-apiserver-client',
  kubelet: 'kubernetes.io/kube-apiserver-client-kubelet',
  serving: 'kubernetes.io/kubelet-serving',
  legacy: 'kubernetes.io/legacy-unknown',
} as const
const subject = { commonName: 'system:node:a', organizations: ['system:nodes'] }
const clientUsages = ['digital signature', 'key encipherment', 'client auth']
const serverUsages = ['digital signature', 'key encipherment', 'server auth']

const rejections: [
  signer: keyof typeof signers,
  details: Partial<CertificateRequestOptions>,
  usages: string[],
  rejection: string | undefined,
][] = [
  ['client', { subject: { commonName: 'jane', organizations: [] } }, ['client auth'], undefined],
  ['client', {}, ['digital signature'], 'missing required usage for client certificate: client auth'],
  ['client', {}, ['client auth', 'server auth'], 'invalid usage for client certificate: server auth'],
  ['kubelet', {}, clientUsages, undefined],
  ['kubelet', {}, ['client auth', 'digital signature'], undefined],
  ['kubelet', {}, ['client auth'], 'usages did not match [client auth digital signature key encipherment]'],
  ['kubelet', {}, serverUsages, 'usages did not match [client auth digital signature key encipherment]'],
  ['kubelet', { subject: { ...subject, organizations: [] } }, clientUsages, 'subject organization is not system:nodes'],
  [
    'kubelet',
    { subject: { ...subject, organizations: ['system:nodes', 'system:masters'] } },
    clientUsages,
    'subject organization is not system:nodes',
  ],
  [
    'kubelet',
    { subject: { ...subject, commonName: 'jane' } },
    clientUsages,
    'subject common name does not begin with system:node:',
  ],
  ['kubelet', { dnsNames: ['a'] }, clientUsages, 'DNS subjectAltNames are not allowed'],
  ['kubelet', { emails: ['a@b'] }, clientUsages, 'Email subjectAltNames are not allowed'],
  ['kubelet', { addresses: ['10.0.0.1'] }, clientUsages, 'IP subjectAltNames are not allowed'],
  ['kubelet', { uris: ['x:y'] }, clientUsages, 'URI subjectAltNames are not allowed'],
  ['serving', { dnsNames: ['a'] }, serverUsages, undefined],
  ['serving', { addresses: ['fd00::1'] }, ['digital signature', 'server auth'], undefined],
  ['serving', {}, serverUsages, 'DNS or IP subjectAltName is required'],
  [
    'serving',
    { dnsNames: ['a'] },
    clientUsages,
    'usages did not match [digital signature key encipherment server auth]',
  ],
  [
    'serving',
    { dnsNames: ['a'], subject: { ...subject, commonName: 'a' } },
    serverUsages,
    'subject common name does not begin with system:node:',
  ],
  ['serving', { dnsNames: ['a'], emails: ['a@b'] }, serverUsages, 'Email subjectAltNames are not allowed'],
  ['serving', { dnsNames: ['a'], uris: ['x:y'] }, serverUsages, 'URI subjectAltNames are not allowed'],
  ['legacy', { dnsNames: ['a'], subject: { commonName: 'x', organizations: [] } }, ['any'], undefined],
]
for (const [signer, details, usages, rejection] of rejections)
  test(`the signer ${signer} on ${JSON.stringify(details)} for ${usages.join()}: ${rejection ?? 'signs'}`, () => {
    const requested = parseCertificateRequest(certificateRequestPem({ subject, ...details }, key))
    equal(signerRejection({ signerName: signers[signer], usages, request: '' }, requested), rejection)
  })

test('approval rules: a node for itself, others for any node', () => {
  const requested = parseCertificateRequest(certificateRequestPem({ subject }, key))
  const rules = (username: string, signerName: string = signers.kubelet, usages = clientUsages) =>
    approvalRulesFor({ request: '', signerName, usages, username }, requested).map(({ part }) => part)
  deepEqual(rules('system:node:a'), ['selfnodeclient', 'nodeclient'])
  deepEqual(rules('system:node:b'), ['nodeclient'])
  deepEqual(rules('system:node:a', signers.client), [])
  deepEqual(rules('system:node:a', signers.kubelet, serverUsages), [])
})

test('the lifetime of a certificate is within limits', () => {
  const year = 365 * 86_400_000
  const requested = [undefined, 1, 600, 3600, 2 ** 31 - 1]
  deepEqual(
    requested.map((seconds) => lifetimeMs(seconds)),
    [year, 600_000, 600_000, 3_600_000, year],
  )
  deepEqual(
    requested.map((seconds) => lifetimeMs(seconds, 20_000)),
    [20_000, 20_000, 20_000, 20_000, 20_000],
  )
})

const condition = (type: string, agoMs: number) => ({ type, status: 'True', lastUpdateTime: rfc3339(nowMs - agoMs) })
const hourMs = 3_600_000
const cleanings: [why: string, conditions: object[], certificate: string, leftMs: number][] = [
  ['not decided', [], '', 24 * hourMs],
  ['denied', [condition('Denied', 600_000)], '', hourMs - 600_000],
  ['approved and waiting', [condition('Approved', 0)], '', Infinity],
  ['issued', [condition('Approved', 1000)], base64Text('no certificate'), hourMs - 1000],
  ['failed', [condition('Approved', 1000), condition('Failed', 0)], '', hourMs],
]
for (const [why, conditions, certificate, leftMs] of cleanings)
  test(`deletion of a request that is ${why}`, () => {
    const object = made(certificateSigningRequest, 'r', {
      metadata: { creationTimestamp: rfc3339(nowMs) },
      spec: { request: '', signerName: signers.client, usages: ['client auth'] },
      status: { conditions, ...(certificate === '' ? {} : { certificate }) },
    })
    equal(deletionDueMs(object) - nowMs, leftMs)
  })

async function startSigning() {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const random = seededRandom(1)
  const certificates = temporaryCertificates({ clock, random, platform: nodePlatform, hosts: [] })
  const { policies } = buildRequestPolicies({ clock, random, platform: nodePlatform, ...certificates })
  const store = new MemoryStore(clock)
  const controllerSettings = { signer: certificates.signer }
  const cluster = new Cluster({ clock, random, log: silentLog, store, policies, nodes: 0, controllerSettings })
  cluster.start()
  await clock.advance('5s')
  const ctx = context(new AbortController().signal)
  const requests = cluster.client('test', adminUser).of(certificateSigningRequest)
  const ask = (name: string, by: ReturnType<typeof nodeUser>, text: string, spec: object = {}) =>
    cluster
      .client('asker', by)
      .of(certificateSigningRequest)
      .create(
        {
          metadata: { name },
          spec: { request: base64Text(text), signerName: signers.kubelet, usages: clientUsages, ...spec },
        },
        '',
        ctx,
      )
  const read = async (name: string) => {
    await clock.advance('1s')
    return requests.get(name, '', ctx)
  }
  const conditionsOf = ({ status }: CertificateSigningRequest) =>
    (status.conditions ?? []).map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
  const approve = async (name: string) => {
    const object = await requests.get(name, '', ctx)
    const conditions = [{ type: 'Approved', status: 'True', reason: 'x', message: 'y' }]
    await requests.updateSubresource({ ...object, status: { conditions } }, 'approval', ctx)
  }
  return {
    cluster,
    clock,
    ctx,
    certificates,
    requests,
    ask,
    read,
    conditionsOf,
    approve,
    [Symbol.asyncDispose]: () => cluster.stop(),
  }
}

test('a joining machine and a node get client certificates; a node does not get that of another node', async () => {
  await using world = await startSigning()
  const { cluster, clock, ctx, ask, read, conditionsOf, certificates } = world
  const bindings = cluster.client('test', adminUser).of(clusterRoleBinding)
  const bind = (role: string, group: string) =>
    bindings.create(
      {
        metadata: { name: role },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
      },
      '',
      ctx,
    )
  const bootstrapper = userWithName('system:bootstrap:abcdef', ['system:bootstrappers'])
  await bind('system:node-bootstrapper', 'system:bootstrappers')
  await ask('early', bootstrapper, certificateRequestPem({ subject }, key))
  deepEqual(conditionsOf(await read('early')), [])
  const parts = 'system:certificates.k8s.io:certificatesigningrequests'
  await bind(`${parts}:nodeclient`, 'system:bootstrappers')
  await bind(`${parts}:selfnodeclient`, 'system:nodes')
  await clock.advance('5s')
  const early = await read('early')
  deepEqual(conditionsOf(early), [
    'Approved AutoApproved: Auto approving kubelet client certificate after SubjectAccessReview.',
  ])
  const certificate = new X509Certificate(atob(early.status.certificate ?? ''))
  equal(certificate.subject, 'O=system:nodes\nCN=system:node:a')
  ok(certificate.verify(new X509Certificate(certificates.authority).publicKey))
  deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2'])
  await ask('renewal', nodeUser('a'), certificateRequestPem({ subject }, key))
  deepEqual(conditionsOf(await read('renewal')), [
    'Approved AutoApproved: Auto approving self kubelet client certificate after SubjectAccessReview.',
  ])
  const foreign = ask('foreign', nodeUser('b'), certificateRequestPem({ subject }, key))
  equal(
    await foreign.then(
      () => 'made',
      (error: Error) => error.message,
    ),
    'certificatesigningrequests.certificates.k8s.io "foreign" is forbidden: can only create a node CSR with CN=system:node:b',
  )
})

test('an approved request is signed with the requested lifetime, or fails with a reason', async () => {
  await using world = await startSigning()
  const { clock, ask, read, conditionsOf, approve, requests, ctx } = world
  const jane = { subject: { commonName: 'jane', organizations: ['dev'] } }
  const client = { signerName: signers.client, usages: ['client auth'] }
  await ask('short', adminUser, certificateRequestPem(jane, key), { ...client, expirationSeconds: 3600 })
  await ask('stolen', adminUser, certificateRequestPem(jane, key, nodePlatform.crypto.generateKey()), client)
  await ask('wrong', adminUser, certificateRequestPem(jane, key), { ...client, usages: ['server auth'] })
  await ask('other', adminUser, certificateRequestPem(jane, key), { ...client, signerName: 'example.com/signer' })
  await ask('waiting', adminUser, certificateRequestPem(jane, key), client)
  for (const name of ['short', 'stolen', 'wrong', 'other']) await approve(name)
  const short = await read('short')
  const { validFromDate, validToDate, subject: signedFor } = new X509Certificate(atob(short.status.certificate ?? ''))
  equal(signedFor, 'O=dev\nCN=jane')
  const signedMs = Date.UTC(2030, 0, 1) + 5000
  deepEqual([validFromDate.getTime() - signedMs, validToDate.getTime() - signedMs], [-300_000, 3_600_000])
  deepEqual(conditionsOf(await read('stolen')), [
    'Approved x: y',
    'Failed SignerValidationFailure: unable to verify certificate request signature',
  ])
  deepEqual(conditionsOf(await read('wrong')), [
    'Approved x: y',
    'Failed SignerValidationFailure: invalid usage for client certificate: server auth',
  ])
  for (const name of ['other', 'waiting']) equal((await read(name)).status.certificate, undefined)
  await clock.advance('1h')
  const left = async () => (await requests.list({}, ctx)).items.map(({ metadata }) => metadata.name)
  deepEqual(await left(), ['other', 'waiting'])
  await clock.advance('24h')
  deepEqual(await left(), ['other'])
})
