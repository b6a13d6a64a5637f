// The recorded scenarios of the storage plugins: the same node, message, bindings and victims as kube-scheduler.
import { deepEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startCluster } from '../../src/cluster/testing/start-cluster.ts'
import { openCluster, Stage, type Outcome } from './scenario.ts'
import { scenarios } from './scenarios.ts'

const recorded = JSON.parse(readFileSync(new URL('recorded.json', import.meta.url), 'utf8')) as Record<string, Outcome>

test('at least 30 scenarios are recorded', () => {
  ok(scenarios.length >= 30)
  deepEqual(
    Object.keys(recorded),
    scenarios.map(({ name }) => name),
  )
})

test('storage plugins', async (t) => {
  await using cluster = await startCluster({ nodes: 0, controllerManagers: 0 })
  await openCluster(cluster.client)
  for (const [index, { name, run }] of scenarios.entries())
    await t.test(name, async () => {
      const stage = new Stage(cluster.client, `s${index}`)
      await stage.open()
      await run(stage)
      await cluster.clock.advance('2s')
      deepEqual(await stage.outcome(), recorded[name])
    })
})
