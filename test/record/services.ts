// Records a table of `test/services/exchanges` from a running kube-apiserver, whose flags must be those of the configuration:
//   node test/record/services.ts dual-stack https://host:port ca.crt admin.crt admin.key
import { readFileSync, writeFileSync } from 'node:fs'
import { wireClient } from '../custom-resources/wire-client.ts'
import { configurations } from '../services/configurations.ts'
import { runScenario, type Exchange } from '../services/run-scenario.ts'

const [name = '', origin = '', ...files] = process.argv.slice(2)
const [authority = '', certificate = '', key = ''] = files.map((file) => readFileSync(file, 'utf8'))
const configuration = configurations[name]
if (configuration === undefined) throw new Error(`configurations: ${Object.keys(configurations).join(', ')}`)
await using client = wireClient({ origin, tls: { authority, certificate, key } })

const exchanges: Exchange[] = []
for (const scenario of configuration.scenarios) exchanges.push(...(await runScenario(client, scenario)))
const text = exchanges.map((exchange) => `${JSON.stringify(exchange)}\n`).join('')
writeFileSync(new URL(`../services/exchanges/${name}.jsonl`, import.meta.url), text)
process.stdout.write(`${name}: ${exchanges.length} exchanges, ${text.length} bytes\n`)
