// HTTP: formats of responses and bodies, discovery, health, watches.
import { deepEqual, equal, match, notEqual, throws } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { configMap } from '../api/core/v1/config-map.ts'
import { listMeta, status as statusMessage } from '../api/meta/v1/status.ts'
import { decode } from '../schema/decoding/decode.ts'
import { list as listField, message, struct } from '../schema/descriptor/field.ts'
import { decodeProtobuf, decodeEnvelope } from '../schema/protobuf/protobuf-decode.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import type { Store } from '../store/store.ts'
import { healthChecks } from './health/health-checks.ts'
import { acceptsAggregatedDiscovery, negotiateFormat, bodyFormat } from './http/media-type.ts'
import { timeoutMsParameter } from './request/query-values.ts'
import { startServer } from './server.harness.ts'
import { noExtensions } from './request/extension.ts'
import { KindCatalogue } from './kinds/kind-catalogue.ts'
import { requestTargetOf } from './routing/request-target.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'

const accepts: [accept: string, syntax: string, shape: string][] = [
  ['', 'json', 'object'],
  ['*/*', 'json', 'object'],
  ['application/yaml', 'yaml', 'object'],
  ['application/vnd.kubernetes.protobuf,application/json', 'protobuf', 'object'],
  [
    'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1;g=meta.k8s.io',
    'json',
    'table',
  ],
  ['application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', 'protobuf', 'metadata'],
  [table, 'json', 'table'],
  ['application/json;as=Table;v=v9;g=meta.k8s.io,application/json', 'json', 'object'],
  ['application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'json', 'metadata'],
]
for (const [accept, syntax, shape] of accepts)
  test(`accept ${accept}`, () => {
    const isList = accept.includes('List') ? { isList: true } : {}
    deepEqual(negotiateFormat(accept), { syntax, shape, ...isList })
  })

test('bodies by content type', () => {
  deepEqual(bodyFormat('application/json; charset=utf-8', 'POST'), { syntax: 'json' })
  deepEqual(bodyFormat('application/merge-patch+json', 'PATCH'), { syntax: 'json', patchType: 'merge' })
  equal(
    acceptsAggregatedDiscovery('application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'),
    true,
  )
  equal(acceptsAggregatedDiscovery('application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList'), false)
})

const targets: [method: string, path: string, wanted: string][] = [
  ['GET', '/api/v1/pods', 'list pods - - -'],
  ['GET', '/api/v1/pods?watch=true', 'watch pods - - -'],
  ['GET', '/api/v1/namespaces/a/pods/b', 'get pods a b -'],
  ['POST', '/api/v1/namespaces/a/pods/b/binding', 'create pods a b binding'],
  ['DELETE', '/apis/apps/v1/namespaces/a/deployments', 'deletecollection deployments a - -'],
  ['GET', '/api/v1/namespaces/a', 'get namespaces - a -'],
  ['PUT', '/api/v1/namespaces/a/status', 'update namespaces - a status'],
  ['PATCH', '/api/v1/nodes/n/status', 'patch nodes - n status'],
  ['GET', '/apis/apps/v1', 'path get /apis/apps/v1'],
  ['GET', '/healthz', 'path get /healthz'],
]
for (const [method, path, wanted] of targets)
  test(`${method} ${path} is parsed as ${wanted}`, () => {
    const url = new URL(path, 'https://x')
    const { target } = requestTargetOf(method, url.pathname, url.searchParams, '', {
      catalogue: new KindCatalogue(),
      extensions: noExtensions,
    })
    const text =
      target.kind === 'path'
        ? `path ${target.verb} ${target.path}`
        : [target.verb, target.resource.plural, target.namespace, target.name, target.subresource]
            .map((part) => part || '-')
            .join(' ')
    equal(text, wanted)
  })

test('an object and a list as a Table, as metadata, as YAML', async () => {
  await using server = await startServer()
  await server.call('POST', configMaps, { metadata: { name: 'a' }, data: { x: '1', y: '2' } })
  await server.clock.advance('90s')
  const one = (await server.call('GET', `${configMaps}/a`, undefined, { accept: table })).body
  deepEqual(
    [one.kind, one.columnDefinitions.map((column: { name: string }) => column.name), one.rows[0].cells],
    ['Table', ['Name', 'Data', 'Age'], ['a', 2, '90s']],
  )
  equal(one.rows[0].object.kind, 'PartialObjectMetadata')
  const all = (await server.call('GET', `${configMaps}?includeObject=Object`, undefined, { accept: table })).body
  equal(all.rows[0].object.kind, 'ConfigMap')
  const bare = (await server.call('GET', `${configMaps}?includeObject=None`, undefined, { accept: table })).body
  equal(bare.rows[0].object, null)
  const metadata = (
    await server.call('GET', configMaps, undefined, {
      accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    })
  ).body
  deepEqual([metadata.kind, metadata.items[0].metadata.name], ['PartialObjectMetadataList', 'a'])
  const yaml = await server.call('GET', `${configMaps}/a`, undefined, { accept: 'application/yaml' })
  match(yaml.body, /^apiVersion: v1\ndata:\n  x: "1"\n  "y": "2"\nkind: ConfigMap\nmetadata:\n/)
})

test('bodies in YAML and protobuf', async () => {
  await using server = await startServer()
  const fromYaml = await server.call(
    'POST',
    configMaps,
    'metadata:\n  name: yam\n  annotations: { at: 2001-01-01 }\ndata:\n  key: "yes"\n',
    {
      'content-type': 'application/yaml',
    },
  )
  deepEqual(
    [fromYaml.status, fromYaml.body.data, fromYaml.body.metadata.annotations],
    [201, { key: 'yes' }, { at: '2001-01-01' }],
  )
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
    .split('')
    .map((key, index) => `${key}: &${key} [${Array(9).fill(`*${'abcdefgh'[index]}`).join()}]`)
    .join('\n')}\n`
  equal((await server.call('POST', configMaps, bomb, { 'content-type': 'application/yaml' })).status, 400)
  const golden = new Uint8Array(readFileSync(new URL('../../test/facts/golden/core.v1.ConfigMap.pb', import.meta.url)))
  const sent = await server.call('POST', `${configMaps}?dryRun=All`, golden, {
    'content-type': 'application/vnd.kubernetes.protobuf',
  })
  equal(
    sent.status === 400 && /namespace|resourceVersion/.test(sent.body.message),
    true,
    'it was understood: only what no client may send is refused',
  )
  equal(
    (await server.call('POST', configMaps, 'k8s', { 'content-type': 'application/vnd.kubernetes.protobuf' })).status,
    400,
  )
})

test('responses in protobuf: an object, a list, a Status, a watch', async () => {
  await using server = await startServer()
  const accept = 'application/vnd.kubernetes.protobuf'
  const created = await server.call('POST', configMaps, { metadata: { name: 'a' }, data: { x: '1' } }, { accept })
  deepEqual([created.status, created.headers['content-type']], [201, accept])
  const object = decodeEnvelope(created.body)
  deepEqual([object.apiVersion, object.kind], ['v1', 'ConfigMap'])
  const decoded = decode(configMap.message, decodeProtobuf(configMap.message, object.raw)).value
  const { apiVersion: _, kind: __, ...sameInJson } = (await server.call('GET', `${configMaps}/a`)).body
  deepEqual(decoded, sameInJson)
  const list = decodeEnvelope((await server.call('GET', configMaps, undefined, { accept })).body)
  const listMessage = message('test.List', { metadata: struct(1, listMeta), items: listField(2, configMap.message) })
  equal(list.kind, 'ConfigMapList')
  deepEqual((decode(listMessage, decodeProtobuf(listMessage, list.raw)).value as { items: unknown[] }).items, [decoded])
  const frame = await server.firstPiece(`${configMaps}?watch=1`, { accept })
  equal(new DataView(frame.buffer).getUint32(0), frame.length - 4)
  equal(decodeEnvelope((await server.call('DELETE', `${configMaps}/a`, undefined, { accept })).body).kind, 'Status')
})

test('discovery, old and aggregated, names every kind', async () => {
  await using server = await startServer()
  deepEqual((await server.call('GET', '/api')).body.versions, ['v1'])
  deepEqual((await server.call('GET', '/apis')).body.groups.map((group: { name: string }) => group.name).slice(0, 3), [
    'apiregistration.k8s.io',
    'apps',
    'events.k8s.io',
  ])
  equal((await server.call('GET', '/apis/apps')).body.preferredVersion.groupVersion, 'apps/v1')
  const { resources } = (await server.call('GET', '/apis/apps/v1')).body
  const deployments = resources
    .filter(({ name }: { name: string }) => name.startsWith('deployments'))
    .map(({ name }: { name: string }) => name)
  deepEqual(deployments, ['deployments', 'deployments/scale', 'deployments/status'])
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const aggregated = await server.call('GET', '/apis', undefined, { accept })
  equal(aggregated.headers['content-type'], accept)
  match(String(aggregated.headers['etag']), /^"[0-9A-F]{64}"$/)
  const again = await server.call('GET', '/apis', undefined, {
    accept,
    'if-none-match': String(aggregated.headers['etag']),
  })
  equal(again.status, 304)
  const core = (await server.call('GET', '/api', undefined, { accept })).body.items[0].versions[0].resources
  deepEqual(
    core
      .find((resource: { resource: string }) => resource.resource === 'pods')
      .subresources.map((part: { subresource: string }) => part.subresource),
    ['attach', 'binding', 'ephemeralcontainers', 'eviction', 'exec', 'log', 'portforward', 'proxy', 'resize', 'status'],
  )
  equal((await server.call('GET', '/apis/none')).status, 404)
})

test('health and version are public; metrics and flows need a user', async () => {
  await using server = await startServer()
  for (const path of ['/healthz', '/livez', '/readyz'])
    deepEqual(
      [(await server.call('GET', path, undefined, { anonymous: 'x' })).status, (await server.call('GET', path)).body],
      [200, 'ok'],
    )
  equal((await server.call('GET', '/version', undefined, { anonymous: 'x' })).body.gitVersion, 'v1.36.4')
  equal((await server.call('GET', '/metrics', undefined, { anonymous: 'x' })).status, 401)
  match(
    (await server.call('GET', '/metrics')).body,
    /apiserver_request_duration_seconds_count\{verb="POST",group="",version="v1",resource="namespaces",subresource="",scope="resource",component="apiserver",dry_run=""\} 2/,
  )
  const { events } = (await server.call('GET', '/coxswain/v1/flow-events')).body
  deepEqual([events[0].arrow, events[0].what, events[1].arrow], ['call', 'create namespaces', 'persist'])
})

test('metrics have the text format, or OpenMetrics when the client accepts it', async () => {
  await using server = await startServer()
  const type = async (path: string, accept: string) =>
    (await server.call('GET', path, undefined, { accept })).headers['content-type']
  match(String(await type('/metrics', '*/*')), /^text\/plain; version=0\.0\.4;/)
  match(
    String(await type('/metrics', 'application/openmetrics-text')),
    /^application\/openmetrics-text; version=1\.0\.0;/,
  )
  equal((await server.call('GET', '/metrics/unknown')).status, 404)
})

test('/metrics/slis has the results of health checks', async () => {
  await using server = await startServer()
  await server.call('GET', '/readyz')
  const { body } = await server.call('GET', '/metrics/slis')
  match(body, /^kubernetes_healthcheck\{name="etcd",type="readyz"\} 1$/m)
  match(body, /^kubernetes_healthchecks_total\{name="etcd",status="success",type="readyz"\} 1$/m)
})

test('a watch without a version sends the state, then changes; with a version only changes', async () => {
  await using server = await startServer()
  const put = (name: string, data: object) => server.call('PUT', `${configMaps}/${name}`, { metadata: { name }, data })
  const { body } = await server.call('POST', configMaps, { metadata: { name: 'a' } })
  const shown = (events: { type: string; object: { metadata: { name: string } } }[]) =>
    events.map(({ type, object }) => `${type} ${object.metadata.name}`)
  const fromNow = server.watch(`${configMaps}?watch=1`, 4)
  const fromVersion = server.watch(`${configMaps}?watch=1&resourceVersion=${body.metadata.resourceVersion}`, 3)
  await server.clock.settle()
  await put('a', { x: '1' })
  await server.call('POST', configMaps, { metadata: { name: 'b' } })
  await server.call('DELETE', `${configMaps}/a`)
  const changes = ['MODIFIED a', 'ADDED b', 'DELETED a']
  deepEqual(shown(await fromNow), ['ADDED a', ...changes])
  deepEqual(shown(await fromVersion), changes)
  deepEqual(
    shown(await server.watch(`${configMaps}?watch=1&resourceVersion=${body.metadata.resourceVersion}`, 3)),
    changes,
    'the past is still there',
  )
})

test('an object that starts or stops matching appears or disappears', async () => {
  await using server = await startServer()
  const events = server.watch(`${configMaps}?watch=1&labelSelector=on`, 2)
  await server.clock.settle()
  await server.call('POST', configMaps, { metadata: { name: 'a' } })
  const label = (labels: object) =>
    server.call(
      'PATCH',
      `${configMaps}/a`,
      { metadata: { labels } },
      { 'content-type': 'application/merge-patch+json' },
    )
  await label({ on: '' })
  const { body } = await label({ on: null })
  const seen = await events
  deepEqual(
    seen.map(({ type }) => type),
    ['ADDED', 'DELETED'],
  )
  equal(
    seen[1].object.metadata.resourceVersion,
    body.metadata.resourceVersion,
    'a disappearance carries the version that caused it',
  )
})

test('bookmarks are sent at the end of the initial events and periodically', async () => {
  await using server = await startServer()
  await server.call('POST', configMaps, { metadata: { name: 'a' } })
  const target = `${configMaps}?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`
  const events = server.watch(target, 3)
  await server.clock.settle()
  await server.clock.advance('61s')
  const [added, first, second] = await events
  equal(added.type, 'ADDED')
  deepEqual(
    [first.type, first.object.metadata.annotations, second.type, second.object.metadata.annotations],
    ['BOOKMARK', { 'k8s.io/initial-events-end': 'true' }, 'BOOKMARK', undefined],
  )
  const refusal = await server.call('GET', `${configMaps}?watch=1&sendInitialEvents=true`)
  match(refusal.body.message, /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/)
})

test('a watch ends after its timeout', async () => {
  await using server = await startServer()
  const events = server.watch(`${configMaps}?watch=1&timeoutSeconds=5`, 1)
  await server.clock.settle()
  await server.clock.advance('6s')
  deepEqual(await events, [])
})

test('watches as Tables carry the columns once', async () => {
  await using server = await startServer()
  const events = server.watch(`${configMaps}?watch=1`, 2, { accept: table })
  await server.clock.settle()
  for (const name of ['a', 'b']) await server.call('POST', configMaps, { metadata: { name } })
  const [first, second] = await events
  deepEqual(
    [first.object.kind, first.object.columnDefinitions.length, second.object.columnDefinitions],
    ['Table', 3, null],
  )
})

const healthAnswers: [target: string, status: number, text: string][] = [
  ['/livez', 200, 'ok'],
  ['/healthz/ping', 200, 'ok'],
  ['/readyz/informer-sync', 200, 'ok'],
  ['/livez/poststarthook/rbac/bootstrap-roles', 200, 'ok'],
  [
    '/livez?verbose',
    200,
    '[+]ping ok\n[+]log ok\n[+]loopback-serving-certificate ok\n[+]etcd ok\n…livez check passed\n',
  ],
  [
    '/healthz?verbose',
    200,
    '[+]ping ok\n[+]log ok\n[+]loopback-serving-certificate ok\n[+]etcd ok\n…healthz check passed\n',
  ],
  [
    '/readyz?verbose&exclude=etcd&exclude=none',
    200,
    '[+]ping ok\n[+]log ok\n[+]loopback-serving-certificate ok\n[+]etcd excluded: ok\n[+]etcd-readiness ok\n[+]informer-sync ok\n…[+]shutdown ok\nwarn: some health checks cannot be excluded: no matches for "none"\nreadyz check passed\n',
  ],
]
/** Without the deferred tasks of the start: the recorded transcript contains them. */
const withoutHooks = (text: string) => text.replace(/(\[\+\](poststarthook\/|autoregister-)\S+ ok\n)+/, '…')
for (const [target, status, text] of healthAnswers)
  test(`health ${target}`, async () => {
    await using server = await startServer()
    const answer = await server.call('GET', target, undefined, { anonymous: 'yes' })
    deepEqual([answer.status, withoutHooks(answer.body)], [status, text])
  })

test('tasks deferred until after the start delay readiness', () => {
  const state = { store: {} as Store, clock: new VirtualClock(), isReady: () => false, isDraining: () => false }
  const hook = healthChecks('livez', state).find(({ name }) => name === 'poststarthook/rbac/bootstrap-roles')
  throws(() => hook?.check(new AbortController().signal))
})

test('a server that shuts down is not ready, and its watches end', async () => {
  await using server = await startServer()
  const watching = server.watch(`${configMaps}?watch=1`, 1)
  await server.clock.settle()
  server.server.drain()
  deepEqual(await watching, [])
  const { status, body } = await server.call('GET', '/readyz')
  deepEqual(
    [status, withoutHooks(body).split('\n').slice(4)],
    [
      500,
      [
        '[+]etcd-readiness ok',
        '[+]informer-sync ok',
        '…[-]shutdown failed: reason withheld',
        'readyz check failed',
        '',
      ],
    ],
  )
  equal((await server.call('GET', '/readyz/shutdown')).status, 500)
  equal((await server.call('GET', '/livez')).status, 200)
  equal((await server.call('GET', '/livez/none')).status, 404)
})

test('an error has the accepted format, and every response has an audit id', async () => {
  await using server = await startServer()
  const accept = 'application/vnd.kubernetes.protobuf'
  const { status, headers, body } = await server.call('GET', `${configMaps}/none`, undefined, { accept })
  deepEqual([status, headers['content-type']], [404, accept])
  const envelope = decodeEnvelope(body)
  deepEqual([envelope.kind, decodeProtobuf(statusMessage, envelope.raw)['reason']], ['Status', 'NotFound'])
  match(String(headers['audit-id']), /^[0-9a-f-]{36}$/)
  const given = await server.call('GET', '/version', undefined, { 'audit-id': 'mine' })
  deepEqual([given.headers['audit-id'], given.headers['cache-control']], ['mine', 'no-cache, private'])
})

test('a long list is written in chunks with the same content', async () => {
  await using server = await startServer()
  const names = Array.from({ length: 620 }, (_, index) => `m${String(index).padStart(4, '0')}`)
  await Promise.all(
    names.map((name) => server.call('POST', configMaps, { metadata: { name }, data: { k: `ü${name}` } })),
  )
  const { body } = await server.call('GET', configMaps)
  deepEqual(
    body.items.map((item: { metadata: { name: string }; data: Record<string, string> }) => item.data['k']?.slice(1)),
    names,
  )
  equal(
    body.items[5].metadata.resourceVersion,
    (await server.call('GET', `${configMaps}/m0005`)).body.metadata.resourceVersion,
  )
})

const timeouts: [asked: string, wanted: string][] = [
  ['', 'no timeout'],
  ['0', 'no timeout'],
  ['0s', 'no timeout'],
  ['-5s', 'no timeout'],
  ['1m0.5s', '60500'],
  ['.5h', '1800000'],
  ['250us', '0.25'],
  ['10', 'time: missing unit in duration "10"'],
  ['10x', 'time: unknown unit "x" in duration "10x"'],
  ['soon', 'time: invalid duration "soon"'],
  ['1.2.3s', 'time: missing unit in duration "1.2.3s"'],
  ['-', 'time: invalid duration "-"'],
]
for (const [asked, wanted] of timeouts)
  test(`a timeout of ${JSON.stringify(asked)}: ${wanted}`, () => {
    const read = () => String(timeoutMsParameter(new URLSearchParams({ timeout: asked })) || 'no timeout')
    if (!wanted.startsWith('time:')) return equal(read(), wanted)
    throws(read, { message: `invalid timeout specified in the request URL - ${wanted}`, code: 400 })
  })

test('a request with a timeout is not answered after the timeout', async () => {
  await using server = await startServer()
  await server.call('POST', configMaps, { metadata: { name: 'a' } })
  const wait = (more: string) => server.call('GET', `${configMaps}?resourceVersion=999999&${more}`)
  const short = wait('timeout=500ms')
  await server.clock.advance('501ms')
  deepEqual(
    [(await short).status, (await short).body.message],
    [504, 'Timeout: request did not complete within the allotted timeout'],
  )
  const long = wait('timeout=20s')
  await server.clock.advance('4s')
  match((await long).body.message, /Too large resource version/)
  equal((await server.call('GET', `${configMaps}/a?timeout=never`)).status, 400)
})

test('a watch with bookmarks sends one shortly before its end', async () => {
  await using server = await startServer()
  const watching = server.watch(`${configMaps}?watch=1&allowWatchBookmarks=true&timeoutSeconds=10`, 2)
  const without = server.watch(`${configMaps}?watch=1&timeoutSeconds=10`, 2)
  await server.clock.settle()
  const secret = await server.call('POST', '/api/v1/namespaces/other/secrets', { metadata: { name: 'elsewhere' } })
  await server.clock.advance('11s')
  deepEqual(
    (await watching).map(({ type, object }) => [type, object.metadata.resourceVersion]),
    [['BOOKMARK', secret.body.metadata.resourceVersion]],
  )
  deepEqual(await without, [])
})

const twice = ['meta.k8s.io/v1beta1', 'meta.k8s.io/v1beta1']
const beta = 'application/json;as=Table;v=v1beta1;g=meta.k8s.io'
const tableOnly = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const partialBeta = 'application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io'

test('Tables and metadata of meta.k8s.io/v1beta1', async () => {
  await using server = await startServer()
  await server.call('POST', configMaps, { metadata: { name: 'a' } })
  const look = async (target: string, accept: string) =>
    (await server.call('GET', target, undefined, { accept })).body as Record<string, unknown> & {
      rows: { object: { apiVersion: string } }[]
      items: { apiVersion: string }[]
    }
  const one = await look(`${configMaps}/a`, beta)
  deepEqual([one['kind'], one['apiVersion'], one.rows[0]?.object.apiVersion], ['Table', ...twice])
  const all = await look(configMaps, beta)
  deepEqual([all['kind'], all['apiVersion'], all.rows[0]?.object.apiVersion], ['Table', ...twice])
  const metadata = await look(configMaps, partialBeta)
  deepEqual([metadata['apiVersion'], metadata.items[0]?.apiVersion], twice)
  const [event] = await server.watch(`${configMaps}?watch=1`, 1, { accept: beta })
  equal(event.object.apiVersion, 'meta.k8s.io/v1beta1')
})

const tableless: [method: string, target: string, body: object][] = [
  ['POST', '/api/v1/namespaces/default/bindings', { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }],
  ['POST', '/api/v1/namespaces/default/pods/p/eviction', { metadata: { name: 'p' } }],
  ['POST', '/api/v1/namespaces/default/serviceaccounts/default/token', {}],
  ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { nonResourceAttributes: {} } }],
]
for (const [method, target, body] of tableless)
  test(`${method} ${target} has no Table`, async () => {
    await using server = await startServer()
    const answer = await server.call(method, target, body, { accept: tableOnly })
    deepEqual(
      [answer.status, answer.body.message],
      [
        406,
        'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      ],
    )
    const next = await server.call(method, target, body, { accept: table })
    notEqual(next.status, 406)
  })

const eventFields: [field: string, own: number, core: number][] = [
  ['reportingController', 200, 400],
  ['reportingComponent', 400, 200],
  ['regarding.kind', 200, 400],
  ['regarding.resourceVersion', 200, 400],
  ['involvedObject.kind', 400, 200],
  ['involvedObject.resourceVersion', 400, 200],
  ['source', 400, 200],
  ['reason', 200, 200],
  ['type', 200, 200],
  ['note', 400, 400],
]
test('events are selected by the fields of the requested version', async () => {
  await using server = await startServer()
  const own = '/apis/events.k8s.io/v1/namespaces/default/events'
  const status = async (path: string, field: string) =>
    (await server.call('GET', `${path}?fieldSelector=${field}%3Dx`)).status
  for (const [field, ...expected] of eventFields)
    deepEqual([await status(own, field), await status('/api/v1/events', field)], expected, field)
  const event = (name: string, reportingController: string) => ({
    metadata: { name },
    eventTime: '2030-01-01T00:00:00.000000Z',
    reportingController,
    reportingInstance: 'i',
    action: 'a',
    reason: 'r',
    type: 'Normal',
    regarding: { kind: 'Pod', namespace: 'default', name },
  })
  for (const name of ['one', 'two']) equal((await server.call('POST', own, event(name, `a.b/${name}`))).status, 201)
  for (const selector of ['reportingController%3Da.b/two', 'regarding.name%3Dtwo']) {
    const { body } = await server.call('GET', `${own}?fieldSelector=${selector}`)
    deepEqual(
      body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
      ['two'],
    )
    const [seen] = await server.watch(`${own}?watch=1&fieldSelector=${selector}`, 1)
    equal(seen.object.metadata.name, 'two')
  }
})

test('custom objects have no protobuf', () => {
  const accept = 'application/vnd.kubernetes.protobuf,application/json'
  deepEqual(negotiateFormat(accept), { syntax: 'protobuf', shape: 'object' })
  deepEqual(negotiateFormat(accept, 'customObject'), { syntax: 'json', shape: 'object' })
  throws(() => negotiateFormat('application/vnd.kubernetes.protobuf', 'customObject'), { code: 406 })
  throws(() => bodyFormat('application/vnd.kubernetes.protobuf', 'POST', true), { code: 415 })
})

test('custom objects have no strategic merge patch', () =>
  throws(() => bodyFormat('application/strategic-merge-patch+json', 'PATCH', true), {
    code: 415,
    message:
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
  }))

const wrongShapes: [path: string, as: string, message: string][] = [
  [
    configMaps,
    'PartialObjectMetadata',
    'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)',
  ],
  [
    `${configMaps}/a`,
    'PartialObjectMetadataList',
    'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
  ],
]
for (const [path, as, text] of wrongShapes)
  test(`${path} has no ${as}`, async () => {
    await using server = await startServer()
    await server.call('POST', configMaps, { metadata: { name: 'a' } })
    const { status, body } = await server.call('GET', path, undefined, {
      accept: `application/json;as=${as};v=v1;g=meta.k8s.io`,
    })
    deepEqual([status, body.reason, body.message], [406, 'NotAcceptable', text])
  })
