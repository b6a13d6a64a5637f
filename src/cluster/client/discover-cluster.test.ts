// What a server that is not known yet may answer to a machine that joins.
import { equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { Authority } from '../../pki/authority.ts'
import { base64Text } from '../../pki/pem.ts'
import type { OutboundProvider, OutboundRequest, OutboundResponse } from '../../platform/http/outbound.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { discoverCluster } from './discover-cluster.ts'
import { parseJoinToken, pinnedToken } from './join-token-text.ts'

const { signal } = new AbortController()
const server = 'https://192.0.2.1:6443'
const credential = 'abcdef.0123456789abcdef'
const newAuthority = () =>
  Authority.create('ca', { clock: realClock, random: systemRandom, crypto: nodeCrypto }).certificate
const authority = newAuthority()
const token = parseJoinToken(pinnedToken(credential, authority, nodeCrypto), [])

const kubeconfigOf = (pem: string) =>
  JSON.stringify({ clusters: [{ name: '', cluster: { server, 'certificate-authority-data': base64Text(pem) } }] })
const infoOf = (data: Readonly<Record<string, string>>) => JSON.stringify({ kind: 'ConfigMap', data })
const info = infoOf({ kubeconfig: kubeconfigOf(authority), 'jws-kubeconfig-abcdef': 'x..y' })

type Send = (request: OutboundRequest, signal: AbortSignal) => Promise<OutboundResponse>

async function* bodyOf(text: string) {
  yield new TextEncoder().encode(text)
}
const respond =
  (status: number, text: string): Send =>
  () =>
    Promise.resolve({ status, headers: {}, body: bodyOf(text) })

function discover(send: Send, clock = new VirtualClock()) {
  const asked: string[] = []
  let isClosed = false
  const outbound: Pick<OutboundProvider, 'connect'> = {
    connect: ({ origin, tls }) => {
      equal(tls.insecureSkipVerify, true)
      return {
        send(request, sendSignal) {
          asked.push(`${request.method} ${origin}${request.target} ${JSON.stringify(request.headers)}`)
          return send(request, sendSignal)
        },
        close() {
          isClosed = true
          return Promise.resolve()
        },
      }
    },
  }
  const deps = { outbound: outbound as OutboundProvider, crypto: nodeCrypto, clock }
  const found = discoverCluster(server, token, deps, signal)
  return { found, asked, isClosed: () => isClosed, clock }
}

test('the authorities that the token pins are trusted; the token itself is not sent to learn them', async () => {
  const { found, asked, isClosed } = discover(respond(200, info))
  const { kubeconfig } = await found
  const { clusters, users } = JSON.parse(kubeconfig) as {
    clusters: { cluster: Record<string, string> }[]
    users: { user: { token: string } }[]
  }
  equal(clusters[0]?.cluster['server'], server)
  equal(clusters[0]?.cluster['certificate-authority-data'], base64Text(authority))
  equal(users[0]?.user.token, credential)
  equal(asked.length, 1)
  match(asked[0] ?? '', /^GET https:\/\/192\.0\.2\.1:6443\/api\/v1\/namespaces\/kube-public\/configmaps\/cluster-info /)
  equal(asked[0]?.includes('0123456789abcdef'), false)
  equal(isClosed(), true)
})

const reasons: readonly (readonly [what: string, data: Readonly<Record<string, string>>, why: RegExp])[] = [
  ['a known id', { 'jws-kubeconfig-abcdef': 'x..y' }, /the token abcdef: its secret is wrong$/],
  ['an unknown id', {}, /the token abcdef: it is unknown, has expired or was deleted$/],
]
for (const [what, signatures, why] of reasons)
  test(`why a token with ${what} is rejected`, async () => {
    const { found } = discover(respond(200, infoOf({ kubeconfig: kubeconfigOf(authority), ...signatures })))
    match((await found).whyRejected, why)
  })

const failures: readonly (readonly [what: string, send: Send, message: RegExp])[] = [
  [
    'the authorities of another cluster',
    respond(200, infoOf({ kubeconfig: kubeconfigOf(newAuthority()) })),
    /^Error: the token belongs to another cluster than https:\/\/192\.0\.2\.1:6443: its CA has the hash [0-9a-f]{64}, and the token is for [0-9a-f]{64}$/,
  ],
  ['no permission', respond(403, '{}'), /publishes no kube-public\/cluster-info \(403\); create a token on it/],
  ['no such object', respond(404, '{}'), /publishes no kube-public\/cluster-info \(404\)/],
  [
    'another status',
    respond(500, '{}'),
    /cannot join the cluster of https:\/\/192\.0\.2\.1:6443: the response has the status 500$/,
  ],
  ['a text that is no JSON', respond(200, '<html>'), /cannot join the cluster of /],
  ['a response without an end', respond(200, 'x'.repeat((1 << 20) + 1)), /the response has more than 1048576 bytes$/],
  ['an object without data', respond(200, '{}'), /publishes no valid CA in kube-public\/cluster-info$/],
  ['a kubeconfig without clusters', respond(200, infoOf({ kubeconfig: 'clusters: 5' })), /publishes no valid CA/],
  ['no connection', () => Promise.reject(new Error('connection refused')), /cannot join .*: connection refused$/],
]
for (const [what, send, message] of failures)
  test(`a server that answers with ${what} is not joined, and one line says why`, async () => {
    const { found, isClosed } = discover(send)
    await rejects(found, message)
    equal(isClosed(), true)
  })

test('a server that does not answer is given up after ten seconds', async () => {
  const never: Send = (_, sendSignal) =>
    new Promise((_resolve, reject) =>
      sendSignal.addEventListener('abort', () => reject(sendSignal.reason as Error), { once: true }),
    )
  const { found, clock } = discover(never)
  const rejected = rejects(found, /cannot join .*: it does not respond within 10 s$/)
  await clock.advance('10s')
  await rejected
})
