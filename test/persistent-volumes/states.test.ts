// Volumes, claims and events reach the states that were recorded from upstream's kube-controller-manager, in virtual time.
import { deepEqual, equal } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { context, startCluster } from '../../src/cluster/index.ts'
import { areas } from './areas.ts'
import { differences } from './differences.ts'
import { digestOf, runScenario, type RecordedState } from './run-scenario.ts'

const scenariosMin = 100

const recordedOf = (area: string): RecordedState[] =>
  readFileSync(new URL(`states/${area}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedState)

test('at least 100 scenarios are recorded, each with the steps that are applied', () => {
  for (const [area, scenarios] of Object.entries(areas))
    deepEqual(
      recordedOf(area).map(({ scenario, step, digest }) => ({ scenario, step, digest })),
      scenarios.flatMap(({ name, steps }) =>
        steps.map((step, index) => ({ scenario: name, step: index, digest: digestOf(step) })),
      ),
      `${area} has changed: record it again`,
    )
  const count = Object.values(areas).reduce((sum, scenarios) => sum + scenarios.length, 0)
  equal(count >= scenariosMin, true, `${count} scenarios`)
})

for (const [area, scenarios] of Object.entries(areas))
  test(`volumes and claims: ${area}`, async (t) => {
    await using cluster = await startCluster({ nodes: 0 })
    const { client, clock } = cluster
    const api = {
      client,
      context: context(new AbortController().signal),
      yield: () => clock.settle(),
      // Longer than a pending claim waits until it is examined again, and shorter than a pod on a missing node exists.
      settle: () => clock.advance('18s'),
    }
    const recorded = recordedOf(area)
    for (const scenario of scenarios)
      await t.test(scenario.name, async () => {
        const got = await runScenario(api, scenario)
        const wanted = recorded.filter(({ scenario: of }) => of === scenario.name)
        if (differences.some(({ scenario: name }) => name === scenario.name))
          equal(JSON.stringify(got) === JSON.stringify(wanted), false, 'the difference no longer exists')
        else deepEqual(got, wanted)
      })
  })
