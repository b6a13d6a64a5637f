// The recorded scenarios of the attach/detach controller: the same attachments, node statuses and events in virtual time, and
// the same attachments and node statuses if the controllers start again at every step.
import { deepEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { rfc3339 } from '../../src/base/time/clock.ts'
import { startCluster, type TestCluster } from '../../src/cluster/testing/start-cluster.ts'
import { lastingScenarios, restartingScenarios } from './scenarios.ts'
import type { Scenario } from './scenario.ts'
import { Stage, type Sight, type World } from './stage.ts'

const recorded = JSON.parse(readFileSync(new URL('recorded.json', import.meta.url), 'utf8')) as Record<string, Sight[]>
const settleMs = 4_500
const manager = 'controllers'

function worldOf(cluster: TestCluster, atEveryStep: () => Promise<void>): World {
  return {
    client: cluster.client,
    sleep: (ms) => cluster.clock.advance(ms),
    async settle() {
      await atEveryStep()
      await cluster.clock.advance(settleMs)
    },
    async restart(between) {
      await cluster.kill(manager)
      await between()
      cluster.start(manager)
    },
    now: () => rfc3339(cluster.clock.nowMs()),
  }
}

async function replay({ run }: Scenario, restartsAlways: boolean): Promise<readonly Sight[]> {
  await using cluster = await startCluster({ nodes: 0 })
  const world: World = worldOf(cluster, async () => {
    if (restartsAlways) await world.restart(() => Promise.resolve())
  })
  const stage = new Stage(world, 'replayed')
  await stage.open()
  await run(stage)
  return stage.sights
}

const scenarios = [...lastingScenarios, ...restartingScenarios]

test('at least 40 scenarios are recorded', () => {
  ok(scenarios.length >= 40)
  deepEqual(
    Object.keys(recorded),
    scenarios.map(({ name }) => name),
  )
})

for (const each of scenarios)
  test(`as recorded: ${each.name}`, async () => deepEqual(await replay(each, false), recorded[each.name]))

/**
 * A new controller does not know when operations began, what removed nodes used, for which claim a volume was attached, or
 * that it has already written the list of a node.
 */
const needsMemory = [
  'a claim is removed while a pod uses it',
  'a pod is removed while its volume is being attached',
  'an attachment is deleted while the volume is being attached',
  'another client changes the list of a node',
  'the driver does not answer',
  'a node is removed, and its pod with it',
  'a node that is not ready uses the volume for more than six minutes',
  'a node that is ready uses the volume for more than six minutes',
  'the six minutes begin again when a pod has used the volume in between',
  'a node that is removed used the volume: it is detached after six minutes',
]
const objectsOf = (sights: readonly Sight[] = []) => sights.map(({ attachments, nodes }) => ({ attachments, nodes }))

for (const each of lastingScenarios.filter(({ name }) => !needsMemory.includes(name)))
  test(`with a restart at every step: ${each.name}`, async () =>
    deepEqual(objectsOf(await replay(each, true)), objectsOf(recorded[each.name])))
