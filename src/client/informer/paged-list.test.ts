// Lists in pages against an API server: one revision for all pages, and one request after the continue token has expired.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { configMap, type ConfigMap } from '../../api/core/v1/config-map.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import type { ListOptions } from '../client.ts'
import { listAllPages, listPageSize } from './paged-list.ts'

const ctx = context(new AbortController().signal)
const namespace = 'default'
const nameOf = (index: number): string => `map-${String(index).padStart(4, '0')}`

/** A cluster with two full pages and one object more, and a client that runs `between` before the second request. */
async function pagedCluster(between: (cluster: Awaited<ReturnType<typeof startCluster>>) => Promise<unknown>) {
  const cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  const names = Array.from({ length: 2 * listPageSize + 1 }, (_, index) => nameOf(index))
  await Promise.all(names.map((name) => maps.create({ metadata: { name } }, namespace, ctx)))
  const requests: string[] = []
  const client = {
    list: async (options: ListOptions = {}) => {
      if (requests.length === 1) await between(cluster)
      requests.push(
        `${options.limit === undefined ? 'all' : 'page'}${options.continueToken === undefined ? '' : ' continued'}`,
      )
      return maps.list(options, ctx)
    },
  }
  const list = async () => {
    const { items, revision } = await listAllPages<ConfigMap>(client, { namespace }, ctx)
    return { revision, found: items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('map-')) }
  }
  return { cluster, maps, names, requests, list, [Symbol.asyncDispose]: () => cluster.stop() }
}

test('all pages have the revision of the first, whatever is written in between', async () => {
  await using paged = await pagedCluster(async ({ client }) => {
    await client.of(configMap).delete(nameOf(2 * listPageSize), namespace, {}, ctx)
    await client.of(configMap).create({ metadata: { name: 'map-late' } }, namespace, ctx)
  })
  const { revision: before } = await paged.maps.list({ namespace, limit: 1 }, ctx)
  const { revision, found } = await paged.list()
  deepEqual(found, paged.names)
  equal(revision, before)
  deepEqual(paged.requests, ['page', 'page continued', 'page continued'])
})

test('a continue token that has expired: the whole list in one request, at a newer revision', async () => {
  await using paged = await pagedCluster(async ({ client, clock }) => {
    await client.of(configMap).create({ metadata: { name: 'map-late' } }, namespace, ctx)
    await clock.advance('6m')
  })
  const { found } = await paged.list()
  deepEqual(found, [...paged.names, 'map-late'])
  deepEqual(paged.requests, ['page', 'page continued', 'all'])
})

test('a server that returns empty pages forever is not followed', async () => {
  const page = { items: [], revision: 1, continueToken: 'more', remaining: undefined }
  const list = listAllPages<ConfigMap>({ list: () => Promise.resolve(page as never) }, { namespace }, ctx)
  await rejects(list, /an empty page has a continue token/)
})
