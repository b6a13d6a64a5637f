// Methods and paths of custom resources, as upstream serves and rejects them.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { customDefinition, customVersion, define } from '../custom-resources/custom-resource.harness.ts'
import { startServer, type Harness } from '../server.harness.ts'

const root = '/apis/example.com/v1'
const widgets = `${root}/namespaces/default/widgets`
const globes = `${root}/globes`
const widget = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } })

async function startWithResources(): Promise<Harness> {
  const server = await startServer()
  const versions = [customVersion('v1', undefined, { subresources: { status: {} } })]
  await define(server, customDefinition('widgets', 'Widget', versions))
  await define(server, customDefinition('globes', 'Globe', versions, { scope: 'Cluster' }))
  await server.call('POST', widgets, widget('a'))
  await server.call('POST', globes, { ...widget('a'), kind: 'Globe' })
  return server
}

const page = '404 page not found\n'
const unsupported = (verb: string, plural = 'widgets') =>
  `${verb} is not supported on resources of kind "${plural}.example.com"`
const missing = 'widgets.example.com "a" not found'

const cases: readonly (readonly [method: string, path: string, status: number, message?: string])[] = [
  ['HEAD', widgets, 200],
  ['HEAD', `${root}/widgets`, 200],
  ['HEAD', `${widgets}/a`, 200],
  ['HEAD', `${widgets}/a/status`, 200],
  ['HEAD', `${widgets}/b`, 404, 'widgets.example.com "b" not found'],
  ['PUT', widgets, 400, 'name must be provided'],
  ['PATCH', globes, 400, 'name must be provided'],
  ['POST', `${widgets}/b`, 409, 'widgets.example.com "a" already exists'],
  ['OPTIONS', widgets, 405, unsupported('')],
  ['OPTIONS', `${globes}/a`, 405, unsupported('', 'globes')],
  ['POST', `${widgets}/a/status`, 405, unsupported('create')],
  ['DELETE', `${widgets}/a/status`, 405, unsupported('delete')],
  ['GET', `${widgets}//status`, 405, unsupported('list')],
  ['GET', `${widgets}/a/scale`, 404, missing],
  ['OPTIONS', `${widgets}/a/nonsense`, 404, missing],
  ['GET', `${widgets}/a/nonsense/more`, 404, missing],
  ['GET', `${widgets}/a/proxy/more`, 404, missing],
  ['GET', `${widgets}/a/status/more/and/more`, 200],
  ['GET', `${root}/widgets/a`, 404, page],
  ['POST', `${root}/widgets`, 404, page],
  ['DELETE', `${root}/widgets`, 404, page],
  ['OPTIONS', `${root}/widgets`, 404, page],
  ['GET', `${root}/namespaces//widgets/a`, 404, page],
  ['GET', `${root}/namespaces/default/globes`, 404, page],
  ['GET', `${root}/namespaces/default/globes/a/status`, 404, page],
]

test('methods and paths of custom resources', async (t) => {
  await using server = await startWithResources()
  for (const [method, path, status, message] of cases)
    await t.test(`${method} ${path}`, async () => {
      const hasBody = ['POST', 'PUT', 'PATCH'].includes(method)
      const response = await server.call(method, path, hasBody ? widget('a') : undefined)
      const said = typeof response.body === 'string' ? response.body : response.body?.message
      deepEqual([response.status, said], [status, message])
    })
})

test('an object that is posted to the path of another has its own name', async () => {
  await using server = await startWithResources()
  const { status, body } = await server.call('POST', `${widgets}/a`, widget('b'))
  deepEqual([status, body.metadata.name], [201, 'b'])
})
