// Discovery as in upstream, and OpenAPI in both versions and both encodings.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { addOnGroups, kinds } from '../../api/kinds.ts'
import { decodeProtobuf } from '../../schema/protobuf/protobuf-decode.ts'
import { startServer, type HarnessResponse } from '../server.harness.ts'
import { KindCatalogue } from '../kinds/kind-catalogue.ts'
import { aggregatedGroup } from './discovery.ts'
import { openApiV2Document } from './openapi-v2-protobuf.ts'
import { builtInV2Part } from './openapi-v2.ts'
import { ServedGroups } from './served-groups.ts'
import { openApiV3, openApiV3Names } from './openapi-v3.ts'
import { operationsOf } from './openapi-operations.ts'

interface ResourceFact {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly verbs: readonly string[]
  readonly subresources?: readonly object[]
}

const facts = JSON.parse(
  readFileSync(new URL('../../../test/facts/discovery.json', import.meta.url), 'utf8'),
) as ResourceFact[]

const catalogue = new KindCatalogue()

interface AggregatedGroup {
  readonly versions: readonly {
    readonly version: string
    readonly resources: readonly { readonly resource: string }[]
  }[]
}

for (const [group, names] of new ServedGroups(catalogue).versions)
  if (!addOnGroups.includes(group)) {
    const { versions } = aggregatedGroup(catalogue, group, names) as AggregatedGroup
    for (const { version, resources } of versions)
      for (const resource of resources)
        test(`discovery of ${group}/${version} ${resource.resource} is upstream's`, () => {
          const fact = facts.find(
            (entry) => entry.group === group && entry.version === version && entry.resource === resource.resource,
          )
          deepEqual({ group, version, ...resource }, fact)
        })
  }

test('OpenAPI v3: each group version has a document with the fields that kubectl needs', async () => {
  await using server = await startServer()
  const { paths } = (await server.call('GET', '/openapi/v3')).body
  const { body, headers } = await server.call('GET', paths['apis/apps/v1'].serverRelativeURL)
  const { patch } = body.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']
  deepEqual(patch['x-kubernetes-group-version-kind'], { group: 'apps', kind: 'Deployment', version: 'v1' })
  for (const wanted of ['dryRun', 'fieldValidation'])
    ok(patch.parameters.some((parameter: { name: string }) => parameter.name === wanted))
  const schema = body.components.schemas['io.k8s.api.apps.v1.Deployment']
  deepEqual([schema['x-kubernetes-group-version-kind'].length, 'kind' in schema.properties], [1, true])
  const again = await server.call('GET', '/openapi/v3/apis/apps/v1', undefined, {
    'if-none-match': String(headers['etag']),
  })
  equal(again.status, 304)
  equal((await server.call('GET', '/openapi/v3/apis/none/v1')).status, 404)
  equal((await server.call('GET', '/openapi/v1')).status, 404)
})

const protobufType = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'

interface NamedValue {
  readonly name: string
  readonly value: { readonly vendor_extension?: readonly { readonly name: string; readonly value: { yaml: string } }[] }
}

test('OpenAPI v2: the same document as JSON and in protobuf, with the same entity tag', async () => {
  await using server = await startServer()
  const json = await server.call('GET', '/openapi/v2')
  const binary = await server.call('GET', '/openapi/v2', undefined, { accept: protobufType })
  equal(binary.headers['content-type'], protobufType.replace('@', '.'))
  equal(binary.headers['etag'], json.headers['etag'])
  const decoded = decodeProtobuf(openApiV2Document, binary.body) as unknown as {
    definitions: { additional_properties: NamedValue[] }
    paths: { path: NamedValue[] }
  }
  const names = (list: readonly NamedValue[]) => list.map(({ name }) => name)
  deepEqual(names(decoded.definitions.additional_properties), Object.keys(json.body.definitions))
  deepEqual(names(decoded.paths.path), Object.keys(json.body.paths))
  const pod = decoded.definitions.additional_properties.find(({ name }) => name === 'io.k8s.api.core.v1.Pod')
  const extension = pod?.value.vendor_extension?.find(({ name }) => name === 'x-kubernetes-group-version-kind')
  deepEqual(JSON.parse(extension?.value.yaml ?? ''), [{ group: '', kind: 'Pod', version: 'v1' }])
  const same = await server.call('GET', '/openapi/v2', undefined, { 'if-none-match': String(json.headers['etag']) })
  equal(same.status, 304)
})

/** Every reference in a document. */
function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = '$ref' in value && typeof value.$ref === 'string' ? [value.$ref] : []
  return [...own, ...Object.values(value).flatMap(references)]
}

test('every document contains the schemas that it refers to', () => {
  const v2 = builtInV2Part([])
  for (const reference of new Set(references(v2)))
    ok(reference.slice('#/definitions/'.length) in v2.definitions, reference)
  for (const name of openApiV3Names(catalogue)) {
    const document = openApiV3(name, catalogue) as { components: { schemas: object } }
    for (const reference of new Set(references(document)))
      ok(reference.slice('#/components/schemas/'.length) in document.components.schemas, `${name}: ${reference}`)
  }
})

/** The paths of empty lists in a document. */
const emptyLists = (value: unknown, path = ''): string[] => {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value) && value.length === 0) return [path]
  return Object.entries(value).flatMap(([name, inner]) => emptyLists(inner, `${path}/${name}`))
}

test('OpenAPI v3: no document has an empty list, which Go would drop when decoding and encoding', () => {
  for (const name of openApiV3Names(catalogue)) deepEqual(emptyLists(openApiV3(name, catalogue)), [], name)
})

test('every operation has a unique name, and streams have no schema', () => {
  const operations = kinds.flatMap(operationsOf)
  equal(new Set(operations.map(({ id }) => id)).size, operations.length)
  const exec = operations.find(({ id }) => id === 'connectPostCoreV1NamespacedPodExec')
  deepEqual([exec?.action, exec?.response, exec?.parameters['command']], ['connect', undefined, 'string'])
  equal(operations.filter(({ path }) => path.endsWith('/proxy/{path}')).length, 15)
})

const componentNames = ({ body }: HarnessResponse): string[] =>
  body.items.map((item: { metadata: { name: string } }) => item.metadata.name)

test('ComponentStatus reports the health of the store with a warning, and is read-only', async () => {
  await using server = await startServer()
  const list = await server.call('GET', '/api/v1/componentstatuses')
  deepEqual([list.status, componentNames(list), list.body.items[0].conditions[0].status], [200, ['etcd-0'], 'True'])
  deepEqual(list.headers['warning'], ['299 - "v1 ComponentStatus is deprecated in v1.19+"'])
  equal((await server.call('GET', '/api/v1/componentstatuses/etcd-0')).body.kind, 'ComponentStatus')
  equal((await server.call('GET', '/api/v1/componentstatuses/none')).status, 404)
  equal((await server.call('POST', '/api/v1/componentstatuses', {})).status, 405)
})

test('POST to bindings binds the pod that the body names', async () => {
  await using server = await startServer()
  const pods = '/api/v1/namespaces/default/pods'
  await server.call('POST', pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i:1' }] } })
  const bindings = '/api/v1/namespaces/default/bindings'
  equal((await server.call('POST', bindings, { target: { name: 'n' } })).status, 400)
  equal((await server.call('POST', bindings, { metadata: { name: 'p' }, target: { name: 'n' } })).status, 201)
  equal((await server.call('GET', `${pods}/p`)).body.spec.nodeName, 'n')
})
