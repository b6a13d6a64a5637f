// Media types of responses: which are available where, and what is said about others. YAML as a format of errors and documents.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { startServer } from '../server.harness.ts'
import { negotiateFormat } from './media-type.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const objectTypes = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
const streamTypes = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'
const noRoute = (types: string) => `406: Not Acceptable\n\nAvailable representations: ${types}`
const onlyTypes = (types: string) => `only the following media types are accepted: ${types}`
const rejectedTypes: [target: string, accept: string, message: string][] = [
  ['/api', 'text/html', noRoute(objectTypes)],
  ['/api/v1', 'application/*', noRoute(objectTypes)],
  ['/api/v1', 'application/json;as=Nonsense', onlyTypes(objectTypes)],
  ['/apis', 'text/html', onlyTypes(objectTypes)],
  ['/apis/apps', 'text/html', onlyTypes(objectTypes)],
  ['/apis/apps/v1', 'text/html', noRoute(objectTypes)],
  ['/version', 'text/html', noRoute('application/json')],
  [`${configMaps}/a`, 'text/html', noRoute(objectTypes)],
  [configMaps, 'text/html', noRoute(`${objectTypes}, ${streamTypes}`)],
  [`${configMaps}?watch=1`, 'application/yaml', onlyTypes(streamTypes)],
  ['/api/v1/namespaces/default/pods/a/log', 'text/html', noRoute(`text/plain, ${objectTypes}`)],
]
for (const [target, accept, message] of rejectedTypes)
  test(`${target} is not available as ${accept}`, async () => {
    await using server = await startServer()
    const { status, body } = await server.call('GET', target, undefined, { accept })
    const text = accept === 'application/yaml' ? (parse(body) as { message: string }).message : body.message
    deepEqual([status, text], [406, message])
  })

test('errors and discovery documents in YAML', async () => {
  await using server = await startServer()
  const accept = 'application/yaml'
  const missing = await server.call('GET', `${configMaps}/a`, undefined, { accept })
  deepEqual([missing.status, missing.headers['content-type']], [404, accept])
  match(missing.body, /^apiVersion: v1\ncode: 404\ndetails:\n {2}kind: configmaps\n/)
  for (const path of ['/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1']) {
    const inYaml = await server.call('GET', path, undefined, { accept })
    const inJson = await server.call('GET', path)
    equal(inYaml.headers['content-type'], accept)
    deepEqual(parse(inYaml.body), inJson.body)
  }
})

test('a watch takes the first format that has events', () => {
  deepEqual(negotiateFormat('application/yaml,application/json', 'watch'), { syntax: 'json', shape: 'object' })
})

test('an error has no table: it has the next format', () => {
  const table = 'application/json;as=Table;g=meta.k8s.io;v=v1'
  deepEqual(negotiateFormat(`${table},application/yaml`, 'status'), { syntax: 'yaml', shape: 'object' })
})

test('a table of another group is not known', () => {
  const accept = 'application/json;as=Table;g=other;v=v1,application/yaml'
  deepEqual(negotiateFormat(accept), { syntax: 'yaml', shape: 'object' })
})
