// Every recorded decision of upstream's controller is made here too: replicas, status, conditions and events.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { recordedIn } from './recorded.ts'
import { replayDecisions } from './replay.ts'
import type { Scenario } from './scenario.ts'
import { scenarios, scenariosWithoutApis } from './scenarios.ts'

const decisionsMin = 250

const tables: [what: string, file: URL, scenarios: readonly Scenario[], hasApis: boolean][] = [
  ['with metrics APIs', new URL('decisions.jsonl', import.meta.url), scenarios, true],
  ['without metrics APIs', new URL('decisions-without-apis.jsonl', import.meta.url), scenariosWithoutApis, false],
]

test('at least 250 decisions are recorded, of every step of every scenario', () => {
  const recorded = tables.flatMap(([, file]) => recordedIn(file))
  equal(recorded.length >= decisionsMin, true, `${recorded.length} decisions`)
  deepEqual(
    recorded.map(({ scenario, step }) => `${scenario} ${step}`),
    tables
      .flatMap(([, , of]) => of)
      .flatMap(({ name, next = [] }) => ['', ...next].map((_, step) => `${name} ${step}`)),
    'the scenarios have changed: record them again',
  )
})

for (const [what, file, of, hasApis] of tables)
  test(`decisions ${what} are those of upstream`, async (t) => {
    const decisions = await replayDecisions(of, hasApis)
    const wanted = Map.groupBy(recordedIn(file), ({ scenario }) => scenario)
    for (const [name, made] of Map.groupBy(decisions, ({ scenario }) => scenario))
      await t.test(name, () => deepEqual(JSON.parse(JSON.stringify(made)), wanted.get(name)))
  })
