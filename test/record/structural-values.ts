// Asks a server again what the schemas in test/facts/structural-*.json do to values, and writes its answers there:
//   node test/record/structural-values.ts https://127.0.0.1:6443 client.crt client.key
// New rows are added to the files by hand, with `null` as their outcome.
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { until } from '../until.ts'

/**
 * The value after defaulting and pruning, the fields that an apply owns, the errors, or the message of the decoder.
 * Undefined: the value was removed, or nothing is owned.
 */
type Outcome = { readonly stored?: unknown } | { readonly owned?: unknown } | readonly string[] | string
type Case = [value: string, outcome: Outcome | null]

interface Answer {
  readonly code: number
  readonly body: {
    readonly message?: string
    readonly details?: { readonly causes?: readonly { reason: string; field: string; message: string }[] }
    readonly spec?: { readonly versions: { schema: { openAPIV3Schema: object } }[] }
    readonly [name: string]: unknown
  }
}

const [address = '', certificate = '', key = ''] = process.argv.slice(2)
const agent = new Agent({
  cert: readFileSync(certificate),
  key: readFileSync(key),
  rejectUnauthorized: false,
  keepAlive: true,
})
const group = 'structural.example.com'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const ask = (method: string, path: string, body?: string, type = 'application/json'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': type }
    const asked = request(`${address}${path}`, { method, agent, headers }, (answer) => {
      let text = ''
      answer.on('data', (piece) => (text += String(piece)))
      answer.on('end', () =>
        resolve({
          code: answer.statusCode ?? 0,
          body: (text.startsWith('{') ? JSON.parse(text) : { text }) as Answer['body'],
        }),
      )
    })
    asked.on('error', reject)
    asked.end(body)
  })

/** Each schema is that of one field of a common definition. */
const rootOf = (schemas: readonly unknown[]) => ({
  type: 'object',
  properties: Object.fromEntries(schemas.map((schema, index) => [`c${index}`, schema])),
})

async function define(plural: string, schemas: readonly unknown[]): Promise<string> {
  await ask('DELETE', `${definitions}/${plural}.${group}`)
  const kind = plural.toUpperCase()
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: rootOf(schemas) } }
  const spec = { group, scope: 'Namespaced', names: { plural, kind }, versions: [version] }
  const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
  const url = `/apis/${group}/v1/namespaces/default/${plural}`
  await until(async () => {
    const { code } = await ask(
      'POST',
      definitions,
      JSON.stringify({ ...definition, metadata: { name: `${plural}.${group}` }, spec }),
    )
    return code === 201
  })
  await until(async () => (await ask('GET', url)).code === 200)
  return url
}

const objectText = (kind: string, name: string, field: string, value: string, resourceVersion = ''): string =>
  `{"apiVersion":"${group}/v1","kind":"${kind}","metadata":{"name":"${name}","resourceVersion":"${resourceVersion}"},"${field}":${value}}`

/** The field is called v in the file. */
function outcomeOf({ code, body }: Answer, field: string): Outcome {
  const named = (text: string) => text.replaceAll(new RegExp(`\\b${field}\\b`, 'g'), 'v')
  if (code < 300) return { stored: body[field] }
  const { causes } = body.details ?? {}
  if (causes === undefined) return named((body.message ?? '').replace(/^.* cannot be handled as a \w+: /, ''))
  return causes.map(({ reason, field: at, message }) => named(`${reason} ${at}: ${message}`))
}

const written = (rows: readonly (readonly unknown[])[]): string =>
  `[\n${rows
    .map((row) => {
      const cases = (row.at(-1) as Case[]).map((each) => `    ${JSON.stringify(each)}`).join(',\n')
      return `  [${row
        .slice(0, -1)
        .map((part) => JSON.stringify(part))
        .join(', ')}, [\n${cases}\n  ]]`
    })
    .join(',\n')}\n]\n`

