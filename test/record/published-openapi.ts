// Asks a server again how it publishes the definitions in test/facts/published-openapi.json.gz, and writes its documents there:
//   node test/record/published-openapi.ts https://127.0.0.1:6443 client.crt client.key
// Descriptions are left out, because ours are others.
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { gunzipSync, gzipSync } from 'node:zlib'
import { until } from '../until.ts'
import { inlinedParameters, withoutDescriptions } from '../facts/published-openapi.ts'

interface Definition {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly group: string; readonly versions: readonly { name: string; served: boolean }[] }
}

interface Facts {
  readonly definitions: readonly Definition[]
}

type Json = Readonly<Record<string, unknown>>

const [address = '', certificate = '', key = ''] = process.argv.slice(2)
const agent = new Agent({ cert: readFileSync(certificate), key: readFileSync(key), rejectUnauthorized: false })
const file = new URL('../facts/published-openapi.json.gz', import.meta.url)

const ask = (method: string, path: string, body?: object): Promise<Json> =>
  new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const asked = request(`${address}${path}`, { method, agent, headers }, (answer) => {
      let text = ''
      answer.on('data', (piece) => (text += String(piece)))
      answer.on('end', () => resolve(text.startsWith('{') ? (JSON.parse(text) as Json) : {}))
    })
    asked.on('error', reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })

const { definitions } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Facts
for (const definition of definitions)
  await ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
const names = new Set(
  definitions.flatMap(({ spec }) =>
    spec.versions.filter(({ served }) => served).map(({ name }) => `apis/${spec.group}/${name}`),
  ),
)
const v3: Record<string, unknown> = {}
for (const name of names)
  await until(async () => {
    const document = await ask('GET', `/openapi/v3/${name}`)
    v3[name] = withoutDescriptions(document)
    return document['paths'] !== undefined
  })

/** What the definitions add to the document of version 2. */
const isCustom = ([name]: [string, unknown]): boolean => name.includes('example')
await until(async () => {
  const { definitions: schemas = {} } = await ask('GET', '/openapi/v2')
  return Object.entries(schemas as object).filter(isCustom).length >= 2 * names.size
})
const document = inlinedParameters(await ask('GET', '/openapi/v2')) as Record<'paths' | 'definitions', object>
const customOf = (part: object): object => Object.fromEntries(Object.entries(part).filter(isCustom))
const v2 = withoutDescriptions({ paths: customOf(document.paths), definitions: customOf(document.definitions) })
writeFileSync(file, gzipSync(JSON.stringify({ definitions, v3, v2 })))
agent.destroy()
