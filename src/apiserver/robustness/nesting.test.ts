// The depth of everything that clients can nest is bounded: deeper values are rejected with a reason, and values within
// the bound pass all recursive functions.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { jsonDepthMax } from '../../schema/json/json-depth.ts'
import { startServer } from '../server.harness.ts'

/** The JSON of a value nested in this many objects, each under this name. */
const nested = (levels: number, name = 'a', inner = '{}'): string =>
  `${`{${JSON.stringify(name)}:`.repeat(levels)}${inner}${'}'.repeat(levels)}`

const definition = (schema: string): string =>
  `{"metadata":{"name":"foos.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
    "names":{"plural":"foos","kind":"Foo"},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}]}}`

const schemaLevels = (levels: number): string =>
  `${'{"type":"object","properties":{"a":'.repeat(levels)}{"type":"string"}${'}}'.repeat(levels)}`

const webhook = (expression: string): object => ({
  metadata: { name: 'w' },
  webhooks: [
    {
      name: 'a.b.c',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      clientConfig: { url: 'https://x/' },
      matchConditions: [{ name: 'm', expression }],
    },
  ],
})

const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const webhooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const revision = (data: string, name: string): string => `{"metadata":{"name":"${name}"},"revision":1,"data":${data}}`
const deepest = jsonDepthMax - 2

const cases: [
  why: string,
  method: string,
  path: string,
  body: unknown,
  type: string,
  status: number,
  message?: RegExp,
][] = [
  ['data at the nesting limit', 'POST', revisions, revision(nested(deepest), 'b'), 'application/json', 201],
  [
    'data beyond the nesting limit',
    'POST',
    revisions,
    revision(nested(jsonDepthMax), 'c'),
    'application/json',
    400,
    /exceeded max depth/,
  ],
  ['the same in YAML', 'POST', revisions, revision(nested(jsonDepthMax), 'c'), 'application/yaml', 400, /depth/],
  ['a nested schema', 'POST', definitions, definition(schemaLevels(45)), 'application/json', 201],
  [
    'a schema beyond the nesting limit',
    'POST',
    definitions,
    definition(schemaLevels(450)),
    'application/json',
    400,
    /nested more than 100 levels deep/,
  ],
  ['a merge patch', 'PATCH', `${revisions}/a`, `{"data":${nested(deepest)}}`, 'application/merge-patch+json', 422],
  [
    'a strategic patch',
    'PATCH',
    `${revisions}/a`,
    `{"data":${nested(deepest)}}`,
    'application/strategic-merge-patch+json',
    422,
  ],
  [
    'an apply',
    'PATCH',
    `${revisions}/d?fieldManager=m`,
    `{"apiVersion":"apps/v1","kind":"ControllerRevision","revision":1,"metadata":{"name":"d"},"data":${nested(deepest)}}`,
    'application/apply-patch+yaml',
    201,
  ],
  [
    'a JSON patch that nests data further',
    'PATCH',
    `${revisions}/a`,
    `[{"op":"add","path":"/data${'/a'.repeat(900)}","value":${nested(900)}}]`,
    'application/json-patch+json',
    422,
  ],
  [
    'an expression with many selections',
    'POST',
    webhooks,
    webhook('... [] bad expression'),
    'application/json',
    422,
    /no viable/,
  ],
  [
    'an expression with many parentheses',
    'POST',
    webhooks,
    webhook(`${'('.repeat(9_000)}1`),
    'application/json',
    422,
    /expression recursion limit exceeded: 250/,
  ],
  [
    'a chain of selections',
    'POST',
    webhooks,
    webhook(`object${'.a'.repeat(4_000)}`),
    'application/json',
    422,
    /max recursion depth exceeded/,
  ],
]

test('nested input never causes a 500', async () => {
  await using server = await startServer()
  await server.call('POST', revisions, revision(nested(900, 'a', '{"b":1}'), 'a'))
  for (const [why, method, path, body, type, status, message] of cases) {
    const answer = await server.call(method, path, body, { 'content-type': type })
    equal(answer.status, status, `${why}: ${String(answer.body.message).slice(0, 500)}`)
    if (message !== undefined) match(answer.body.message, message, why)
  }
})
