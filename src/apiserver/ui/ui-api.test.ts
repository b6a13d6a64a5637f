// The paths below /ui/api/ through the whole handler chain, for an administrator and for a user with few permissions.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { startGuarded, type GuardedHarness } from '../server-policies.harness.ts'
import type { ObjectHistory } from './object-history.ts'
import type { UiExplanations } from './ui-api.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const history = (resource: string, name: string, namespace = 'default') =>
  `/ui/api/history?group=&version=v1&resource=${resource}&namespace=${namespace}&name=${name}`
const jane = { as: 'jane' }

const shown = ({ revisions }: ObjectHistory): string[] =>
  revisions.map(({ request, object, manager }) => {
    const { data } = (object ?? {}) as { data?: Record<string, string> }
    return `${request}: ${object === undefined ? 'deleted' : (data?.['a'] ?? 'no data')}${manager === undefined ? '' : ` by ${manager}`}`
  })

async function write(server: GuardedHarness) {
  const named = { metadata: { name: 'a' } }
  await server.call('POST', configMaps, { ...named, data: { a: '1' } }, { 'user-agent': 'kubectl/v1' })
  await server.call('PUT', `${configMaps}/a`, { ...named, data: { a: '2' } }, { 'user-agent': 'helm/v3' })
  await server.call('POST', configMaps, { metadata: { name: 'other' } })
}

test('the history has every retained revision with its author, the newest first', async () => {
  await using server = await startGuarded()
  await write(server)
  const { status, body } = await server.call('GET', history('configmaps', 'a'))
  equal(status, 200)
  deepEqual(shown(body), ['update configmaps: 2 by helm', 'create configmaps: 1 by kubectl'])
  equal(body.isTruncated, false)
  equal(body.revisions[0].sender, 'helm')
  equal(body.revisions[0].atMs, server.clock.nowMs())
})

test('the history continues before a deletion', async () => {
  await using server = await startGuarded()
  await write(server)
  await server.call('DELETE', `${configMaps}/a`)
  await server.call('POST', configMaps, { metadata: { name: 'a' }, data: { a: '3' } })
  const { body } = await server.call('GET', history('configmaps', 'a'))
  deepEqual(
    shown(body).map((text) => text.replace(/ by .*/, '')),
    ['create configmaps: 3', 'delete configmaps: deleted', 'update configmaps: 2', 'create configmaps: 1'],
  )
  deepEqual((await server.call('GET', history('configmaps', 'never'))).body.revisions, [])
})

test('the values of Secrets are not part of the history', async () => {
  await using server = await startGuarded()
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'hidden', kept: 'yes' }
  const path = '/api/v1/namespaces/default/secrets'
  await server.call('POST', path, { metadata: { name: 's', annotations }, stringData: { a: 'hidden' } })
  await server.call('POST', path, { metadata: { name: 'plain' }, stringData: { a: 'hidden' } })
  const { body } = await server.call('GET', history('secrets', 's'))
  equal(body.revisions.length, 1)
  deepEqual(body.revisions[0].object.metadata.annotations, { kept: 'yes' })
  const text = JSON.stringify([body, (await server.call('GET', history('secrets', 'plain'))).body])
  equal(text.includes('hidden') || text.includes('aGlkZGVu'), false)
})

const rejectedQueries: [query: string, status: number, message: RegExp][] = [
  ['version=v1&resource=configmaps&namespace=default', 400, /name: must not be empty/],
  ['version=v1&resource=configmaps&name=a', 400, /namespace: must not be empty/],
  ['version=v1&resource=namespaces&namespace=default&name=a', 400, /namespace: must be empty/],
  ['version=v2&resource=configmaps&namespace=default&name=a', 400, /resource: is not stored by this server/],
  [
    'group=apps&version=v1&resource=deployments&namespace=default&name=a',
    403,
    /"jane" cannot get resource "deployments"/,
  ],
]

test('queries are checked and authorized as a read of the object', async () => {
  await using server = await startGuarded()
  for (const path of ['history', 'why', 'flow'])
    for (const [query, status, message] of rejectedQueries) {
      const { status: actual, body } = await server.call('GET', `/ui/api/${path}?${query}`, undefined, jane)
      equal(actual, status, query)
      match(body.message, message)
    }
  equal((await server.call('POST', '/ui/api/history', undefined, jane)).status, 405)
  const unexplained = '/ui/api/why?version=v1&resource=configmaps&namespace=default&name=a'
  equal((await server.call('GET', unexplained)).status, 404)
  equal((await server.call('GET', unexplained.replace('why', 'flow'))).status, 404)
})

