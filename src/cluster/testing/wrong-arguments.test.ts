import { equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { startCluster } from './start-cluster.ts'
import type { TestCluster } from './test-cluster.ts'

/** As a test in JavaScript passes it. */
const any = (value: unknown): never => value as never

for (const [options, message] of [
  [{ node: 3 }, 'startCluster: unknown node; did you mean nodes?'],
  [{ nodes: -1 }, 'startCluster: nodes: -1 is no whole number from 0 to 10000'],
  [{ nodes: 1.5 }, 'startCluster: nodes: 1.5 is no whole number from 0 to 10000'],
  [{ nodes: '3' }, 'startCluster: nodes: "3" is no whole number from 0 to 10000'],
  [{ controllerManagers: NaN }, 'startCluster: controllerManagers: null is no whole number from 0 to 100'],
  [{ seed: 'a' }, `startCluster: seed: "a" is no whole number from ${-(2 ** 53 - 1)} to ${2 ** 53 - 1}`],
  [{ time: 'real' }, 'startCluster: time: "real" does not exist; it is one of virtual, flowing'],
  [{ crds: 'widgets.yaml' }, 'startCluster: crds: "widgets.yaml" is no list'],
] as const)
  test(`startCluster rejects ${JSON.stringify(options)}`, () =>
    rejects(startCluster(any(options)), { name: 'TypeError', message }))

test('faults that no request can match are rejected', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { faults } = cluster
  for (const [inject, message] of [
    [() => faults.reject(any({ verb: 'upsert' })), 'reject: verb: "upsert" does not exist; it is one of '],
    [() => faults.reject(any({ verbs: 'get' })), 'reject: unknown verbs; did you mean verb?'],
    [
      () => faults.reject(any({ kind: 'pods' })),
      `reject: "pods" is no kind; import it: import { pod } from 'coxswain'`,
    ],
    [() => faults.reject(any({ code: 404 })), 'reject: code: 404 does not exist; it is one of 409, 429, 500, 503'],
    [() => faults.reject({ times: 0 }), 'reject: times: 0 is no whole number from 1 to 1000000'],
    [
      () => faults.breakWatches(any('close')),
      'breakWatches: "close" does not exist; it is one of gone, reset, silence',
    ],
    [() => faults.breakWatches('gone', any({ knd: pod })), 'breakWatches: unknown knd; did you mean kind?'],
    [() => faults.slowStore(-1), `slowStore: -1 is no whole number from 0 to ${2 ** 53 - 1}`],
  ] as const)
    throws(inject, (error: Error) => error.name === 'TypeError' && error.message.startsWith(message), message)
})

test('what is no snapshot is rejected, and the cluster continues', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  for (const snapshot of [{}, undefined, null, { ...cluster.snapshot(), store: [] }])
    await rejects(cluster.restore(any(snapshot)), {
      name: 'TypeError',
      message: 'restore: this is no snapshot; cluster.snapshot() makes one',
    })
  equal((await cluster.client.of(pod).list()).items.length, 0)
})

test('time moves forward only', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const before = cluster.clock.nowMs()
  for (const duration of [-5, NaN, Infinity]) await rejects(cluster.clock.advance(duration), { name: 'RangeError' })
  equal(cluster.clock.nowMs(), before)
})

for (const [group, apiVersion] of [
  ['example.com', 'example.com/v1'],
  ['apps', 'apps/v1'],
] as const)
  test(`the error about a kind that ${group} does not have names it`, async () => {
    await using cluster: TestCluster = await startCluster({ nodes: 0 })
    const version = 'v1'
    const widget = { ...pod, group, version, apiVersion, kind: 'Widget', plural: 'widgets', singular: 'widget' }
    const client = cluster.client.of(any(widget))
    const message = (verb: string) => `the server could not find the requested resource (${verb} widgets.${group})`
    await rejects(client.get('a'), { code: 404, message: message('get') })
    await rejects(client.list(), { code: 404, message: message('list') })
  })

for (const [value, shown] of [
  ['deploymint', '"deploymint"'],
  [undefined, 'undefined'],
  [{ apiVersion: 'apps/v1', kind: 'Deployment' }, '{"apiVersion":"apps/v1","kind":"Deployment"}'],
] as const)
  test(`${shown} in place of a kind is named in the error`, async () => {
    await using cluster = await startCluster({ nodes: 0 })
    throws(() => cluster.client.of(any(value)), {
      name: 'TypeError',
      message: `client.of: ${shown} is no kind; import it: import { pod } from 'coxswain'`,
    })
    for (const ask of [() => cluster.flow(any(value), 'x'), () => cluster.why(any(value), 'x')])
      await rejects(async () => await ask(), {
        name: 'TypeError',
        message: `${shown} is neither a kind, such as deployment, nor an object`,
      })
  })
