// Records the tables of `test/custom-resources/exchanges` from a running kube-apiserver, all or the named areas:
//   node test/record/custom-resources.ts https://host:port ca.crt admin.crt admin.key [area…]
// Each scenario runs several times, to find out where the server has no particular order.
import { readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { areas } from '../custom-resources/areas.ts'
import { runScenario, type Exchange } from '../custom-resources/run-scenario.ts'
import type { Scenario } from '../custom-resources/scenario.ts'
import { unordered } from '../custom-resources/unordered.ts'
import { wireClient } from '../custom-resources/wire-client.ts'

const runs = Number(process.env['RECORD_RUNS'] ?? 6)

const [origin = '', authority = '', certificate = '', key = '', ...named] = process.argv.slice(2)
const [ca, cert, secret] = [authority, certificate, key].map((file) => readFileSync(file, 'utf8')) as [
  string,
  string,
  string,
]
await using client = wireClient({ origin, tls: { authority: ca, certificate: cert, key: secret } })

for (const [area, scenarios] of Object.entries(areas)) {
  if (named.length > 0 && !named.includes(area)) continue
  const exchanges: Exchange[] = []
  for (const scenario of scenarios) {
    const recorded = await record(scenario).catch((error: unknown) => {
      throw new Error(`${area}, ${scenario.name}`, { cause: error })
    })
    exchanges.push(...recorded)
  }
  const text = exchanges.map((exchange) => `${JSON.stringify(exchange)}\n`).join('')
  writeFileSync(new URL(`../custom-resources/exchanges/${area}.jsonl`, import.meta.url), text)
  process.stdout.write(`${area}: ${exchanges.length} exchanges, ${text.length} bytes\n`)
}

async function record(scenario: Scenario): Promise<Exchange[]> {
  let recorded = await runScenario(client, scenario)
  for (let run = 1; run < runs; run++) {
    const again = await runScenario(client, scenario)
    recorded = recorded.map((exchange, index) => merged(exchange, again[index]))
  }
  return recorded
}

function merged(exchange: Exchange, again: Exchange | undefined): Exchange {
  const { isUnordered = false, ...first } = exchange
  if (!isUnordered && isDeepStrictEqual(first, again)) return exchange
  if (!isDeepStrictEqual(unordered(first), unordered(again)))
    throw new Error(`${first.request} differs:\n${JSON.stringify(first)}\n${JSON.stringify(again)}`)
  return { ...first, isUnordered: true }
}
