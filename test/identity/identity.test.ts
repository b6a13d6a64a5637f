// Identity through the real port, with real kubectl: the rejected requests of flows 02 (ServiceAccount token), 09 (RBAC
// decision) and 26 (joining), and that secrets stay secret.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { flowEventsPath } from '../../src/api/coxswain/v1/flow-protocol.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { signToken } from '../../src/apiserver/authentication/json-web-token.ts'
import { Authority, type Identity } from '../../src/pki/authority.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { startServed } from './served.harness.ts'

const pods = '/api/v1/namespaces/default/pods'
const accounts = '/api/v1/namespaces/default/serviceaccounts'
const unauthorized = [401, 'Unauthorized']

test('flow 02: an expired token, one for another audience, or one of a deleted pod or account is 401; without a role 403', async () => {
  await using cluster = await startServed()
  const { asAdmin, call } = cluster
  await asAdmin('POST', accounts, { metadata: { name: 'robot' } })
  const container = { name: 'c', image: 'i' }
  await asAdmin('POST', pods, {
    metadata: { name: 'p' },
    spec: { serviceAccountName: 'robot', containers: [container] },
  })
  const tokenFor = async (spec: object) =>
    (await asAdmin('POST', `${accounts}/robot/token`, { spec })).body.status?.token ?? ''
  const ask = async (token: string) => {
    const { status, body } = await call('GET', pods, { token })
    return [status, body.message]
  }
  const ofPod = await tokenFor({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } })
  const plain = await tokenFor({})
  const noRole = [
    403,
    'pods is forbidden: User "system:serviceaccount:default:robot" cannot list resource "pods" in API group "" in the namespace "default"',
  ]
  deepEqual(await ask(ofPod), noRole)
  deepEqual(await ask(plain), noRole)
  deepEqual(await ask(await tokenFor({ audiences: ['vault'] })), unauthorized)
  const [header = '', payload = ''] = plain.split('.')
  const part = (text: string) =>
    JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(text, { alphabet: 'base64url' }))) as Record<
      string,
      unknown
    >
  const key = nodePlatform.crypto.loadKey(await cluster.pki('sa.key'))
  const expired = signToken(
    { ...part(payload), exp: Math.floor(realClock.nowMs() / 1000) - 1 },
    String(part(header)['kid']),
    key,
  )
  deepEqual(await ask(expired), unauthorized)
  deepEqual(await ask(signToken(part(payload), '', nodePlatform.crypto.generateKey())), unauthorized)
  await asAdmin('DELETE', `${pods}/p?gracePeriodSeconds=0`)
  deepEqual(await ask(ofPod), unauthorized)
  deepEqual(await ask(plain), noRole)
  await asAdmin('DELETE', `${accounts}/robot`)
  deepEqual(await ask(plain), unauthorized)
  const recorded = (await asAdmin('GET', flowEventsPath)).text
  match(recorded, /serviceaccounts\/token/)
  for (const secret of [plain, ofPod, expired, await cluster.pki('sa.key'), await cluster.pki('ca.key')])
    for (const [place, text] of Object.entries({ log: cluster.logged(), record: recorded }))
      ok(!text.includes(secret) && !text.includes(secret.split('.')[2] ?? secret), `a secret stands in the ${place}`)
})

test('flow 09: kubectl reports rejections, escalation is rejected, and permissions are listed', async () => {
  await using cluster = await startServed()
  const { k, adminPath, kubeconfigOf } = cluster
  const bob = await kubeconfigOf('bob')
  equal(
    await k(bob, 'get', 'pods'),
    'Error from server (Forbidden): pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default"',
  )
  equal(
    await k(adminPath, 'create', 'rolebinding', 'bob', '--clusterrole=edit', '--user=bob'),
    'rolebinding.rbac.authorization.k8s.io/bob created',
  )
  equal(await k(bob, 'get', 'pods'), 'No resources found in default namespace.')
  equal(await k(bob, 'auth', 'can-i', 'create', 'deployments'), 'yes')
  match(await k(bob, 'auth', 'can-i', 'create', 'deployments', '-n', 'kube-system'), /^no/)
  const list = await k(bob, 'auth', 'can-i', '--list')
  match(list, /^pods +\[\] +\[\] +\[.*create.*\]$/m)
  match(list, /^selfsubjectreviews\.authentication\.k8s\.io +\[\] +\[\] +\[create\]$/m)
  match(list, /\[\/healthz\] +\[\] +\[get\]/)
  match(await k(bob, 'auth', 'whoami'), /^Username +bob$/m)
  match(await k(adminPath, 'auth', 'whoami', '--as=jane', '--as-group=dev'), /^Groups +\[dev system:authenticated\]$/m)
  equal(
    await k(bob, 'get', 'pods', '--as=jane'),
    'Error from server (Forbidden): pods is forbidden: User "bob" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "default"',
  )
  await k(adminPath, 'create', 'role', 'writer', '--verb=create,update,get', '--resource=roles,rolebindings')
  await k(adminPath, 'create', 'rolebinding', 'writers', '--role=writer', '--user=bob')
  match(
    await k(bob, 'create', 'role', 'mine', '--verb=*', '--resource=nodes'),
    /roles\.rbac\.authorization\.k8s\.io "mine" is forbidden: user "bob" \(groups=\["system:authenticated"\]\) is attempting to grant RBAC permissions not currently held:\n\{APIGroups:\[""\], Resources:\["nodes"\], Verbs:\["\*"\]\}$/,
  )
  match(
    await k(bob, 'create', 'rolebinding', 'up', '--clusterrole=admin', '--user=bob'),
    /is attempting to grant RBAC permissions not currently held/,
  )
  const manifest = join(cluster.folder, 'role.json')
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'r', namespace: 'default' },
  }
  await writeFile(
    manifest,
    JSON.stringify({ ...role, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
  )
  match(await k(adminPath, 'auth', 'reconcile', '-f', manifest), /^role\.rbac\.authorization\.k8s\.io\/r reconciled/)
  const { events } = JSON.parse((await cluster.asAdmin('GET', flowEventsPath)).text) as {
    events: { allowedBy?: string }[]
  }
  ok(
    events.some(
      ({ allowedBy }) => allowedBy === 'RBAC: allowed by RoleBinding "bob/default" of ClusterRole "edit" to User "bob"',
    ),
  )
})

