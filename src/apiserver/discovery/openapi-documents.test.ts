// OpenAPI documents of custom kinds are those of upstream: test/facts/published-openapi.json.gz has its documents. They follow
// changes of definitions, and only those of the changed group versions are built again.
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { decodeProtobuf } from '../../schema/protobuf/protobuf-decode.ts'
import { withoutDescriptions } from '../../../test/facts/published-openapi.ts'
import { startServer, type Harness } from '../server.harness.ts'
import { openApiV2Document } from './openapi-v2-protobuf.ts'

type Json = Readonly<Record<string, unknown>>

interface Facts {
  readonly definitions: readonly object[]
  readonly v3: Readonly<Record<string, Json>>
  readonly v2: Readonly<Record<'paths' | 'definitions', Json>>
}

const file = new URL('../../../test/facts/published-openapi.json.gz', import.meta.url)
const facts = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Facts

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

async function define(server: Harness, definition: object): Promise<void> {
  const { status, body } = await server.call('POST', definitionsPath, definition)
  equal(status, 201)
  await server.watch(
    `${definitionsPath}?watch=true&fieldSelector=metadata.name=${body.metadata.name}&resourceVersion=${body.metadata.resourceVersion}`,
    1,
  )
}

const widgets = (group: string, properties: object = {}): object => ({
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } },
    ],
  },
})

/** Upstream lists the groups of its code, including those that it does not serve. */
const groupsOfOptions = ['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']
/** Upstream publishes a default that ours does not have. */
const others = ['io.k8s.api.autoscaling.v1.ScaleSpec']

test('documents of custom kinds are those of upstream', async () => {
  await using server = await startServer()
  for (const definition of facts.definitions) await define(server, definition)
  for (const [name, wanted] of Object.entries(facts.v3)) {
    const { body } = await server.call('GET', `/openapi/v3/${name}`)
    const found = withoutDescriptions(body) as Json
    deepEqual(found['paths'], wanted['paths'], name)
    deepEqual(found['info'], wanted['info'], name)
    const ours = schemasOf(found)
    const theirs = schemasOf(wanted)
    deepEqual(Object.keys(ours).toSorted(), Object.keys(theirs).toSorted(), name)
    for (const [schema, value] of Object.entries(theirs))
      if (![...groupsOfOptions, ...others].includes(schema)) deepEqual(ours[schema], value, `${name}: ${schema}`)
  }
  const { body } = await server.call('GET', '/openapi/v2')
  const v2 = withoutDescriptions(body) as Facts['v2']
  for (const part of ['paths', 'definitions'] as const)
    for (const [name, value] of Object.entries(facts.v2[part])) deepEqual(v2[part][name], value, name)
})

const schemasOf = (document: Json): Json => (document['components'] as { readonly schemas: Json }).schemas

const hashesOf = async (server: Harness): Promise<Map<string, string>> => {
  const { paths } = (await server.call('GET', '/openapi/v3')).body as {
    paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>
  }
  return new Map(Object.entries(paths).map(([name, { serverRelativeURL }]) => [name, serverRelativeURL]))
}

test('a change of a definition changes the documents of its group version only', async () => {
  await using server = await startServer()
  await define(server, widgets('a.example.com'))
  await define(server, widgets('b.example.com'))
  const before = await hashesOf(server)
  const tag = String((await server.call('GET', '/openapi/v2')).headers['etag'])
  const changed = widgets('a.example.com', { size: { type: 'integer' } })
  const merge = { 'content-type': 'application/merge-patch+json' }
  equal((await server.call('PATCH', `${definitionsPath}/widgets.a.example.com`, changed, merge)).status, 200)
  const after = await hashesOf(server)
  deepEqual(
    [...after].filter(([name, url]) => before.get(name) !== url).map(([name]) => name),
    ['apis/a.example.com/v1'],
  )
  const v2 = await server.call('GET', '/openapi/v2', undefined, { 'if-none-match': tag })
  equal(v2.status, 200)
  deepEqual(v2.body.definitions['com.example.a.v1.Widget'].properties.size, { type: 'integer' })
  equal(
    (await server.call('GET', '/openapi/v2', undefined, { 'if-none-match': String(v2.headers['etag']) })).status,
    304,
  )
})

