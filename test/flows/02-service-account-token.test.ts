// Flow 02: the token of a pod: created for it, mounted as a file, renewed in time, and invalid once the pod is deleted.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { tokenReview } from '../../src/api/authentication/v1/token-review.ts'
import { subjectAccessReview } from '../../src/api/authorization/v1/subject-access-review.ts'
import { namespace } from '../../src/api/core/v1/namespace.ts'
import { clusterRoleBinding, configMap, pod, serviceAccount, startCluster } from '../../src/cluster/index.ts'
import { ctx, startLoneNode } from './lone-node.ts'
import { comparePage, excerpt, inOrder, since } from './page.ts'
import { rawCalls } from './raw-calls.ts'

interface Token {
  readonly status: { readonly token: string }
}

/** Calls over HTTP with valid tokens and with invalid or expired ones. */
async function shown(): Promise<{ allowed: string; refused: string }> {
  await using cluster = await startCluster({ https: true })
  const { client, clock } = cluster
  await using calls = rawCalls(cluster.kubeconfig, 'anonymous')
  const accounts = client.of(serviceAccount)
  for (const name of ['writer', 'roleless', 'leaver']) await accounts.create({ metadata: { name } }, 'default', ctx)
  const spec = { ...runs, serviceAccountName: 'writer' }
  const bound = await client.of(pod).create({ metadata: { name: 'p' }, spec }, 'default', ctx)
  const subjects = ['writer', 'leaver'].map((name) => ({ kind: 'ServiceAccount', name, namespace: 'default' }))
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' }
  await client.of(clusterRoleBinding).create({ metadata: { name: 'edit' }, roleRef, subjects }, '', ctx)
  await clock.advance('5s')
  const tokenFor = async (account: string, tokenSpec: object = {}) =>
    ((await accounts.createSubresource(account, 'default', 'token', { spec: tokenSpec }, ctx)) as Token).status.token
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: bound.metadata.uid }
  const tokens = {
    allowed: await tokenFor('writer', { boundObjectRef }),
    'no-role': await tokenFor('roleless'),
    'other-audience': await tokenFor('writer', { audiences: ['another'] }),
    expired: await tokenFor('writer', { expirationSeconds: 600 }),
    'pod-gone': await tokenFor('writer', { boundObjectRef }),
    'account-gone': await tokenFor('leaver'),
  }
  const write = async (method: 'POST' | 'PUT', name: keyof typeof tokens) => {
    const headers = { authorization: `Bearer ${tokens[name]}` }
    const path = `/api/v1/namespaces/default/configmaps${method === 'PUT' ? `/${name}` : ''}`
    return (await calls.call(method, path, { metadata: { name } }, headers)).status
  }
  const flowOf = (name: string, inNamespace: string) =>
    excerpt(
      cluster.flow(configMap, name, inNamespace, { fold: true, rules: true }),
      /client ──► API Server/,
      /put configmap/,
    )
  equal(await write('POST', 'allowed'), 201)
  const allowed = flowOf('allowed', 'default')
  await clock.advance('11m')
  await client.of(pod).delete('p', 'default', { gracePeriodSeconds: 0 }, ctx)
  await accounts.delete('leaver', 'default', {}, ctx)
  await clock.advance('30s')
  const refused = await Promise.all(
    (['no-role', 'other-audience', 'expired', 'pod-gone', 'account-gone'] as const).map((name) => write('PUT', name)),
  )
  deepEqual(refused, [403, 401, 401, 401, 401])
  // The record of a rejected update has the name from its path, unless the client is unknown.
  return { allowed, refused: [flowOf('no-role', 'default'), flowOf('', '')].join('\n') }
}

const runs = { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 0 }

