// The leader of the controller managers is killed under load: the standby acts after the lease has expired and handles
// what was missed, and nothing is done twice.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { context, deployment, event, job, lease, pod, startCluster, statefulSet } from '../../src/cluster/index.ts'

const ctx = context(new AbortController().signal)
const template = (app: string, image = 'i', spec: object = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'c', image }], ...spec },
})

for (const killAtMs of [0, 150])
  test(`the leader is killed ${killAtMs} ms after the load has started`, async () => {
    const simulation = { startMs: 100, images: { work: async () => 0 } }
    await using cluster = await startCluster({ nodes: 3, controllerManagers: 2, seed: killAtMs + 1, simulation })
    const { client, clock } = cluster
    await clock.advance('5s')
    const holder = async () => (await client.of(lease).get('kube-controller-manager', 'kube-system', ctx)).spec
    const [leader, standby] =
      (await holder()).holderIdentity === 'controllers_1'
        ? ['controllers', 'controllers-1']
        : ['controllers-1', 'controllers']
    for (let index = 0; index < 20; index++) {
      const app = `web-${index}`
      const spec = { replicas: 3, selector: { matchLabels: { app } }, template: template(app) }
      await client.of(deployment).create({ metadata: { name: app }, spec }, 'default', ctx)
    }
    const selector = { matchLabels: { app: 'db' } }
    const db = { replicas: 3, serviceName: 'db', selector, template: template('db') }
    await client.of(statefulSet).create({ metadata: { name: 'db' }, spec: db }, 'default', ctx)
    const work = { completions: 6, parallelism: 3, template: template('work', 'work', { restartPolicy: 'Never' }) }
    await client.of(job).create({ metadata: { name: 'work' }, spec: work }, 'default', ctx)
    await clock.advance(killAtMs)
    await cluster.kill(leader)
    const deadMs = clock.nowMs()
    // Scaled while there is no leader.
    await client.of(deployment).patch('web-0', 'default', { spec: { replicas: 5 } }, 'merge', ctx)
    await clock.advance('11s')
    equal((await holder()).holderIdentity, `${leader}_1`, 'the lease has not run out')
    await clock.advance('1m')
    const taken = await holder()
    deepEqual([taken.holderIdentity, taken.leaseTransitions], [`${standby}_1`, 1])
    const waitedMs = Date.parse(taken.acquireTime ?? '') - deadMs
    ok(waitedMs >= 10_000 && waitedMs <= 22_000, `${waitedMs} ms`)

    const pods = (await client.of(pod).list({ namespace: 'default' }, ctx)).items
    equal(pods.filter(({ metadata }) => metadata.labels?.['app']?.startsWith('web-')).length, 20 * 3 + 2)
    equal(pods.filter(({ metadata }) => metadata.labels?.['app'] === 'db').length, 3)
    equal(pods.filter(({ metadata }) => metadata.labels?.['app'] === 'work').length, 6)
    equal((await client.of(job).get('work', 'default', ctx)).status.succeeded, 6)
    const events = (await client.of(event).list({ namespace: 'default' }, ctx)).items
    const removed = events.filter(({ reason }) => reason === 'SuccessfulDelete')
    deepEqual(
      removed.map(({ message }) => message),
      [],
      'nothing was made that had to go again',
    )
    // The killed manager restarts and waits.
    cluster.start(leader)
    await clock.advance('30s')
    equal((await holder()).holderIdentity, `${standby}_1`)
  })
