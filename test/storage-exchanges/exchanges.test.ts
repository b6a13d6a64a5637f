// Every recorded exchange about storage gets upstream's response here.
import { deepEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startCluster } from '../../src/cluster/testing/start-cluster.ts'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { wireClient } from '../custom-resources/wire-client.ts'
import { requestOf, type Exchange } from '../services/run-scenario.ts'
import { runExchanges, scenarios } from './run-exchanges.ts'

const recorded = readFileSync(new URL('exchanges.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Exchange)

test('at least 60 exchanges are recorded, each of the request that is sent', () => {
  ok(recorded.length >= 60)
  deepEqual(
    recorded.map(({ scenario, request, digest }) => ({ scenario, request, digest })),
    scenarios.flatMap(({ name: scenario, steps }) => steps.map((step) => ({ scenario, ...requestOf(step) }))),
    'the requests have changed: record them again',
  )
})

test('exchanges about storage', async (t) => {
  await using cluster = await startCluster({ time: 'flowing', nodes: 0, controllerManagers: 0 })
  const { server, authority, identity } = parseKubeconfig(cluster.kubeconfig)
  await using client = wireClient({ origin: server, tls: { authority, ...identity } })
  for (const scenario of scenarios)
    await t.test(scenario.name, async (context) => {
      const got = await runExchanges(client, scenario)
      const wanted = recorded.filter(({ scenario: of }) => of === scenario.name)
      for (const [index, exchange] of wanted.entries())
        await context.test(`${index} ${exchange.request}`, () => deepEqual(got[index], exchange))
    })
})
