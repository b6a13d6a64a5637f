import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { startServer, type Harness } from '../server.harness.ts'
import {
  customDefinition,
  customVersion,
  definitionsPath,
  eventually,
} from '../custom-resources/custom-resource.harness.ts'

const counts = async (server: Harness): Promise<(string | undefined)[]> => {
  const { body } = await server.call('GET', '/metrics')
  return ['compilation', 'evaluation'].map(
    (what) => new RegExp(`^apiserver_cel_${what}_duration_seconds_count (.*)$`, 'm').exec(body as string)?.[1],
  )
}

test('rules of custom resources are timed: compiled once, evaluated for each object', async () => {
  await using server = await startServer()
  const rule = { rule: 'self.size <= 3' }
  const spec = { type: 'object', properties: { size: { type: 'integer' } }, 'x-kubernetes-validations': [rule] }
  const definition = customDefinition('boats', 'Boat', [customVersion('v1', { spec })])
  const { status, body } = await server.call('POST', definitionsPath, definition)
  equal(status, 201, body.message)
  const path = '/apis/example.com/v1/namespaces/default/boats'
  const create = async (name: string, size: number) => {
    const object = { apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name }, spec: { size } }
    return (await server.call('POST', path, object)).status
  }
  await eventually(async () => ((await server.call('GET', path)).status === 200 ? true : undefined))
  deepEqual(await counts(server), ['0', '0'])
  deepEqual([await create('a', 1), await create('b', 9), await create('c', 2)], [201, 422, 201])
  deepEqual(await counts(server), ['1', '3'])
})