test('the retained revisions have their times', async () => {
  await using server = await startGuarded()
  await write(server)
  const { body } = await server.call('GET', `/ui/api/revisions?at=${server.clock.nowMs()}`, undefined, jane)
  equal(body.newest.revision, server.store.revision)
  equal(body.at.revision, server.store.revision)
  equal(body.oldest.revision <= body.marks[0].revision, true)
  equal((await server.call('GET', '/ui/api/revisions?at=now')).status, 400)
})

test('the time of a cluster that is not virtual cannot be advanced', async () => {
  await using server = await startGuarded()
  equal((await server.call('POST', '/ui/api/clock', { ms: 1 })).status, 404)
})

async function firstLines(server: GuardedHarness, headers: Record<string, string>): Promise<string[]> {
  const { body } = await server.wire('GET', '/ui/api/stream?past=100', headers)
  for await (const piece of body as AsyncIterable<string>)
    return piece
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ kind, event }) => (kind === 'event' ? `${event.what} ${event.object?.name}` : kind))
  return []
}

test('the stream has the events that the user may see', async () => {
  await using server = await startGuarded()
  await write(server)
  const all = await firstLines(server, {})
  equal(all.includes('create configmaps a'), true)
  equal(all.at(-1), 'ready')
  deepEqual(await firstLines(server, jane), ['ready'])
})

async function pastPage(server: GuardedHarness, query: string, headers: Record<string, string> = {}) {
  const { body } = await server.wire('GET', `/ui/api/events?${query}`, headers)
  let text = ''
  for await (const piece of body as AsyncIterable<string>) text += piece
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return { ids: lines.flatMap(({ event }) => event?.id ?? []), page: lines.at(-1) }
}

test('older events are read page by page, as far as the user may see them', async () => {
  await using server = await startGuarded()
  await write(server)
  const last = (await pastPage(server, 'count=1')).ids[0]
  equal(typeof last, 'number')
  const first = await pastPage(server, `before=${last}&count=3`)
  deepEqual(first.ids, [last - 3, last - 2, last - 1])
  deepEqual(first.page, { kind: 'page', before: last - 3 })
  const rest = await pastPage(server, `before=${last - 3}`)
  deepEqual([rest.ids.at(-1), rest.page], [last - 4, { kind: 'page', before: 0 }])
  deepEqual(await pastPage(server, 'before=0'), { ids: [], page: { kind: 'page', before: 0 } })
  const hidden = await pastPage(server, `before=${last}&count=3`, jane)
  deepEqual(hidden, { ids: [], page: first.page })
})

const found = ({ body }: { readonly body: { objects: readonly Record<string, string>[] } }): string[] =>
  body.objects.map(({ resource, namespace, name }) => `${resource} ${namespace}/${name}`)

async function allowInDefault(server: GuardedHarness): Promise<void> {
  const api = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
  await server.call('POST', `${api}/roles`, {
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
  })
  await server.call('POST', `${api}/rolebindings`, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
  })
}

test('a search finds objects of all kinds by name, equal names first, in one namespace or in all', async () => {
  await using server = await startGuarded()
  await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'web' } })
  for (const name of ['my-web', 'web-1', 'web']) await server.call('POST', configMaps, { metadata: { name } })
  await server.call('POST', configMaps.replace('default', 'web'), { metadata: { name: 'web-2' } })
  await server.call('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 'web-1' } })
  const search = async (text: string, namespace = '') =>
    found(await server.call('GET', `/ui/api/search?text=${encodeURIComponent(text)}&namespace=${namespace}`))
  const all = await search('Web')
  deepEqual(all.slice(0, 2).toSorted(), ['configmaps default/web', 'namespaces /web'])
  deepEqual(all.slice(2).toSorted(), [
    'configmaps default/my-web',
    'configmaps default/web-1',
    'configmaps web/web-2',
    'secrets default/web-1',
  ])
  deepEqual(await search('web', 'web'), ['configmaps web/web-2'])
  deepEqual(await search('secret web'), ['secrets default/web-1'])
  deepEqual(await search('web none'), [])
})

test('a search finds nothing that the user may not list', async () => {
  await using server = await startGuarded()
  await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'hidden' } })
  for (const namespace of ['default', 'hidden'])
    for (const [path, name] of [
      ['configmaps', 'web'],
      ['secrets', 'web'],
    ] as const)
      await server.call('POST', `/api/v1/namespaces/${namespace}/${path}`, { metadata: { name } })
  const search = (namespace: string) =>
    server.call('GET', `/ui/api/search?text=web&namespace=${namespace}`, undefined, jane)
  deepEqual(found(await search('')), [])
  await allowInDefault(server)
  const visible = await search('')
  deepEqual(found(visible), ['configmaps default/web'])
  equal(visible.body.isTruncated, false)
  deepEqual(found(await search('hidden')), [])
  deepEqual(found(await server.call('GET', '/ui/api/search?text=hidden', undefined, jane)), [])
})

