// Lists, their pages, collections and watches as clients see them.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { startServer, type Harness } from './server.harness.ts'
import { openPolicies } from './open-policies.ts'
import { configMap, configMaps } from './server-objects.harness.ts'

async function fill(server: Harness): Promise<void> {
  for (const [name, app] of [
    ['a', 'x'],
    ['b', 'y'],
    ['c', 'x'],
  ] as const)
    await server.call('POST', configMaps, configMap(name, {}, { labels: { app } }))
  await server.call('POST', '/api/v1/namespaces/other/configmaps', configMap('d'))
}

const lists: [target: string, names: string[]][] = [
  [configMaps, ['a', 'b', 'c']],
  ['/api/v1/configmaps', ['a', 'b', 'c', 'd']],
  [`${configMaps}?labelSelector=app%3Dx`, ['a', 'c']],
  [`${configMaps}?labelSelector=app%20notin%20(x)`, ['b']],
  [`${configMaps}?fieldSelector=metadata.name%3Db`, ['b']],
  [`${configMaps}?fieldSelector=metadata.name!%3Db`, ['a', 'c']],
  ['/api/v1/configmaps?fieldSelector=metadata.namespace%3Dother', ['d']],
  ['/api/v1/configmaps?resourceVersion=0', ['a', 'b', 'c', 'd']],
]
for (const [target, names] of lists)
  test(`list ${target}`, async () => {
    await using server = await startServer()
    await fill(server)
    const { body } = await server.call('GET', target)
    deepEqual(
      body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      names,
    )
    equal(body.kind, 'ConfigMapList')
    equal('kind' in body.items[0], false, 'items carry no kind')
  })

test('pages show the list at the revision of the first page', async () => {
  await using server = await startServer()
  await fill(server)
  const first = (await server.call('GET', `${configMaps}?limit=2`)).body
  deepEqual([first.items.length, first.metadata.remainingItemCount], [2, 1])
  await server.call('DELETE', `${configMaps}/c`)
  await server.call('POST', configMaps, configMap('bb'))
  const second = (await server.call('GET', `${configMaps}?limit=2&continue=${first.metadata.continue}`)).body
  deepEqual(
    second.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['c'],
  )
  equal(second.metadata.resourceVersion, first.metadata.resourceVersion)
  equal(second.metadata.continue, undefined)
  const exact = (
    await server.call(
      'GET',
      `${configMaps}?resourceVersionMatch=Exact&resourceVersion=${first.metadata.resourceVersion}`,
    )
  ).body
  equal(exact.items.length, 3)
})

test('a further page waits until the server has the revision of the first page', async () => {
  await using ahead = await startServer()
  await fill(ahead)
  const first = (await ahead.call('GET', `${configMaps}?limit=1`)).body
  // The same writes arrive later at another server.
  await using behind = await startServer()
  const asking = behind.call('GET', `${configMaps}?limit=2&continue=${first.metadata.continue}`)
  await fill(behind)
  const { status, body } = await asking
  deepEqual([status, body.metadata.resourceVersion], [200, first.metadata.resourceVersion])
  deepEqual(
    body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['b', 'c'],
  )
})

test('a continue token that has expired is answered with a token for an inconsistent list', async () => {
  await using server = await startServer()
  await fill(server)
  const first = (await server.call('GET', `${configMaps}?limit=1`)).body
  await using later = await startServer(openPolicies, { store: server.store, clock: server.clock })
  await server.call('POST', '/api/v1/namespaces/other/configmaps', configMap('e'))
  await server.store.compact(server.store.revision, new AbortController().signal)
  await using compacted = await startServer(openPolicies, { store: server.store, clock: server.clock })
  const next = `${configMaps}?limit=2&continue=${first.metadata.continue}`
  equal((await later.call('GET', next)).status, 200, 'a server that starts knows the past of the store')
  const { status, body } = await compacted.call('GET', next)
  deepEqual([status, body.reason], [410, 'Expired'])
  const exact = `resourceVersionMatch=Exact&resourceVersion=${first.metadata.resourceVersion}`
  equal(
    (await compacted.call('GET', `${configMaps}?${exact}`)).body.message,
    'The resourceVersion for the provided list is too old.',
  )
  const rest = (await compacted.call('GET', `${configMaps}?limit=2&continue=${body.metadata.continue}`)).body
  deepEqual(
    rest.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['b', 'c'],
  )
})

