// When a ServiceCIDR is ready, and when a deleted one is removed.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339 } from '../base/time/clock.ts'
import { namespace } from '../api/core/v1/namespace.ts'
import { service } from '../api/core/v1/service/service.ts'
import { ipAddress } from '../api/networking/v1/ip-address.ts'
import { serviceCidr, type ServiceCIDR } from '../api/networking/v1/service-cidr.ts'
import { hasReason } from '../api/errors/status-error.ts'
import { context, startCluster } from '../cluster/index.ts'
import type { Plan } from './runtime/controller.ts'
import { made, nowMs, planOf, shown } from './runtime/plan.harness.ts'
import { serviceCidrController } from './service-cidr.ts'

const finalizer = 'networking.k8s.io/service-cidr-finalizer'
const range = (name: string, cidrs: string[], metadata: object = {}, status: object = {}) =>
  made(serviceCidr, name, { metadata, spec: { cidrs }, status })
const deletedFor = (ms: number) => ({ finalizers: [finalizer], deletionTimestamp: rfc3339(nowMs - ms) })
const held = (name: string) => made(ipAddress, name, { spec: { parentRef: { resource: 'services', name: 's' } } })
const ready = {
  conditions: [{ type: 'Ready', status: 'True', reason: '', message: 'x', lastTransitionTime: rfc3339(nowMs) }],
}

const readyOf = ({ status }: Plan) =>
  (status as ServiceCIDR['status'] | undefined)?.conditions?.map(
    ({ type, status: is, reason }) => `${type}=${is} ${reason}`,
  )

const cases: [why: string, object: ServiceCIDR, others: (ServiceCIDR | ReturnType<typeof held>)[], want: object][] = [
  [
    'a new one gets the finalizer and becomes ready',
    range('r', ['10.0.0.0/24']),
    [],
    { changes: ['update servicecidr r'], ready: ['Ready=True '] },
  ],
  [
    'a ready one is not changed',
    range('r', ['10.0.0.0/24'], { finalizers: ['x', finalizer] }, ready),
    [],
    { changes: [], ready: undefined },
  ],
  [
    'a deleted one with addresses in use is kept',
    range('r', ['10.0.0.0/24'], deletedFor(60_000)),
    [held('10.0.0.9')],
    { changes: [], ready: ['Ready=False Terminating'] },
  ],
  [
    'addresses in other ranges do not keep it',
    range('r', ['10.0.0.0/24', 'fd00::/112'], deletedFor(60_000)),
    [held('10.0.1.9'), held('fd00:1::5')],
    { changes: ['update servicecidr r'], ready: undefined },
  ],
  [
    'addresses in a larger range do not keep it',
    range('r', ['10.0.0.0/24'], deletedFor(60_000)),
    [held('10.0.0.9'), range('larger', ['10.0.0.0/16'])],
    { changes: ['update servicecidr r'], ready: undefined },
  ],
  [
    'addresses in a smaller range do not keep it',
    range('r', ['10.0.0.0/24'], deletedFor(60_000)),
    [held('10.0.0.9'), range('smaller', ['10.0.0.0/28'])],
    { changes: ['update servicecidr r'], ready: undefined },
  ],
  [
    'addresses in another deleted range keep it',
    range('r', ['10.0.0.0/24'], deletedFor(60_000)),
    [held('10.0.0.9'), range('larger', ['10.0.0.0/16'], deletedFor(1000))],
    { changes: [], ready: ['Ready=False Terminating'] },
  ],
  [
    'an address of the other family keeps it',
    range('r', ['10.0.0.0/24', 'fd00::/112'], deletedFor(60_000)),
    [held('fd00::5')],
    { changes: [], ready: ['Ready=False Terminating'] },
  ],
  [
    'it is kept until all API servers have observed the deletion',
    range('r', ['10.0.0.0/24'], deletedFor(4000)),
    [],
    { changes: [], ready: undefined, againMs: 6000 },
  ],
]
for (const [why, object, others, want] of cases)
  test(`ServiceCIDR: ${why}`, () => {
    const plan = planOf(serviceCidrController, object, ...others)
    const again = plan.requeueAfterMs === undefined ? {} : { againMs: plan.requeueAfterMs }
    deepEqual({ changes: shown(plan.changes), ready: readyOf(plan), ...again }, want)
  })

test('addresses are allocated from a second range, which is removed after the last Service that uses it', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const ctx = context(new AbortController().signal)
  const ranges = client.of(serviceCidr)
  await client.of(namespace).create({ metadata: { name: 'team' } }, '', ctx)
  await ranges.create({ metadata: { name: 'more' }, spec: { cidrs: ['192.168.7.0/28'] } }, '', ctx)
  await clock.advance('1s')
  const spec = { clusterIP: '192.168.7.3', ports: [{ port: 80 }] }
  await client.of(service).create({ metadata: { name: 's' }, spec }, 'team', ctx)
  await ranges.delete('more', '', {}, ctx)
  await clock.advance('1m')
  const kept = await ranges.get('more', '', ctx)
  deepEqual(
    kept.status.conditions?.map(({ status, reason }) => [status, reason]),
    [['False', 'Terminating']],
  )
  await client
    .of(service)
    .create({ metadata: { name: 't' }, spec: { ...spec, clusterIP: '192.168.7.4' } }, 'team', ctx)
    .then(
      () => equal('made', 'refused'),
      (error: unknown) => equal(hasReason(error, 'Invalid'), true),
    )
  await client.of(service).delete('s', 'team', {}, ctx)
  await clock.advance('20s')
  equal(await ranges.find('more', '', ctx), undefined)
})