test('a search is bounded', async () => {
  await using server = await startGuarded()
  for (let at = 0; at < 60; at++) await server.call('POST', configMaps, { metadata: { name: `config-${at}` } })
  const { body } = await server.call('GET', '/ui/api/search?text=config-')
  deepEqual([body.objects.length, body.isTruncated], [50, true])
  for (const text of ['', '%20', 'x'.repeat(254)]) {
    const { status, body: error } = await server.call('GET', `/ui/api/search?text=${text}`)
    deepEqual([status, error.message], [400, 'text: must have between 1 and 253 characters'])
  }
})

const robot = 'system:serviceaccount:default:robot'

test('an object, its messages and the cluster are explained from what the user may see', async () => {
  const asked: unknown[] = []
  const explanations: UiExplanations = {
    why: ({ name }, events, user) => {
      asked.push(['why', name, user.name, events.map(({ what }) => what)])
      return Promise.resolve(name === 'gone' ? undefined : { waits: [] })
    },
    flow: ({ name }, events) => {
      asked.push(['flow', name, events.some(({ object }) => object?.name === 'other')])
      return { roots: [] }
    },
    reach: ({ name }, target, user) => {
      asked.push(['reach', name, target, user.name])
      return Promise.resolve(name === 'gone' ? undefined : { verdict: 'allowed' })
    },
    overview: (namespace, user) => {
      asked.push(['overview', namespace, user.name])
      return Promise.resolve({ health: [] })
    },
    problems: (namespace, user) => {
      asked.push(['problems', namespace, user.name])
      return Promise.resolve({ problems: [] })
    },
  }
  await using server = await startGuarded({}, { ui: { files: () => new Map(), explanations } })
  await write(server)
  equal((await server.call('GET', configMaps, undefined, { as: robot })).status, 403)
  const about = (path: string, resource: string, name: string) =>
    server.call('GET', `/ui/api/${path}?version=v1&resource=${resource}&namespace=default&name=${name}`)
  deepEqual((await about('why', 'configmaps', 'a')).body, { waits: [] })
  equal((await about('why', 'configmaps', 'gone')).status, 404)
  equal((await about('why', 'serviceaccounts', 'robot')).status, 200)
  deepEqual((await about('flow', 'configmaps', 'a')).body, { roots: [] })
  const reach = (resource: string, name: string, as = {}) =>
    server.call(
      'GET',
      `/ui/api/reach?version=v1&resource=${resource}&namespace=default&name=${name}&target=pod/b`,
      undefined,
      as,
    )
  deepEqual((await reach('pods', 'a')).body, { verdict: 'allowed' })
  equal((await reach('pods', 'gone')).status, 404)
  equal((await reach('configmaps', 'a')).status, 400)
  equal((await reach('pods', 'a', jane)).status, 403)
  deepEqual((await server.call('GET', '/ui/api/overview?namespace=default', undefined, jane)).body, {
    health: [],
    tookMs: 0,
  })
  deepEqual((await server.call('GET', '/ui/api/problems')).body, { problems: [], tookMs: 0 })
  equal((await server.call('POST', '/ui/api/problems')).status, 405)
  deepEqual(asked, [
    ['why', 'a', 'admin', ['create configmaps', 'put configmap', 'update configmaps', 'put configmap']],
    ['why', 'gone', 'admin', []],
    // Its requests that were refused.
    ['why', 'robot', 'admin', ['list configmaps']],
    ['flow', 'a', true],
    ['reach', 'a', 'pod/b', 'admin'],
    ['reach', 'gone', 'pod/b', 'admin'],
    ['overview', 'default', 'jane'],
    ['problems', '', 'admin'],
  ])
})

test('virtual time is advanced by administrators only', async () => {
  const steps: (number | 'next')[] = []
  const stepClock = (ms: number | 'next') => Promise.resolve(steps.push(ms))
  await using server = await startGuarded({}, { ui: { files: () => new Map(), stepClock } })
  const clock = '/ui/api/clock'
  deepEqual((await server.call('GET', clock)).body, { nowMs: server.clock.nowMs() })
  deepEqual((await server.call('POST', clock, { ms: 1500 })).body, { nowMs: 1 })
  deepEqual((await server.call('POST', clock, { to: 'next' })).body, { nowMs: 2 })
  for (const body of [{ ms: -1 }, { ms: '5' }, {}, undefined])
    equal((await server.call('POST', clock, body)).status, 400)
  equal((await server.call('DELETE', clock)).status, 405)
  equal((await server.call('POST', clock, { ms: 1 }, jane)).status, 403)
  deepEqual(steps, [1500, 'next'])
})
