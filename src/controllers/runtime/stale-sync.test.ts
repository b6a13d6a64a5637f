// Reconciles that are put off until the caches have the controller's own writes are counted.
import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap, type ConfigMap } from '../../api/core/v1/config-map.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { ApiCall } from '../../client/transport/transport.ts'
import { daemonSetController } from '../daemon-set/daemon-set.ts'
import { replicaSetController } from '../replica-set/replica-set.ts'
import { replicationControllerController } from '../replica-set/replication-controller.ts'
import { defineController, type Controller } from './controller.ts'
import { FakeApi, start } from './fake-api.harness.ts'

const configMaps = configMap as unknown as Kind

/** The event of an update does not arrive. */
class LaggingApi extends FakeApi {
  override send(call: ApiCall): Promise<unknown> {
    if (call.verb !== 'update') return super.send(call)
    const object = call.body as ApiObject
    return Promise.resolve({ ...object, metadata: { ...object.metadata, resourceVersion: '1000' } })
  }
}

/** Writes a status, and is measured as the other controller. */
const measuredAs = (other: Controller): Controller => {
  ok(other.type === 'plan' && other.measureStale !== undefined)
  const { measureStale } = other
  const plan = () => ({ changes: [], status: { phase: 'Seen' } })
  return defineController<ConfigMap>({
    name: 'tested',
    account: 'tested',
    reconciles: configMap,
    owns: [],
    plan,
    measureStale,
  })
}

const measured: [controller: Controller, series: string][] = [
  [daemonSetController, 'daemonset_controller_stale_sync_skips_total{group="apps",resource="daemonsets"}'],
  [replicaSetController, 'replicaset_controller_stale_sync_skips_total{group="apps",resource="replicasets"}'],
  [
    replicationControllerController,
    'replicaset_controller_stale_sync_skips_total{group="",resource="replicationcontrollers"}',
  ],
]
for (const [controller, series] of measured)
  test(`${controller.name}: ${series}`, async () => {
    const api = new LaggingApi()
    api.add(configMaps, { name: 'a' })
    await using running = start(measuredAs(controller), api)
    const skipped = () => running.metrics.text().split(`\n${series} `)[1]?.split('\n')[0]
    await running.settle(100)
    equal(skipped(), undefined)
    api.add(configMaps, { name: 'a', labels: { changed: 'yes' } })
    await running.settle(100)
    equal(skipped(), '1')
    await running.settle(1_000)
    equal(skipped(), '2', 'it is tried again every second')
  })
