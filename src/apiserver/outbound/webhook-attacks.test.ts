// Hostile and broken responses of token and authorization webhooks. Each was also sent to kube-apiserver v1.36.4, which
// decides the same, except for the rows under "stricter".
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { tokenWebhook } from '../authentication/token-webhook.ts'
import { webhookAuthorizer } from '../authorization/webhook-authorizer.ts'
import { resourceAttributes } from '../authorization/attributes.ts'
import { serverAnswering, type OutsideAnswer } from './external-server.harness.ts'
import { userWithName } from '../request/request.ts'

const { signal } = new AbortController()
const own = ['api']
const timeoutMs = 60_000

const tokenReview = (status: unknown): OutsideAnswer => ({
  value: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status },
})
const known = (user: unknown): OutsideAnswer => tokenReview({ authenticated: true, user })

/** `calls`: how often the webhook is called for the same token twice. */
const tokenRows: readonly [why: string, answer: OutsideAnswer, name: string, calls: number][] = [
  ['a user', known({ username: 'u', groups: ['g'] }), 'u+g', 1],
  ['no kind', { value: { status: { authenticated: true, user: { username: 'u' } } } }, 'u', 1],
  ['status 201', { ...known({ username: 'u' }), status: 201 }, 'u', 1],
  ['null instead of empty values', known({ username: 'u', groups: null, extra: null }), 'u', 1],
  // As upstream, a webhook is trusted with the whole cluster.
  ['system:masters', known({ username: 'system:admin', groups: ['system:masters'] }), 'system:admin+system:masters', 1],
  ['no', tokenReview({ authenticated: false }), 'rejected', 1],
  ['no status', tokenReview(null), 'rejected', 1],
  ['an error', tokenReview({ authenticated: false, error: 'who?' }), 'rejected', 2],
  ['another kind', { value: { apiVersion: 'v1', kind: 'Status', status: 'Success' } }, 'rejected', 2],
  [
    'another version',
    {
      value: {
        apiVersion: 'authentication.k8s.io/v1beta1',
        kind: 'TokenReview',
        status: { authenticated: true, user: { username: 'u' } },
      },
    },
    'rejected',
    2,
  ],
  ['"true"', tokenReview({ authenticated: 'true', user: { username: 'u' } }), 'rejected', 2],
  ['"false"', tokenReview({ authenticated: 'false', user: { username: 'u' } }), 'rejected', 2],
  ['groups that are a string', known({ username: 'u', groups: 'system:masters' }), 'rejected', 2],
  ['groups that are numbers', known({ username: 'u', groups: [1] }), 'rejected', 2],
  ['a name that is a number', known({ username: 5 }), 'rejected', 2],
  ['extra that is not a list', known({ username: 'u', extra: { a: 'b' } }), 'rejected', 2],
  ['a page', { text: '<html>' }, 'rejected', 2],
  ['nothing', { text: '' }, 'rejected', 2],
  ['a list', { text: '[]' }, 'rejected', 2],
  ['two values', { text: '{"status":{"authenticated":true,"user":{"username":"u"}}} x' }, 'rejected', 2],
  ['status 400', { ...known({ username: 'u' }), status: 400 }, 'rejected', 2],
  ['status 500', { ...known({ username: 'u' }), status: 500 }, 'rejected', 2],
  // Stricter: upstream follows the redirect, accepts a user without a name, and reads responses of any size.
  ['a redirect', { ...known({ username: 'u' }), status: 302 }, 'rejected', 2],
  ['no name', known({}), 'rejected', 2],
  ['no user', tokenReview({ authenticated: true }), 'rejected', 2],
  ['2 MiB', known({ username: 'u', uid: 'x'.repeat(2 << 20) }), 'rejected', 2],
]