test('02 service account token', async () => {
  await using node = await startLoneNode()
  const { admin, clock, host } = node
  await admin.of(namespace).create({ metadata: { name: 'team' } }, '', ctx)
  await clock.advance('1s')
  ok(await admin.of(serviceAccount).find('default', 'team', ctx), 'every namespace has its own')

  await admin.of(pod).create({ metadata: { name: 'p' }, spec: { ...runs, nodeName: 'solo' } }, 'default', ctx)
  await clock.advance('5s')
  const made = await admin.of(pod).get('p', 'default', ctx)
  const volume = made.spec.volumes?.[0]
  match(volume?.name ?? '', /^kube-api-access-/)
  deepEqual(
    volume?.projected?.sources?.map((source) => Object.keys(source)[0]),
    ['serviceAccountToken', 'configMap', 'downwardAPI'],
  )
  const read = async (file: string) => {
    const folder = `/pods/${made.metadata.uid}/volumes/kubernetes.io~projected/${volume?.name}`
    return new TextDecoder().decode(await host.disk.readTail(`${folder}/${file}`, 10_000))
  }
  equal(await read('namespace'), 'default')
  match(await read('ca.crt'), /^-----BEGIN CERTIFICATE-----/)
  const token = await read('token')
  const review = async (presented: string, audiences?: string[]) => {
    const asked = { token: presented, ...(audiences === undefined ? {} : { audiences }) }
    return (await admin.of(tokenReview).create({ metadata: {}, spec: asked }, '', ctx)).status
  }
  const known = await review(token)
  equal(known?.user?.username, 'system:serviceaccount:default:default')
  deepEqual(known?.user?.extra?.['authentication.kubernetes.io/pod-name'], ['p'])
  equal((await review(token, ['another']))?.authenticated ?? false, false, 'it is meant for the API server alone')
  const attributes = { user: known?.user?.username ?? '', resourceAttributes: { verb: 'list', resource: 'secrets' } }
  const { status } = await admin.of(subjectAccessReview).create({ metadata: {}, spec: attributes }, '', ctx)
  equal(status.allowed, false, 'without a role it may do nothing')

  await clock.advance('49m')
  const renewed = await read('token')
  notEqual(renewed, token, 'renewed at 80 % of its life')
  ok((await review(renewed))?.authenticated)
  const account = since(node.flowOf('serviceaccounts', 'default'), 'admin ──► API Server')
  const request = { spec: { expirationSeconds: 600 } }
  const brief = (await admin.of(serviceAccount).createSubresource('default', 'default', 'token', request, ctx)) as {
    readonly status: { readonly token: string }
  }
  ok((await review(brief.status.token))?.authenticated)
  await clock.advance('11m')
  equal((await review(brief.status.token))?.authenticated ?? false, false, 'expired')
  const flow = node.flowOf('pods', 'p')
  inOrder(flow, /kubelet\/solo ──► API Server: create serviceaccounts\/token default → 201/, /Runtime: run sandbox p/)

  const last = await read('token')
  await admin.of(pod).delete('p', 'default', {}, ctx)
  await clock.advance('10s')
  equal((await review(last))?.authenticated ?? false, false, 'the pod is gone, and with it what its token was worth')

  const calls = await shown()
  await comparePage('02-service-account-token', 'Token of a ServiceAccount', [
    {
      heading: 'Every namespace has an account',
      text: 'A new namespace gets its `default` ServiceAccount.',
      diagram: excerpt(node.flowOf('namespaces', 'team'), /serviceaccounts? default/),
    },
    {
      heading: 'A pod gets its token',
      text: 'Admission adds a volume to the pod. The kubelet requests a token that is bound to the pod and writes it to the volume before anything runs.',
      diagram: excerpt(flow, /admin ──► API Server: create/, /serviceaccounts\/token/, /──► Runtime/, /put pod/),
    },
    {
      heading: 'The token is renewed',
      text: 'At 80 % of its lifetime the kubelet requests another one, by its own clock.',
      diagram: excerpt(since(account, 'serviceaccounts/token', 'last'), /serviceaccounts\/token/),
    },
    {
      heading: 'A pod uses its token',
      text: 'The token authenticates the ServiceAccount, which may do what its roles allow.',
      diagram: calls.allowed,
    },
    {
      heading: 'Invalid tokens',
      text: 'Without a role the account is authenticated but not authorized (403). A token for another audience, an expired token, and a token whose pod or account was deleted are not accepted (401); such requests are recorded without the names in their URLs.',
      diagram: calls.refused,
    },
  ])
})