test('the pages of a list have the same revision for five minutes', async () => {
  await using server = await startServer()
  await fill(server)
  const page = async (token: string) => server.call('GET', `${configMaps}?limit=1&continue=${token}`)
  const first = (await server.call('GET', `${configMaps}?limit=1`)).body.metadata.continue as string
  await server.clock.advance('4m')
  const second = (await page(first)).body.metadata.continue as string
  equal((await page(second)).status, 200)
  await server.clock.advance('2m')
  const { status, body } = await page(second)
  deepEqual([status, body.reason], [410, 'Expired'], 'counted from the first page')
  equal((await page(body.metadata.continue)).status, 200)
})

test('a request with a future resourceVersion waits, then fails', async () => {
  await using server = await startServer()
  const asking = server.call('GET', `${configMaps}?resourceVersion=99999`)
  await server.clock.advance('5s')
  const { status, body } = await asking
  deepEqual([status, body.reason], [504, 'Timeout'])
  match(body.message, /^Timeout: Too large resource version: 99999, current: \d+$/)
})

test('a collection is deleted by selector', async () => {
  await using server = await startServer()
  await fill(server)
  const dry = await server.call('DELETE', configMaps, { dryRun: ['All'] })
  deepEqual([dry.body.kind, dry.body.items.length], ['ConfigMapList', 3])
  equal((await server.call('DELETE', `${configMaps}/a`, { dryRun: ['All'] })).status, 200)
  equal((await server.call('GET', configMaps)).body.items.length, 3, 'a dry run in the body deletes nothing')
  const page = (await server.call('DELETE', `${configMaps}?limit=1&dryRun=All`)).body
  deepEqual([page.items.length, page.metadata.remainingItemCount], [1, 2])
  equal((await server.call('DELETE', `${configMaps}?labelSelector=app%3Dx`)).body.items.length, 2)
  equal((await server.call('GET', '/api/v1/configmaps')).body.items.length, 2)
})

const beginnings: [query: string, lines: string[]][] = [
  ['', ['ADDED a', 'ADDED b', 'ADDED c', 'ADDED new']],
  ['&resourceVersion=0', ['ADDED a', 'ADDED b', 'ADDED c', 'ADDED new']],
  ['&sendInitialEvents=false&resourceVersionMatch=NotOlderThan', ['ADDED new']],
  [
    '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    ['ADDED a', 'ADDED b', 'ADDED c', 'BOOKMARK true', 'ADDED new'],
  ],
  ['&fieldSelector=metadata.name%3Dnew', ['ADDED new']],
]
for (const [query, lines] of beginnings)
  test(`a watch with ${query === '' ? 'no parameters' : query} starts as requested`, async () => {
    await using server = await startServer()
    await fill(server)
    const watching = server.watch(`${configMaps}?watch=true${query}`, lines.length)
    await server.clock.settle()
    await server.call('POST', configMaps, configMap('new'))
    deepEqual(
      (await watching).map(
        ({ type, object: { metadata } }) =>
          `${type} ${metadata.name ?? metadata.annotations?.['k8s.io/initial-events-end']}`,
      ),
      lines,
    )
  })

test('a watch that begins too far in the future, or too early, has the error in its stream', async () => {
  await using server = await startServer()
  const future = `${configMaps}?watch=1&resourceVersion=99999`
  const waiting = server.watch(`${future}&timeoutSeconds=5`, 1)
  const initial = '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
  const late = server.watch(`${future}${initial}`, 1)
  await server.clock.advance('6s')
  deepEqual(await waiting, [], 'without initial events, a watch waits for its version')
  const [{ type, object }] = (await late) as [{ type: string; object: { code: number; message: string } }]
  deepEqual([type, object.code], ['ERROR', 504])
  match(object.message, /^Timeout: Too large resource version: 99999, current: \d+$/)
  await fill(server)
  await server.store.compact(server.store.revision, new AbortController().signal)
  await using compacted = await startServer(openPolicies, { store: server.store, clock: server.clock })
  const [old] = await compacted.watch(`${configMaps}?watch=1&resourceVersion=1`, 1)
  deepEqual([old?.type, old?.object.code, old?.object.reason], ['ERROR', 410, 'Expired'])
  match(old?.object.message, /^too old resource version: 1 \(\d+\)$/)
})

test('the deprecated watch path, and the end of a watch after its timeout', async () => {
  await using server = await startServer()
  const watching = server.watch('/api/v1/watch/namespaces/default/configmaps?timeoutSeconds=5', 2)
  await server.clock.settle()
  await server.call('POST', configMaps, configMap('a'))
  await server.clock.advance('6s')
  deepEqual(
    (await watching).map(({ type }) => type),
    ['ADDED'],
  )
  const endless = server.watch(`${configMaps}?watch=1`, 2)
  await server.clock.advance('61m')
  equal((await endless).length, 1)
})
