// Records test/aggregation/exchanges.jsonl from a running kube-apiserver, whose flags must include those of a front proxy:
//   RECORD_UNTIL_MS=100000 node test/record/aggregation.ts https://host:port ca.crt admin.crt admin.key
import { readFileSync, writeFileSync } from 'node:fs'
import { ExtensionServer } from '../aggregation/extension-server.ts'
import { gardenOptions } from '../aggregation/garden.ts'
import { runScenario, type Exchange } from '../aggregation/run-scenario.ts'
import { scenarios } from '../aggregation/scenarios.ts'
import { wireClient } from '../custom-resources/wire-client.ts'

const [origin = '', ...files] = process.argv.slice(2, 6)
const [authority = '', certificate = '', key = ''] = files.map((file) => readFileSync(file, 'utf8'))
await using client = wireClient({ origin, tls: { authority, certificate, key } })
await using extension = await ExtensionServer.start(gardenOptions)

const exchanges: Exchange[] = []
for (const scenario of scenarios) {
  exchanges.push(...(await runScenario(client, extension, scenario)))
  process.stdout.write(`${scenario.name}: ${exchanges.length}\n`)
}
const text = exchanges.map((exchange) => `${JSON.stringify(exchange)}\n`).join('')
writeFileSync(new URL('../aggregation/exchanges.jsonl', import.meta.url), text)