async function recordValues(path: URL): Promise<void> {
  const rows = JSON.parse(readFileSync(path, 'utf8')) as [schema: unknown, cases: Case[]][]
  const url = await define(
    'values',
    rows.map(([schema]) => schema),
  )
  for (const [index, [, cases]] of rows.entries())
    for (const each of cases) {
      const answer = await ask('POST', `${url}?dryRun=All`, objectText('VALUES', 'a', `c${index}`, each[0]))
      each[1] = outcomeOf(answer, `c${index}`)
    }
  writeFileSync(path, written(rows))
}

/** Objects are created while every value is allowed, and updated when the schemas are in force. */
async function recordUpdates(path: URL): Promise<void> {
  const rows = JSON.parse(readFileSync(path, 'utf8')) as [schema: unknown, old: string, cases: Case[]][]
  const url = await define(
    'updates',
    rows.map(() => ({ 'x-kubernetes-preserve-unknown-fields': true })),
  )
  for (const [index, [, old]] of rows.entries())
    await ask('POST', url, objectText('UPDATES', `o${index}`, `c${index}`, old))
  const { body } = await ask('GET', `${definitions}/updates.${group}`)
  const [version] = body.spec?.versions ?? []
  if (version !== undefined)
    version.schema.openAPIV3Schema = { ...rootOf(rows.map(([schema]) => schema)), required: ['probe'] }
  const wrong = await ask('PUT', `${definitions}/updates.${group}`, JSON.stringify(body))
  if (wrong.code !== 200) throw new Error(wrong.body.message)
  await until(async () => (await ask('POST', `${url}?dryRun=All`, objectText('UPDATES', 'a', 'x', '1'))).code === 422)
  const { body: second } = await ask('GET', `${definitions}/updates.${group}`)
  const [tightened] = second.spec?.versions ?? []
  if (tightened !== undefined) tightened.schema.openAPIV3Schema = rootOf(rows.map(([schema]) => schema))
  await ask('PUT', `${definitions}/updates.${group}`, JSON.stringify(second))
  await until(async () => (await ask('POST', `${url}?dryRun=All`, objectText('UPDATES', 'a', 'x', '1'))).code === 201)
  for (const [index, [, , cases]] of rows.entries())
    for (const each of cases) {
      const { body: stored } = await ask('GET', `${url}/o${index}`)
      const { resourceVersion } = stored['metadata'] as { resourceVersion: string }
      const text = objectText('UPDATES', `o${index}`, `c${index}`, each[0], resourceVersion)
      each[1] = outcomeOf(await ask('PUT', `${url}/o${index}?dryRun=All`, text), `c${index}`)
    }
  writeFileSync(path, written(rows))
}

/** Values that are invalid are no rows here: they are errors of the validation, not of the apply. */
async function recordApplies(path: URL): Promise<void> {
  const rows = JSON.parse(readFileSync(path, 'utf8')) as [schema: unknown, cases: Case[]][]
  const url = await define(
    'applies',
    rows.map(([schema]) => schema),
  )
  for (const [index, [, cases]] of rows.entries())
    for (const each of cases) {
      const text = objectText('APPLIES', 'a', `c${index}`, each[0])
      const answer = await ask('PATCH', `${url}/a?fieldManager=m&dryRun=All`, text, 'application/apply-patch+yaml')
      each[1] = appliedOutcome(answer, `c${index}`)
    }
  writeFileSync(path, written(rows))
}

function appliedOutcome({ code, body }: Answer, field: string): Outcome {
  const { managedFields } = (body['metadata'] ?? {}) as { managedFields?: { fieldsV1: Record<string, unknown> }[] }
  if (code < 300) return { owned: managedFields?.[0]?.fieldsV1[`f:${field}`] }
  const message = (body.message ?? '').replace(/^failed to create typed patch object \([^)]*\): (?:errors:\s*)?/, '')
  return message.replaceAll(`.${field}`, '.v').split(/\n\s*/)
}

await recordValues(new URL('../facts/structural-values.json', import.meta.url))
await recordUpdates(new URL('../facts/structural-updates.json', import.meta.url))
await recordApplies(new URL('../facts/structural-applies.json', import.meta.url))
agent.destroy()
