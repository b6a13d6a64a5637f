// kubectl explain shows a description of every field, at every depth.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { kinds } from '../../api/kinds.ts'
import { startServer } from '../server.harness.ts'

interface Schema {
  readonly $ref?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly allOf?: readonly Schema[]
}
type Schemas = Readonly<Record<string, Schema>>
interface Document {
  readonly components: { readonly schemas: Schemas }
}

const descriptionCharsMax = 250
/** A sentence begins with a capital letter or with a value, and ends with a full stop. */
const isSentence = (text: string): boolean => /^[A-Z"]|^[a-z.]+[ ,;]/.test(text) && text.endsWith('.')

const root = '#/components/schemas/'

/** The names of the schemas that a schema refers to. */
const referencesIn = ({ $ref, items, additionalProperties, allOf = [] }: Schema): string[] => [
  ...($ref === undefined ? [] : [$ref.slice(root.length)]),
  ...[items, additionalProperties, ...allOf].flatMap((each) => (each === undefined ? [] : referencesIn(each))),
]

/** Calls back for each field of the schema and of all schemas that it refers to. */
function eachField(
  schemas: Schemas,
  start: string,
  seen: Set<string>,
  visit: (path: string, field: Schema) => void,
): void {
  if (seen.has(start)) return
  seen.add(start)
  for (const [name, field] of Object.entries(schemas[start]?.properties ?? {})) {
    visit(`${start} ${name}`, field)
    for (const reference of referencesIn(field)) eachField(schemas, reference, seen, visit)
  }
}

test('every field of every kind has a description in one or two sentences', async () => {
  await using server = await startServer()
  const seen = new Set<string>()
  const missing: string[] = []
  const odd: string[] = []
  let fields = 0
  for (const { group, version, message } of kinds) {
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`
    const { status, body } = await server.call('GET', `/openapi/v3/${path}`)
    equal(status, 200, path)
    const { schemas } = (body as unknown as Document).components
    ok(schemas[message.name] !== undefined, message.name)
    eachField(schemas, message.name, seen, (name, { description = '' }) => {
      fields++
      if (description === '') missing.push(name)
      else if (!isSentence(description) || description.length > descriptionCharsMax) odd.push(`${name}: ${description}`)
    })
  }
  ok(fields > 1_900, `${fields} fields`)
  deepEqual(missing, [])
  deepEqual(odd, [])
})
