// Every recorded exchange about Services gets upstream's response here, in each configuration of the cluster's ranges.
import { deepEqual, equal } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startCluster } from '../../src/cluster/testing/start-cluster.ts'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { wireClient } from '../custom-resources/wire-client.ts'
import { configurations } from './configurations.ts'
import { requestOf, runScenario, type Exchange } from './run-scenario.ts'

const recordedOf = (name: string): Exchange[] =>
  readFileSync(new URL(`exchanges/${name}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Exchange)

const exchangesMin = 500

test('at least 500 exchanges are recorded, each of the request that is sent', () => {
  let count = 0
  for (const [name, { scenarios }] of Object.entries(configurations)) {
    const recorded = recordedOf(name)
    count += recorded.length
    deepEqual(
      recorded.map(({ scenario, request, digest }) => ({ scenario, request, digest })),
      scenarios.flatMap(({ name: scenario, steps }) => steps.map((step) => ({ scenario, ...requestOf(step) }))),
      `${name} has changed: record it again`,
    )
  }
  equal(count >= exchangesMin, true, `${count} exchanges`)
})

for (const [name, { clusterRanges, nodePorts = '', scenarios }] of Object.entries(configurations))
  test(`exchanges about Services: ${name}`, async (t) => {
    await using cluster = await startCluster({
      time: 'flowing',
      nodes: 0,
      controllerManagers: 0,
      serviceFlags: { 'service-cluster-ip-range': clusterRanges, 'service-node-port-range': nodePorts },
    })
    const { server, authority, identity } = parseKubeconfig(cluster.kubeconfig)
    await using client = wireClient({ origin: server, tls: { authority, ...identity } })
    const recorded = recordedOf(name)
    for (const scenario of scenarios)
      await t.test(scenario.name, async (context) => {
        const got = await runScenario(client, scenario)
        const wanted = recorded.filter(({ scenario: of }) => of === scenario.name)
        for (const [index, exchange] of wanted.entries())
          await context.test(`${index} ${exchange.request}`, () => deepEqual(got[index], exchange))
      })
  })
