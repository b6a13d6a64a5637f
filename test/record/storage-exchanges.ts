// Records `test/storage-exchanges/exchanges.jsonl` from a fresh kube-apiserver without controllers:
//   node test/record/storage-exchanges.ts https://host:port ca.crt admin.crt admin.key
import { readFileSync, writeFileSync } from 'node:fs'
import { wireClient } from '../custom-resources/wire-client.ts'
import { runExchanges, scenarios } from '../storage-exchanges/run-exchanges.ts'

const [origin = '', ...files] = process.argv.slice(2)
const [authority = '', certificate = '', key = ''] = files.map((file) => readFileSync(file, 'utf8'))
await using client = wireClient({ origin, tls: { authority, certificate, key } })

let text = ''
for (const scenario of scenarios)
  for (const exchange of await runExchanges(client, scenario)) text += `${JSON.stringify(exchange)}\n`
writeFileSync(new URL('../storage-exchanges/exchanges.jsonl', import.meta.url), text)
