// Objects that were sent to upstream with a dry run, and its responses: this server responds the same, with the same
// defaults.
import { deepEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isJsonObject } from '../../schema/json/json-value.ts'
import { startServer } from '../server.harness.ts'

interface Exchange {
  readonly path: string
  readonly sent: { readonly kind: string; readonly metadata: { readonly name: string } }
  readonly answer: Answer
}

interface Answer {
  readonly code?: number
  readonly message?: string
  readonly details?: { readonly causes?: readonly object[] }
  readonly metadata: object
}

/** What other components write in a live cluster, or what is not served yet; each entry names what is missing. */
const notYet: Readonly<Record<string, string>> = {
  'CustomResourceDefinition foos.example.com': 'the kind',
  'Node minimal': 'the admission plugin TaintNodesByCondition',
  'PersistentVolume minimal': 'the admission plugin StorageObjectInUseProtection',
  'PersistentVolumeClaim minimal': 'the admission plugin StorageObjectInUseProtection',
}

const exchanges = JSON.parse(
  readFileSync(new URL('../../../test/facts/defaults.json', import.meta.url), 'utf8'),
) as readonly Exchange[]

test("each object gets upstream's response", async () => {
  await using server = await startServer()
  await server.call('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  for (const { path, sent, answer } of exchanges) {
    const name = `${sent.kind} ${sent.metadata.name}`
    if (notYet[name] !== undefined) continue
    const { body } = await server.call('POST', `${path}?dryRun=All&fieldValidation=Strict`, sent)
    deepEqual(comparable(body, answer), comparable(answer, answer), name)
  }
})

/** Without values that differ in each run, and with sorted errors. */
function comparable(value: Answer, wanted: unknown): unknown {
  if (value.code === undefined) return steady(value, wanted)
  const texts = (value.details?.causes ?? []).map((cause) => JSON.stringify(cause, Object.keys(cause).toSorted()))
  return { code: value.code, ...(texts.length > 0 ? { causes: texts.toSorted() } : { message: value.message }) }
}

const perObject = new Set(['uid', 'creationTimestamp', 'resourceVersion', 'managedFields'])

/** The value, with placeholders where the recorded response has them. */
function steady(value: unknown, wanted: unknown): unknown {
  if (typeof wanted === 'string' && wanted.includes('<volatile>')) return wanted
  if (Array.isArray(value))
    return value.map((item, index) => steady(item, Array.isArray(wanted) ? wanted[index] : undefined))
  if (!isJsonObject(value)) return value
  const inside = isJsonObject(wanted) ? wanted : {}
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !perObject.has(name))
      .map(([name, item]) => [name, steady(item, inside[name])]),
  )
}

test('an empty value is null as in Go, and is owned by the manager that adds its parent', async () => {
  await using server = await startServer()
  const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles'
  for (const rules of [undefined, null, []]) {
    const { body } = await server.call('POST', `${roles}?dryRun=All`, { metadata: { name: 'r' }, rules })
    const { rules: answered, metadata } = body as unknown as Managed & { rules: unknown }
    deepEqual([answered, metadata.managedFields], [null, undefined])
  }
  await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n', labels: { a: 'b' } } })
  const { body } = await server.call('PUT', '/api/v1/nodes/n/status', {
    metadata: { name: 'n', labels: { a: 'b' } },
    status: { conditions: [{ type: 'Custom', status: 'True' }] },
  })
  const { status, metadata } = body as unknown as Managed & { status: { conditions: object[] } }
  deepEqual(status.conditions, [{ type: 'Custom', status: 'True', lastHeartbeatTime: null, lastTransitionTime: null }])
  deepEqual(metadata.managedFields?.at(-1)?.fieldsV1, {
    'f:status': {
      'f:conditions': {
        '.': {},
        'k:{"type":"Custom"}': {
          '.': {},
          'f:lastHeartbeatTime': {},
          'f:lastTransitionTime': {},
          'f:status': {},
          'f:type': {},
        },
      },
    },
  })
})

interface Managed {
  readonly metadata: { readonly managedFields?: readonly { readonly fieldsV1: object }[] }
}
