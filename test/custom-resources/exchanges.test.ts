// Every recorded exchange with upstream gets the same response here: status, headers and the whole body. Differences that remain are listed with their reason, and must be removed from the list when they are gone.
import { deepEqual, equal } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startCluster } from '../../src/cluster/testing/start-cluster.ts'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { areas } from './areas.ts'
import { differenceOf } from './difference.ts'
import { differences } from './differences.ts'
import { digestOf, runScenario, type Exchange } from './run-scenario.ts'
import { wireClient } from './wire-client.ts'

const recordedOf = (area: string): Exchange[] =>
  readFileSync(new URL(`exchanges/${area}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Exchange)

const exchangesMin = 600

test('at least 600 exchanges are recorded, each of the request that is sent', () => {
  let count = 0
  for (const [area, scenarios] of Object.entries(areas)) {
    const recorded = recordedOf(area)
    count += recorded.length
    const sent = scenarios.flatMap(({ name, steps }) =>
      steps
        .filter(({ isPreparation = false }) => !isPreparation)
        .map((step) => [name, `${step.method} ${step.path}`, digestOf(step)]),
    )
    deepEqual(
      recorded.map(({ scenario, request, digest }) => [scenario, request, digest]),
      sent,
      `${area} has changed: record it again`,
    )
  }
  equal(count >= exchangesMin, true, `${count} exchanges`)
})

for (const [area, scenarios] of Object.entries(areas))
  test(`exchanges of custom resources: ${area}`, async (t) => {
    await using cluster = await startCluster({ time: 'flowing', nodes: 0, controllerManagers: 0 })
    const { server, authority, identity } = parseKubeconfig(cluster.kubeconfig)
    await using client = wireClient({ origin: server, tls: { authority, ...identity } })
    const recorded = recordedOf(area)
    for (const scenario of scenarios)
      await t.test(scenario.name, async (context) => {
        const wanted = recorded.filter(({ scenario: name }) => name === scenario.name)
        const got: Exchange[] = []
        await runScenario(client, scenario, got).catch((error: unknown) => context.diagnostic(String(error)))
        const different = wanted.flatMap((exchange, index) => {
          const difference = differenceOf(exchange, got[index])
          if (difference !== undefined) context.diagnostic(`${index} ${exchange.request}\n${difference}`)
          return difference === undefined ? [] : [index]
        })
        const listed = (differences[scenario.name] ?? [])
          .flatMap(({ exchanges }) => exchanges)
          .toSorted((a, b) => a - b)
        deepEqual(different, listed, 'the exchanges that differ are the ones that are listed')
      })
  })
