// Restrictions of certificate signing requests: who may request, approve and sign.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { certificateRequestPem } from '../../pki/certificate-request.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { startGuarded } from '../server-policies.harness.ts'
import { startServer } from '../server.harness.ts'
import { kubelet, make, merge } from './restrictions.harness.ts'

const key = nodeCrypto.generateKey()
const requestFor = (commonName: string, ...organizations: string[]): string =>
  btoa(certificateRequestPem({ subject: { commonName, organizations } }, key))
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const signingRequest = (signerName: string, ...subject: [commonName: string, ...organizations: string[]]) => ({
  metadata: { name: 'r' },
  spec: { request: requestFor(...subject), signerName, usages: ['client auth'] },
})

test('a client certificate of system:masters cannot be requested', async () => {
  await using server = await startServer()
  const asked = (...organizations: string[]) =>
    server.call(
      'POST',
      `${requests}?dryRun=All`,
      signingRequest('kubernetes.io/kube-apiserver-client', 'jane', ...organizations),
    )
  equal((await asked('dev')).status, 201)
  const { status, body } = await asked('dev', 'system:masters')
  equal(status, 403)
  match(body.message, /use of kubernetes.io\/kube-apiserver-client signer with system:masters group is not allowed$/)
})

test('a kubelet may request certificates with its own name', async () => {
  await using server = await startServer()
  const asked = (commonName: string) =>
    server.call(
      'POST',
      `${requests}?dryRun=All`,
      signingRequest('kubernetes.io/kube-apiserver-client-kubelet', commonName, 'system:nodes'),
      kubelet,
    )
  equal((await asked('system:node:n1')).status, 201)
  match((await asked('system:node:n2')).body.message, /can only create a node CSR with CN=system:node:n1$/)
})

test('approving and signing need permission for the signer, by name or by domain', async () => {
  await using server = await startGuarded()
  await make(server, requests, signingRequest('example.com/own', 'x'))
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const grant = async (user: string, rules: object[]) => {
    await make(server, `${rbac}/clusterroles`, { metadata: { name: user }, rules })
    await make(server, `${rbac}/clusterrolebindings`, {
      metadata: { name: user },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    })
  }
  const apiGroups = ['certificates.k8s.io']
  const updateRequests = {
    apiGroups,
    resources: ['certificatesigningrequests/approval', 'certificatesigningrequests/status'],
    verbs: ['update', 'patch'],
  }
  const signers = (resourceNames: string[], verbs: string[]) => ({
    apiGroups,
    resources: ['signers'],
    resourceNames,
    verbs,
  })
  await grant('unprivileged', [updateRequests])
  await grant('approver', [updateRequests, signers(['example.com/*'], ['approve'])])
  await grant('signer', [updateRequests, signers(['example.com/own'], ['sign'])])
  const condition = { type: 'Approved', status: 'True', reason: 'r', message: 'm' }
  const approve = (as: string) =>
    server.call('PATCH', `${requests}/r/approval`, { status: { conditions: [condition] } }, { ...merge, as })
  const fail = (as: string) =>
    server.call(
      'PATCH',
      `${requests}/r/status`,
      { status: { conditions: [condition, { ...condition, type: 'Failed' }] } },
      { ...merge, as },
    )
  const refusal = (verb: string) =>
    `certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to ${verb} requests with signerName "example.com/own"`
  equal((await approve('unprivileged')).body.message, refusal('approve'))
  equal((await approve('signer')).body.message, refusal('approve'))
  equal((await approve('approver')).status, 200)
  equal((await fail('approver')).body.message, refusal('sign'))
  equal((await fail('signer')).status, 200)
})
