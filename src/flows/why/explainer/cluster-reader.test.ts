import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../../base/observability/context.ts'
import { configMap } from '../../../api/core/v1/config-map.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { StatusError } from '../../../api/errors/status-error.ts'
import type { Client } from '../../../client/client.ts'
import { isMissing, readerOf } from './cluster-reader.ts'

const ctx = context(new AbortController().signal)

/** Every read ends with this status code; logs are counted. */
function readerWith(code: number) {
  const paths: string[] = []
  const fail = () => Promise.reject(new StatusError(code, code === 403 ? 'Forbidden' : 'InternalError', 'no'))
  const client = {
    of: () => ({ find: fail, list: fail }),
    readText(path: string) {
      paths.push(path)
      return paths.length === 1 ? Promise.resolve('a\n') : fail()
    },
  } as unknown as Client
  return { reader: readerOf(client, ctx, { nowMs: 0 }), paths }
}

test('what the user may not read is absent, but not missing', async () => {
  const { reader } = readerWith(403)
  deepEqual(await reader.list(configMap, ''), [])
  equal(await reader.find(configMap, 'default', 'a'), undefined)
  equal(await isMissing(reader, configMap, 'default', 'a'), false)
  deepEqual([...(reader.unreadable ?? [])], ['configmaps'])
})

test('a kind that is not served has no objects; other errors are reported', async () => {
  const { reader } = readerWith(404)
  deepEqual(await reader.list(configMap, ''), [])
  equal(await isMissing(reader, configMap, 'default', 'a'), true)
  await rejects(readerWith(500).reader.list(configMap, ''), { code: 500 })
})

test('few logs are read, of limited length; one that cannot be read is empty', async () => {
  const { reader, paths } = readerWith(400)
  const pod = { metadata: { name: 'p', namespace: 'shop' } } as Pod
  equal(await reader.lastOutput?.(pod, 'c', 'previous'), 'a\n')
  for (let count = 0; count < 100; count++) equal(await reader.lastOutput?.(pod, 'c', 'current'), '')
  equal(paths.length, 20)
  deepEqual(paths.slice(0, 2), [
    '/api/v1/namespaces/shop/pods/p/log?container=c&previous=true&tailLines=10&limitBytes=16384',
    '/api/v1/namespaces/shop/pods/p/log?container=c&tailLines=10&limitBytes=16384',
  ])
})
