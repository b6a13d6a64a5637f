// Names such as `constructor` and `__proto__` are ordinary names wherever a client chooses one: the responses are
// kube-apiserver's, and nothing is added to Object.prototype.
import { deepEqual, equal } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { compile } from '../../cel/program.ts'
import { kubernetesEnvironment } from '../../cel/library/kubernetes.ts'
import { dynType } from '../../cel/types/cel-type.ts'
import { fromJson } from '../../cel/values/json-value-conversion.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { encodeEnvelope, encodeProtobuf } from '../../schema/protobuf/protobuf-encode.ts'
import { prototypeNames, requestsWith, shownOf } from './prototype-names.harness.ts'
import { startGuarded } from '../server-policies.harness.ts'

type Fact = readonly [request: string, code: number, shown: unknown]
const facts = JSON.parse(
  readFileSync(new URL('../../../test/facts/prototype-names.json', import.meta.url), 'utf8'),
) as Fact[]

test('names that clients choose may be those of Object.prototype', async () => {
  await using server = await startGuarded()
  const natural = Object.getOwnPropertyNames(Object.prototype)
  const requests = prototypeNames.flatMap((name, index) => requestsWith(name, index))
  equal(requests.length, facts.length)
  const different: unknown[] = []
  for (const [index, asked] of requests.entries()) {
    const { method, path, body, headers = {} } = asked
    const sent = body === undefined ? {} : { 'content-type': 'application/json' }
    const written = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
    const answer = await server.call(method, path, body, { ...sent, ...Object.fromEntries(written) })
    const shown = JSON.parse(JSON.stringify(shownOf(asked, answer.status, answer.body) ?? null)) as unknown
    const [request, code, wanted] = facts[index] ?? []
    equal(request, `${method} ${path}`)
    const isRefused = asked.refusedOnly && answer.status >= 400 && answer.status < 500
    const isExpected = isRefused || answer.status === code
    if (!isExpected || !isDeepStrictEqual(shown, wanted))
      different.push({ request, body, headers, wanted: [code, wanted], found: [answer.status, shown] })
  }
  deepEqual(different, [])
  deepEqual(Object.getOwnPropertyNames(Object.prototype), natural)
})

test('map keys in protobuf may be names of Object.prototype', async () => {
  await using server = await startGuarded()
  const data = Object.fromEntries(prototypeNames.map((name) => [name, `of ${name}`]))
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'wired', namespace: 'default' }, data }
  const wired = encodeEnvelope(map.apiVersion, map.kind, encodeProtobuf(configMap.message, map))
  const type = 'application/vnd.kubernetes.protobuf'
  const made = await server.call('POST', '/api/v1/namespaces/default/configmaps', wired, { 'content-type': type })
  deepEqual([made.status, made.body.data], [201, data])
})

const expressions: [expression: string, data: string, value: unknown][] = [
  [`'NAME' in object`, '{"NAME":1}', true],
  [`'NAME' in object`, '{}', false],
  [`has(object.NAME)`, '{}', false],
  [`has(object.NAME)`, '{"NAME":1}', true],
  [`object.NAME`, '{"NAME":1}', 1n],
  [`object['NAME']`, '{"NAME":1}', 1n],
  [`object.?NAME.orValue(2)`, '{}', 2n],
  [`{'NAME': 1}.size()`, '{}', 1n],
  [`{'NAME': 1} == {'NAME': 1}`, '{}', true],
  [`{'NAME': 1} == {'other': 1}`, '{}', false],
  [`object == {'a': 1}`, '{"NAME":{}}', false],
  [`object.map(key, key)[0]`, '{"NAME":1}', 'NAME'],
  [`object.all(key, object[key] == 1)`, '{"NAME":1}', true],
]
for (const [expression, data, value] of expressions)
  test(`CEL: ${expression} of ${data}`, () => {
    for (const name of prototypeNames) {
      const filled = (text: string) => text.replaceAll('NAME', name)
      const object = fromJson(JSON.parse(filled(data)))
      const environment = kubernetesEnvironment({}).with({ object: dynType })
      const found = compile(filled(expression), environment).evaluate({ object }, 10_000).value
      equal(found, typeof value === 'string' ? filled(value) : value, name)
    }
  })
