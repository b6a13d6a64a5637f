// Every exchange that was recorded from upstream, with the same extension server behind APIServices, gets the same response
// here: status, content type and body.
import { deepEqual, equal } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startCluster } from '../../src/cluster/testing/start-cluster.ts'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { wireClient } from '../custom-resources/wire-client.ts'
import { ExtensionServer } from './extension-server.ts'
import { gardenOptions } from './garden.ts'
import { requestOf, runScenario, type Exchange } from './run-scenario.ts'
import { isRequest } from './scenario.ts'
import { scenarios } from './scenarios.ts'

const recorded = readFileSync(new URL('exchanges.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Exchange)

const exchangesMin = 60

test('the recorded exchanges are those of the requests that are sent', () => {
  const sent = scenarios.flatMap(({ name, steps }) =>
    steps
      .filter(isRequest)
      .filter(({ isPreparation = false }) => !isPreparation)
      .map((step) => ({ scenario: name, ...requestOf(step) })),
  )
  deepEqual(
    recorded.map(({ scenario, request, digest }) => ({ scenario, request, digest })),
    sent,
  )
  equal(recorded.length >= exchangesMin, true)
})

test('aggregated APIs respond as upstream', async (t) => {
  await using cluster = await startCluster({ time: 'flowing', nodes: 0, controllerManagers: 0 })
  const { server, authority, identity } = parseKubeconfig(cluster.kubeconfig)
  await using client = wireClient({ origin: server, tls: { authority, ...identity } })
  await using extension = await ExtensionServer.start(gardenOptions)
  for (const scenario of scenarios)
    await t.test(scenario.name, async () => {
      const wanted = recorded.filter((exchange) => exchange.scenario === scenario.name)
      deepEqual(await runScenario(client, extension, scenario), wanted)
    })
})
