// A client that may not send a request must not make the server read its body: authentication, fairness and
// authorization decide by the head alone.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '../../api/errors/status-error.ts'
import { allowed, denied } from '../authorization/authorizer.ts'
import { type Policies } from './policies.ts'
import { startServer } from '../server.harness.ts'
import { openPolicies } from '../open-policies.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const body = new TextEncoder().encode(JSON.stringify({ metadata: { name: 'a' }, data: { x: '1' } }))

type Refuser = 'authorization' | 'fairness'

/** The open policies, recording which of them was called; `refuser` names the one that rejects. */
const noted = (order: string[], refuser: () => Refuser | undefined): Policies => ({
  ...openPolicies,
  authenticate(request) {
    order.push('authentication')
    return openPolicies.authenticate(request)
  },
  seatOf: () => ({
    isExempt: false,
    take() {
      order.push('fairness')
      if (refuser() === 'fairness') throw new StatusError(429, 'TooManyRequests', 'Too many requests')
      return () => order.push('seat free')
    },
  }),
  authorize() {
    order.push('authorization')
    return refuser() === 'authorization' ? denied('not allowed') : allowed()
  },
})

const cases: [
  name: string,
  request: { method?: string; path?: string; refused?: Refuser; headers?: Record<string, string> },
  status: number,
  order: string[],
][] = [
  ['allowed', {}, 201, ['authentication', 'fairness', 'authorization', 'body', 'seat free']],
  ['anonymous', { headers: { anonymous: '' } }, 401, ['authentication']],
  ['over its share', { refused: 'fairness' }, 429, ['authentication', 'fairness']],
  ['not allowed', { refused: 'authorization' }, 403, ['authentication', 'fairness', 'authorization', 'seat free']],
  [
    'for an unknown resource',
    { path: '/api/v1/namespaces/default/nothings' },
    404,
    ['authentication', 'fairness', 'authorization', 'seat free'],
  ],
  [
    'for an unsupported response format',
    { headers: { accept: 'text/html' } },
    406,
    ['authentication', 'fairness', 'authorization', 'seat free'],
  ],
  [
    'proxied without permission',
    { path: '/api/v1/namespaces/default/pods/p/proxy/x', refused: 'authorization' },
    403,
    ['authentication', 'fairness', 'authorization', 'seat free'],
  ],
]
for (const [name, { method = 'POST', path = configMaps, refused, headers = {} }, status, order] of cases)
  test(`the body of a request that is ${name}: ${order.includes('body') ? 'read after authorization' : 'not read'}`, async () => {
    const asked: string[] = []
    const policy: { refuser?: Refuser } = {}
    await using server = await startServer(noted(asked, () => policy.refuser))
    if (refused !== undefined) policy.refuser = refused
    asked.length = 0
    const read = () => {
      asked.push('body')
      return body
    }
    const answer = await server.call(method, path, read, headers)
    equal(answer.status, status)
    deepEqual(asked, order)
  })

test('the flow event names the created object once the body has been read', async () => {
  await using server = await startServer()
  await server.call('POST', configMaps, { metadata: { name: 'named-in-body' } })
  const calls = [...server.flow.events()].filter(({ what }) => what === 'create configmaps')
  deepEqual(
    calls.map(({ object }) => object),
    [{ resource: 'configmaps', namespace: 'default', name: 'named-in-body' }],
  )
})

test('large requests of a user within the limits wait, and none is rejected', async () => {
  await using server = await startServer()
  const large = new TextEncoder().encode(
    JSON.stringify({ metadata: { generateName: 'a-' }, data: { x: '1'.repeat(200_000) } }),
  )
  const sent = Array.from({ length: 50 }, () => server.call('POST', configMaps, () => large.slice()))
  deepEqual(new Set((await Promise.all(sent)).map(({ status }) => status)), new Set([201]))
})

test('requests whose bodies are still being sent have no seat', async () => {
  const order: string[] = []
  await using server = await startServer(noted(order, () => undefined))
  order.length = 0
  const sending = Promise.withResolvers<Uint8Array>()
  const seats = () =>
    order.filter((one) => one === 'fairness').length - order.filter((one) => one === 'seat free').length
  const answers = Array.from({ length: 60 }, () => server.call('POST', configMaps, () => sending.promise))
  await server.call('GET', '/version')
  equal(seats(), 0)
  sending.resolve(body)
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  deepEqual(
    statuses.toSorted((a, b) => a - b),
    [201, ...Array<number>(59).fill(409)],
  )
  equal(seats(), 0)
})

test('a client that ends while it sends the body leaves no seat taken', async () => {
  const order: string[] = []
  await using server = await startServer(noted(order, () => undefined))
  order.length = 0
  const answer = await server.call('POST', configMaps, () =>
    Promise.reject(new StatusError(408, 'Timeout', 'too slow')),
  )
  equal(answer.status, 408)
  deepEqual(order, ['authentication', 'fairness', 'authorization', 'seat free'])
})
