// Asks a server again which cells the printer columns in test/facts/printer-columns.json have, and writes them there:
//   node test/record/printer-columns.ts https://127.0.0.1:6443 client.crt client.key
// New paths are added to the file by hand, with `null` as their cells.
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { realClock, rfc3339 } from '../../src/base/time/clock.ts'
import { until } from '../until.ts'

type Cells = readonly (string | number | boolean | null)[]

interface Facts {
  readonly recordedAt: string
  /** A column has one of these types; a path has one column of each. */
  readonly types: readonly string[]
  readonly object: object
  /** Columns whose path cannot be parsed are hidden. */
  readonly paths: readonly (readonly [path: string, cells: Cells | 'hidden' | null])[]
}

interface Answer {
  readonly code: number
  readonly body: { readonly rows?: readonly { readonly cells: Cells }[]; readonly message?: string }
}

const [address = '', certificate = '', key = ''] = process.argv.slice(2)
const agent = new Agent({
  cert: readFileSync(certificate),
  key: readFileSync(key),
  rejectUnauthorized: false,
  keepAlive: true,
})
const file = new URL('../facts/printer-columns.json', import.meta.url)
const group = 'columns.example.com'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const ask = (method: string, path: string, body?: object): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const asked = request(`${address}${path}`, { method, agent, headers: { ...headers, ...type } }, (answer) => {
      let text = ''
      answer.on('data', (piece) => (text += String(piece)))
      answer.on('end', () => {
        const json = text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : { message: text }
        resolve({ code: answer.statusCode ?? 0, body: json })
      })
    })
    asked.on('error', reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })

async function define(plural: string, path: string, types: readonly string[]): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const additionalPrinterColumns = types.map((type) => ({ name: type, type, jsonPath: path }))
  const version = { name: 'v1', served: true, storage: true, schema, additionalPrinterColumns }
  const names = { plural, kind: plural.toUpperCase() }
  const { code, body } = await ask('POST', definitions, {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Cluster', names, versions: [version] },
  })
  if (code !== 201) throw new Error(`${path}: ${body.message}`)
}

async function cellsOf(plural: string, { object, types }: Facts): Promise<Cells | 'hidden'> {
  const url = `/apis/${group}/v1/${plural}`
  const named = { apiVersion: `${group}/v1`, kind: plural.toUpperCase(), ...object }
  await until(async () => (await ask('POST', url, named)).code === 201)
  const { body } = await ask('GET', `${url}/one`)
  await ask('DELETE', `${definitions}/${plural}.${group}`)
  const cells = body.rows?.[0]?.cells.slice(1) ?? []
  return cells.length === types.length ? cells : 'hidden'
}

const facts = JSON.parse(readFileSync(file, 'utf8')) as Facts
for (const [index, [path]] of facts.paths.entries()) await define(`p${index}`, path, facts.types)
const paths: [string, Cells | 'hidden'][] = []
for (const [index, [path]] of facts.paths.entries()) paths.push([path, await cellsOf(`p${index}`, facts)])
const lines = paths.map((row) => `    ${JSON.stringify(row)}`).join(',\n')
const head = JSON.stringify({ ...facts, recordedAt: rfc3339(realClock.nowMs()), paths: [] }, null, 2)
writeFileSync(file, `${head.replace('"paths": []', () => `"paths": [\n${lines}\n  ]`)}\n`)
agent.destroy()