test('flow 26: a wrong or expired bootstrap token is 401, and a node cannot access objects of another node', async () => {
  await using cluster = await startServed()
  const { asAdmin, call, identityOf } = cluster
  const secrets = '/api/v1/namespaces/default/secrets'
  const bootstrap = (id: string, stringData: object) =>
    asAdmin('POST', '/api/v1/namespaces/kube-system/secrets', {
      metadata: { name: `bootstrap-token-${id}` },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': id,
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
        ...stringData,
      },
    })
  await bootstrap('aaaaaa', {})
  await bootstrap('bbbbbb', { expiration: '2020-01-01T00:00:00Z' })
  const join_ = async (token: string) => {
    const { status, body } = await call('GET', '/api/v1/nodes', { token })
    return [status, body.message]
  }
  deepEqual(await join_('aaaaaa.0123456789abcdef'), [
    403,
    'nodes is forbidden: User "system:bootstrap:aaaaaa" cannot list resource "nodes" in API group "" at the cluster scope',
  ])
  deepEqual(await join_('aaaaaa.0123456789abcdee'), unauthorized)
  deepEqual(await join_('bbbbbb.0123456789abcdef'), unauthorized)
  deepEqual(await join_('cccccc.0123456789abcdef'), unauthorized)
  for (const name of ['mine', 'theirs']) {
    await asAdmin('POST', secrets, { metadata: { name } })
    const volumes = [{ name: 's', secret: { secretName: name } }]
    await asAdmin('POST', pods, {
      metadata: { name },
      spec: { nodeName: name === 'mine' ? 'a' : 'b', volumes, containers: [{ name: 'c', image: 'i' }] },
    })
  }
  const node = identityOf('system:node:a', 'system:nodes')
  equal((await call('GET', `${secrets}/mine`, { identity: node })).status, 200)
  const refused = await call('GET', `${secrets}/theirs`, { identity: node })
  deepEqual(
    [refused.status, refused.body.message],
    [
      403,
      `secrets "theirs" is forbidden: User "system:node:a" cannot get resource "secrets" in API group "" in the namespace "default": no relationship found between node 'a' and this object`,
    ],
  )
  equal((await call('GET', secrets, { identity: node })).status, 403)
})

test('without credentials only health and version are readable, and private files are private', async () => {
  await using cluster = await startServed()
  const status = async (path: string) => (await cluster.call('GET', path, {})).status
  for (const path of ['/healthz', '/livez', '/readyz', '/version']) equal(await status(path), 200, path)
  for (const path of ['/', '/api', '/apis', '/openapi/v2', '/openid/v1/jwks', '/metrics', flowEventsPath, pods])
    equal(await status(path), 403, path)
  equal((await cluster.call('GET', pods, { token: 'nonsense' })).status, 401)
  const strangers = Authority.create('kubernetes', {
    clock: realClock,
    random: systemRandom,
    crypto: nodePlatform.crypto,
  })
  const forged = strangers.issue({ subject: { commonName: 'x', organizations: ['system:masters'] }, uses: ['client'] })
  equal(
    (await cluster.call('GET', pods, { identity: forged })).status,
    401,
    'a stranger’s certificate is refused, as upstream does',
  )
  const remote = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' }
  equal(
    (await cluster.call('GET', pods, { headers: remote })).status,
    403,
    'headers of a proxy prove nothing by themselves',
  )
  for (const name of await readdir(cluster.dataDirectory, { recursive: true })) {
    const { mode } = await stat(join(cluster.dataDirectory, name))
    equal(mode & 0o077, 0, name)
  }
  equal((await stat(cluster.adminPath)).mode & 0o777, 0o600)
})

