// Comparisons that need conversions, some of which take time.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../../api/meta/object.ts'
import { context } from '../../../base/observability/context.ts'
import type { StorageCodec } from '../../storage/storage-codec.ts'
import { ObjectVersions } from './object-versions.ts'

const object = { apiVersion: 'a/v1', kind: 'A', metadata: { name: 'x' } } as ApiObject

function stage(convert: StorageCodec['convert']) {
  const calls: string[] = []
  const codec = {
    convert(sent: ApiObject, apiVersion: string, ctx: Parameters<typeof convert>[2]) {
      calls.push(apiVersion)
      return convert(sent, apiVersion, ctx)
    },
  } as StorageCodec
  const abort = new AbortController()
  return { versions: new ObjectVersions(codec, context(abort.signal)), calls, abort }
}

const inVersion = (sent: ApiObject, apiVersion: string): ApiObject => ({ ...sent, apiVersion })

test('a conversion that takes time is awaited once, and the comparison repeated with its result', async () => {
  const { versions, calls } = stage(async (sent, apiVersion) => inVersion(sent, apiVersion))
  const compute = () => [versions.convert(object, 'a/v2'), versions.convert({ ...object }, 'a/v3')]
  deepEqual(
    (await versions.resolve(compute)).map((each) => (each as ApiObject).apiVersion),
    ['a/v2', 'a/v3'],
  )
  deepEqual(calls, ['a/v2', 'a/v3'])
})

test('a conversion that takes no time is used at once, and nothing is converted without a version', async () => {
  const { versions, calls } = stage(inVersion)
  const nothing = {}
  equal(await versions.resolve(() => versions.convert(nothing, 'a/v2')), nothing)
  deepEqual(await versions.resolve(() => versions.convert(object, 'a/v2')), { ...object, apiVersion: 'a/v2' })
  deepEqual(calls, ['a/v2'])
})

test('where a conversion fails, its error or the other result is returned', async () => {
  const { versions, abort } = stage(() => Promise.reject(new Error('no webhook')))
  const compute = () => versions.convert(object, 'a/v2')
  await rejects(versions.resolve(compute), /no webhook/)
  const other = {}
  equal(await versions.resolve(compute, () => other), other)
  abort.abort(new Error('gone'))
  await rejects(
    versions.resolve(compute, () => other),
    /gone/,
  )
  await rejects(
    versions.resolve(() => {
      throw new Error('of the comparison')
    }),
    /of the comparison/,
  )
})
