// What every cloud provider does. The cloud has one instance, `node-0`, and neither load balancers nor routes.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { context } from '../../base/observability/context.ts'
import type { CloudProvider } from './cloud-provider.ts'

const ctx = context(new AbortController().signal)
const nodeOf = (name: string) => ({ metadata: { name }, spec: {}, status: {} }) as unknown as Node
const web = {
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { ports: [{ port: 80, protocol: 'TCP' }] },
  status: {},
} as unknown as Service

export function providerContract(
  name: string,
  use: (run: (provider: CloudProvider) => Promise<void>) => Promise<void>,
): void {
  test(`${name}: an instance is found by the name of its node, and a missing one is known to be missing`, () =>
    use(async ({ instances }) => {
      const found = await instances?.find(nodeOf('node-0'), ctx)
      ok(found !== undefined && found.providerId !== '' && found.addresses.length > 0)
      equal(found.isShutDown, false)
      equal(await instances?.find(nodeOf('gone'), ctx), undefined)
    }))

  test(`${name}: a load balancer is ensured, found, updated and deleted, each of them repeatedly`, () =>
    use(async ({ loadBalancers }) => {
      equal(await loadBalancers?.find(web, ctx), undefined)
      const ingress = await loadBalancers?.ensure(web, [nodeOf('node-0')], ctx)
      equal(ingress?.length, 1)
      deepEqual(await loadBalancers?.ensure(web, [nodeOf('node-0')], ctx), ingress)
      deepEqual(await loadBalancers?.find(web, ctx), ingress)
      await loadBalancers?.updateNodes(web, [], ctx)
      deepEqual(await loadBalancers?.find(web, ctx), ingress)
      await loadBalancers?.delete(web, ctx)
      await loadBalancers?.delete(web, ctx)
      equal(await loadBalancers?.find(web, ctx), undefined)
    }))

  test(`${name}: a route is created, listed and deleted`, () =>
    use(async ({ routes }) => {
      deepEqual(await routes?.list(ctx), [])
      const route = { name: '', nodeName: 'node-0', destinationCidr: '10.244.0.0/24', isBlackhole: false }
      await routes?.create(route, 'hint', ctx)
      const [made, ...more] = (await routes?.list(ctx)) ?? []
      deepEqual([made?.nodeName, made?.destinationCidr, more], ['node-0', '10.244.0.0/24', []])
      if (made !== undefined) await routes?.delete(made, ctx)
      deepEqual(await routes?.list(ctx), [])
    }))
}