test('a front proxy authenticates users with a certificate of its own authority', async () => {
  await using cluster = await startServed()
  const certificate = await cluster.pki('front-proxy-client.crt')
  const key = await cluster.pki('front-proxy-client.key')
  const headers = { 'x-remote-user': 'jane', 'x-remote-group': 'dev' }
  const ask = async (sent: Record<string, string>) =>
    (await cluster.call('GET', pods, { identity: { certificate, key }, headers: sent })).body.message
  match(String(await ask(headers)), /User "jane" cannot list/)
  equal(await ask({}), 'Unauthorized')
})

test('front proxies of another authority name users in other headers; no other client can', async () => {
  const deps = { clock: realClock, random: systemRandom, crypto: nodePlatform.crypto }
  const gates = Authority.create('gate-ca', deps)
  const gate = (commonName: string) => gates.issue({ subject: { commonName, organizations: [] }, uses: ['client'] })
  await using cluster = await startServed(
    { 'gates.crt': gates.certificate },
    {
      'requestheader-client-ca-file': 'gates.crt',
      'requestheader-allowed-names': 'gate',
      'requestheader-username-headers': 'X-Gate-User',
      'requestheader-uid-headers': 'X-Gate-Uid',
      'requestheader-group-headers': 'X-Gate-Group',
      'requestheader-extra-headers-prefix': 'X-Gate-Extra-',
    },
  )
  const named = { 'x-gate-user': 'root', 'x-gate-uid': '7', 'x-gate-group': 'system:masters', 'x-gate-extra-a': 'b' }
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const ask = async (identity: Identity | undefined, headers: Record<string, string> = named) => {
    const sent = { body: review, headers, ...(identity === undefined ? {} : { identity }) }
    const { status, text } = await cluster.call('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', sent)
    if (status !== 201) return `${status} ${/User \\"(\S+)\\"/.exec(text)?.[1] ?? ''}`.trimEnd()
    const { username, uid = '', groups = [], extra } = (JSON.parse(text) as SelfReview).status.userInfo
    return [username, uid, groups.join('+'), extra?.['a']?.join('+') ?? ''].join('/')
  }
  equal(await ask(gate('gate')), 'root/7/system:masters+system:authenticated/b')
  equal(await ask(gate('gate'), { 'x-remote-user': 'root' }), '401', 'other headers')
  equal(await ask(gate('other')), '401', 'another name')
  equal(await ask(undefined), '403 system:anonymous', 'no certificate')
  equal(await ask(cluster.identityOf('gate')), 'gate//system:authenticated/', 'a certificate of a user')
  const certificate = await cluster.pki('front-proxy-client.crt')
  const key = await cluster.pki('front-proxy-client.key')
  equal(await ask({ certificate, key }), '401', "a certificate of the cluster's own front proxy authority")
  const config = await cluster.asAdmin(
    'GET',
    '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication',
  )
  const { data } = JSON.parse(config.text) as { data: Record<string, string> }
  equal(data['requestheader-client-ca-file'], gates.certificate)
  deepEqual(
    Object.entries(data).flatMap(([name, value]) => (value.startsWith('[') ? [`${name} ${value}`] : [])),
    [
      'requestheader-allowed-names ["gate"]',
      'requestheader-extra-headers-prefix ["X-Gate-Extra-"]',
      'requestheader-group-headers ["X-Gate-Group"]',
      'requestheader-uid-headers ["X-Gate-Uid"]',
      'requestheader-username-headers ["X-Gate-User"]',
    ],
  )
})

interface SelfReview {
  readonly status: {
    readonly userInfo: {
      readonly username: string
      readonly uid?: string
      readonly groups?: readonly string[]
      readonly extra?: Readonly<Record<string, readonly string[]>>
    }
  }
}

test('a token file and two authorizers are configured', async () => {
  const abac = JSON.stringify({
    apiVersion: 'abac.authorization.kubernetes.io/v1beta1',
    kind: 'Policy',
    spec: { user: 'alice', namespace: '*', resource: 'pods', readonly: true },
  })
  await using cluster = await startServed(
    { tokens: 's3cret-token,alice,7,"dev,ops"\n', abac },
    {
      'token-auth-file': 'tokens',
      'authorization-mode': 'Node,ABAC,RBAC',
      'authorization-policy-file': 'abac',
      'anonymous-auth': 'false',
    },
  )
  equal((await cluster.call('GET', pods, { token: 's3cret-token' })).status, 200)
  const { status, text } = await cluster.call('DELETE', `${pods}/x`, { token: 's3cret-token' })
  deepEqual([status, text.includes('No policy matched.')], [403, true])
  equal((await cluster.call('GET', '/version', {})).status, 401)
  doesNotMatch(cluster.logged(), /s3cret-token/)
})
