// Endpoints are deleted with their Service, also when another client created them; those without a Service stay.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { endpoints } from '../../api/core/v1/service/endpoints.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { context } from '../../base/observability/context.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'

test('Endpoints are deleted with their Service', async () => {
  await using cluster = await startCluster()
  const ctx = context(new AbortController().signal)
  const services = cluster.client.of(service)
  const written = cluster.client.of(endpoints)
  const names = async () => {
    await cluster.clock.advance('2s')
    const { items } = await written.list({ namespace: 'default' }, ctx)
    return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kubernetes')
  }
  const ports = [{ port: 80 }]
  await services.create({ metadata: { name: 'selecting' }, spec: { selector: { app: 'a' }, ports } }, 'default', ctx)
  await services.create({ metadata: { name: 'manual' }, spec: { ports } }, 'default', ctx)
  for (const name of ['alone', 'manual'])
    await written.create({ metadata: { name }, subsets: [{ addresses: [{ ip: '192.0.2.7' }] }] }, 'default', ctx)
  deepEqual(await names(), ['alone', 'manual', 'selecting'])
  for (const name of ['manual', 'selecting']) await services.delete(name, 'default', {}, ctx)
  deepEqual(await names(), ['alone'])
})