test('the documents of a removed definition are removed', async () => {
  await using server = await startServer()
  const before = await hashesOf(server)
  await define(server, widgets('a.example.com'))
  notEqual((await hashesOf(server)).size, before.size)
  equal((await server.call('GET', '/openapi/v3/apis/a.example.com/v1')).status, 200)
  equal((await server.call('GET', '/openapi/v3/apis/a.example.com')).status, 404) // as upstream
  equal((await server.call('DELETE', `${definitionsPath}/widgets.a.example.com`)).status, 200)
  await server.watch(`${definitionsPath}?watch=true&sendInitialEvents=false&resourceVersion=1`, 1)
  deepEqual(await hashesOf(server), before)
  equal((await server.call('GET', '/openapi/v3/apis/a.example.com/v1')).status, 404)
})

test('OpenAPI v2 in protobuf contains custom kinds with their keywords', async () => {
  await using server = await startServer()
  const size = { type: 'integer', minimum: 1, maxLength: 3, title: 'Size', enum: [1, 2], example: 2 }
  await define(server, widgets('a.example.com', { size, any: { type: 'object', additionalProperties: true } }))
  const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
  const { body, headers } = await server.call('GET', '/openapi/v2', undefined, { accept })
  equal(headers['etag'], (await server.call('GET', '/openapi/v2')).headers['etag'])
  const decoded = decodeProtobuf(openApiV2Document, body) as unknown as {
    definitions: { additional_properties: NamedSchema[] }
    paths: { path: { name: string }[] }
  }
  ok(decoded.paths.path.some(({ name }) => name === '/apis/a.example.com/v1/namespaces/{namespace}/widgets/{name}'))
  const found = decoded.definitions.additional_properties.find(({ name }) => name === 'com.example.a.v1.Widget')
  const property = (name: string) =>
    found?.value.properties.additional_properties.find((each) => each.name === name)?.value
  const { minimum, max_length, title, enum: values, example } = { ...property('size') } as Json
  deepEqual(
    { minimum, max_length, title, values, example },
    { minimum: 1, max_length: 3, title: 'Size', values: [{ yaml: '1' }, { yaml: '2' }], example: { yaml: '2' } },
  )
  deepEqual((property('any') as Json | undefined)?.['additional_properties'], { boolean: true })
})

interface NamedSchema {
  readonly name: string
  readonly value: {
    readonly properties: { readonly additional_properties: readonly { name: string; value: object }[] }
  }
}

test('a document with its hash never changes; another hash is redirected to the current one', async () => {
  await using server = await startServer()
  await define(server, widgets('a.example.com'))
  const url = (await hashesOf(server)).get('apis/a.example.com/v1') ?? ''
  const current = await server.call('GET', url)
  equal(current.status, 200)
  equal(current.headers['cache-control'], 'public, immutable')
  equal(current.headers['expires'], 'Wed, 01 Jan 2031 00:00:00 UTC')
  const plain = await server.call('GET', '/openapi/v3/apis/a.example.com/v1')
  deepEqual([plain.status, plain.headers['cache-control']], [200, 'no-cache, private'])
  equal(plain.headers['expires'], undefined)
  const changed = widgets('a.example.com', { size: { type: 'integer' } })
  const merge = { 'content-type': 'application/merge-patch+json' }
  await server.call('PATCH', `${definitionsPath}/widgets.a.example.com`, changed, merge)
  const { status, headers } = await server.wire('GET', url)
  const next = (await hashesOf(server)).get('apis/a.example.com/v1')
  notEqual(next, url)
  deepEqual([status, headers['location'], headers['cache-control']], [301, next, 'no-cache, private'])
  equal((await server.call('GET', '/openapi/v3/apis/none.example.com/v1?hash=1')).status, 404)
})
