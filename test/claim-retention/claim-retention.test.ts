// The claims of StatefulSets have the owners that were recorded from upstream's kube-controller-manager, in virtual time.
import { deepEqual, equal } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { context, startCluster } from '../../src/cluster/index.ts'
import { retentionCases, runRetention, titleOf, type RetentionState } from './run-retention.ts'

const recorded = readFileSync(new URL('states.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as RetentionState)

test('claims of StatefulSets, by retention policy', async (t) => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const settle = () => clock.advance('5s')
  equal(new Set(recorded.map(({ title }) => title)).size, retentionCases.length)
  for (const each of retentionCases)
    await t.test(titleOf(each), async () => {
      const states = await runRetention({ client, context: context(new AbortController().signal), settle }, each)
      deepEqual(
        states,
        recorded.filter(({ title }) => title === titleOf(each)),
      )
    })
})
