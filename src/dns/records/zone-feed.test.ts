import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { noCause } from '../../base/observability/flow-recorder.ts'
import type { ObjectChange } from '../../client/informer/informer.ts'
import type { Informers } from '../../client/informer/informers.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { ClusterZone } from './cluster-zone.ts'
import { feedZone } from './zone-feed.ts'
import { lookUp, serviceOf } from './zone.harness.ts'

test('an object that the zone cannot read does not keep others from being served', async () => {
  const zone = new ClusterZone('cluster.local')
  const unreadable = [] as string[]
  const handlers = new Map<string, (change: ObjectChange<Service>) => void>()
  const informers = {
    of: ({ plural }: { plural: string }) => ({
      synced: Promise.resolve(),
      onChange: (handler: (change: ObjectChange<Service>) => void) => void handlers.set(plural, handler),
    }),
  } as unknown as Pick<Informers, 'of'>
  await feedZone(zone, informers, (kind, key) => void unreadable.push(`${kind} ${key}`))
  const set = (key: string, now: Service) => handlers.get('services')?.({ key, now, before: undefined, cause: noCause })
  set('default/bad', { metadata: { name: 'bad', namespace: 'default' } } as Service)
  set('default/web', serviceOf('web', { clusterIP: '10.96.0.10' }))
  deepEqual(unreadable, ['Service default/bad'])
  deepEqual(lookUp(zone, 'web.default A'), ['web.default.svc.cluster.local 30 A 10.96.0.10'])
})