async function tokens(answer: OutsideAnswer, limitMs = timeoutMs) {
  const server = await serverAnswering(() => answer)
  const webhook = tokenWebhook({
    server: { outbound: server.connect(), clock: realClock, timeoutMs: limitMs },
    target: '/',
    version: 'v1',
    cacheMs: 3_600_000,
    ownAudiences: own,
    crypto: nodeCrypto,
  })
  return {
    server,
    ask: async () => webhook.authenticateToken('token', own, signal),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

for (const [why, answer, name, calls] of tokenRows)
  test(`a token webhook that responds with ${why}`, async () => {
    await using webhook = await tokens(answer)
    for (let time = 0; time < 2; time++) {
      const found = await webhook.ask()
      equal(found.kind === 'authenticated' ? [found.user.name, ...found.user.groups].join('+') : 'rejected', name)
    }
    equal(webhook.server.asked.length, calls)
  })

test('keys of extra named __proto__ and constructor change no object', async () => {
  const extra = '{"__proto__":["p"],"constructor":["c"]}'
  await using webhook = await tokens({
    text: `{"status":{"authenticated":true,"user":{"username":"u","extra":${extra}}}}`,
  })
  const found = await webhook.ask()
  equal(found.kind === 'authenticated' && JSON.stringify(found.user.extra), extra)
  equal(found.kind === 'authenticated' && Object.getPrototypeOf(found.user.extra), Object.prototype)
})

test('a token webhook that never ends its response times out', async () => {
  await using webhook = await tokens({ stall: true }, 300)
  match(JSON.stringify(await webhook.ask()), /no response within 300 ms/)
})

test('an authorization webhook: the decision for each response and failure policy, and whether it is cached', async () => {
  const review = (status: unknown): OutsideAnswer => ({
    value: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', status },
  })
  /** A failure is decided by the failure policy, and is not cached. */
  const failed = ['noOpinion', 'denied', 4] as const
  const rows: readonly [answer: OutsideAnswer, open: string, closed: string, calls: number][] = [
    [review({ allowed: true }), 'allowed', 'allowed', 2],
    [review({ allowed: false, denied: true }), 'denied', 'denied', 2],
    [review({ allowed: false }), 'noOpinion', 'noOpinion', 2],
    [review({ allowed: true, denied: true }), 'denied', 'denied', 2],
    [review({ allowed: true, evaluationError: 'e' }), 'allowed', 'allowed', 2],
    [review(null), 'noOpinion', 'noOpinion', 2],
    [review({}), 'noOpinion', 'noOpinion', 2],
    [{ value: { status: { allowed: true } } }, 'allowed', 'allowed', 2],
    [review({ allowed: 'true' }), ...failed],
    [review({ allowed: 'false' }), ...failed],
    [review({ allowed: 1 }), ...failed],
    [review({ allowed: true, reason: 5 }), ...failed],
    [{ value: { apiVersion: 'v1', kind: 'Status', status: 'Success' } }, ...failed],
    [known({ username: 'u', groups: ['system:masters'] }), ...failed],
    [{ text: '<html>' }, ...failed],
    [{ ...review({ allowed: true }), status: 500 }, ...failed],
    [{ ...review({ allowed: true }), status: 302 }, ...failed],
    [review({ allowed: true, reason: 'x'.repeat(2 << 20) }), ...failed],
  ]
  let answer: OutsideAnswer = {}
  await using server = await serverAnswering(() => answer)
  const webhook = (onFailure: 'NoOpinion' | 'Deny') =>
    webhookAuthorizer({
      name: 'w',
      server: { outbound: server.connect(), clock: realClock, timeoutMs },
      target: '/',
      version: 'v1',
      allowedCacheMs: 3_600_000,
      deniedCacheMs: 3_600_000,
      onFailure,
      crypto: nodeCrypto,
      conditions: [],
    })
  const open = webhook('NoOpinion')
  const closed = webhook('Deny')
  for (const [index, [each, ifOpen, ifClosed, calls]] of rows.entries()) {
    answer = each
    const before = server.asked.length
    const asked = resourceAttributes(userWithName(`user-${index}`), 'get', { resource: 'pods', namespace: 'z' })
    const kinds: string[] = []
    for (const authorizer of [open, open, closed, closed]) kinds.push((await authorizer.authorize(asked, signal)).kind)
    const what = JSON.stringify(each).slice(0, 100)
    deepEqual(kinds, [ifOpen, ifOpen, ifClosed, ifClosed], what)
    equal(server.asked.length - before, calls, what)
  }
})
