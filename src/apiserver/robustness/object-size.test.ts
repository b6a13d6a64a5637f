// An object is at most as large as etcd accepts, whatever the store is, and whatever defaults and patches add to it.
import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { customKind } from '../../api/apiextensions/custom-kind/custom-kind.ts'
import type { CustomResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import type { CustomResourceDefinitionVersion } from '../../api/apiextensions/v1/custom-resource-definition-spec.ts'
import { present } from '../../base/assert.ts'
import { transactionBytesMax, TransactionTooLarge } from '../../store/store.ts'
import { customDefinition, customVersion, define } from '../custom-resources/custom-resource.harness.ts'
import { decodeObject } from '../objects/decode-object.ts'
import { startServer, type Harness, type HarnessResponse } from '../server.harness.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const accounts = '/api/v1/namespaces/default/serviceaccounts'
const things = '/apis/example.com/v1/namespaces/default/things'
const json = { 'content-type': 'application/json' }
const merge = { 'content-type': 'application/merge-patch+json' }

const tooLarge = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'etcdserver: request is too large',
  code: 500,
}

/** References to Secrets of a ServiceAccount, each of about 100 bytes. */
const secrets = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ name: `${from + index}`.padStart(80, 's') }))

/** A list of empty items, each with a default of 1 KB. */
const defaulted = customDefinition('things', 'Thing', [
  customVersion('v1', {
    spec: {
      type: 'object',
      properties: {
        list: {
          type: 'array',
          items: { type: 'object', properties: { text: { type: 'string', default: 'x'.repeat(1_000) } } },
        },
      },
    },
  }),
])
const thing = (count: number, name = 'a') => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name },
  spec: { list: Array.from({ length: count }, () => ({})) },
})

const rows: readonly (readonly [
  what: string,
  method: string,
  path: string,
  body: (size: 'fits' | 'exceeds') => object,
  headers?: Record<string, string>,
])[] = [
  [
    'a new object',
    'POST',
    accounts,
    (size) => ({ metadata: { name: 'new' }, secrets: secrets(size === 'fits' ? 6_000 : 18_000) }),
  ],
  [
    'a replaced object',
    'PUT',
    `${accounts}/default`,
    (size) => ({ metadata: { name: 'default' }, secrets: secrets(size === 'fits' ? 6_000 : 18_000) }),
  ],
  [
    'a patched object that grows',
    'PATCH',
    `${accounts}/default`,
    (size) => ({ imagePullSecrets: secrets(size === 'fits' ? 100 : 16_000, 20_000) }),
    merge,
  ],
  ['an object with defaults', 'POST', things, (size) => thing(size === 'fits' ? 1_000 : 2_000, size)],
  ['an object with many defaults', 'POST', things, (size) => thing(size === 'fits' ? 1_000 : 190_000, `c-${size}`)],
  ['a dry run', 'POST', `${things}?dryRun=All`, (size) => thing(size === 'fits' ? 1_000 : 2_000, 'b')],
]

const outcome = ({ status, body }: HarnessResponse): object => (status < 300 ? { status } : (body as object))

test('an object that would be larger than 1.5 MiB in the store is rejected with the error of etcd', async (t) => {
  await using server: Harness = await startServer()
  await define(server, defaulted)
  for (const [what, method, path, body, headers = json] of rows)
    await t.test(what, async () => {
      const fits = await server.call(method, path, body('fits'), headers)
      ok(fits.status < 300, JSON.stringify(fits.body).slice(0, 500))
      const { revision } = server.store
      deepEqual(outcome(await server.call(method, path, renamed(body('exceeds')), headers)), tooLarge)
      equal(server.store.revision, revision)
    })
  const { body } = await server.call('GET', things)
  ok(JSON.stringify(body).length < 2 * transactionBytesMax)
})

/** A second object would be rejected because its name is taken. */
const renamed = (body: object & { metadata?: { name: string } }): object =>
  body.metadata?.name === 'new' ? { ...body, metadata: { name: 'newer' } } : body

test('an object that its defaults make very large is rejected before it is validated, compared and sent to webhooks', () => {
  const { metadata, spec } = defaulted
  const definition = { metadata, spec, status: {} } as unknown as CustomResourceDefinition
  const [version] = spec.versions as unknown as readonly CustomResourceDefinitionVersion[]
  const kind = customKind(definition, present(version, 'the definition has a version'))
  const decoded = (count: number) => decodeObject(kind, thing(count), 'Ignore').object
  equal((decoded(1_000) as unknown as ReturnType<typeof thing>).spec.list.length, 1_000)
  throws(() => decoded(190_000), TransactionTooLarge)
})

test('text that JSON escapes counts as it is stored', async () => {
  await using server = await startServer()
  const data = (text: string) => ({ metadata: { name: 'text' }, data: { text } })
  const escaped = '\u0001'.repeat(300_000) // six bytes each
  deepEqual(outcome(await server.call('POST', configMaps, data(escaped))), tooLarge)
  equal((await server.call('POST', configMaps, data('x'.repeat(1_000_000)))).status, 201)
})
