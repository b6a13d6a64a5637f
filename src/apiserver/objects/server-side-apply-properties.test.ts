// Properties of every apply and patch, tested with seeded random ones.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { service } from '../../api/core/v1/service/service.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { seededRandom, type Random } from '../../base/random/random.ts'
import { jsonText } from '../../schema/json/exact-json.ts'
import { equalValues, isJsonObject, type JsonObject, type JsonValue } from '../../schema/json/json-value.ts'
import { randomInstance } from '../../schema/descriptor/random-instance.harness.ts'
import { startServer, type HarnessResponse, type Harness } from '../server.harness.ts'

const pathOf = ({ group, version, plural }: Kind<never>): string =>
  `${group === '' ? `/api/${version}` : `/apis/${group}/${version}`}/namespaces/default/${plural}`
const deployments = pathOf(deployment as Kind<never>)

const apply = (server: Harness, target: string, body: unknown, manager: string, more = '') =>
  server.call('PATCH', `${target}?fieldManager=${manager}${more}`, body, {
    'content-type': 'application/apply-patch+yaml',
  })

const pick = <T>(random: Random, items: readonly T[]): T => items[random.below(items.length)] as T
const some = <T>(random: Random, items: readonly T[]): T[] => items.filter(() => random.below(2) === 0)

/** A valid Deployment with few distinct values, so that managers share fields. */
function randomConfig(random: Random, names: readonly string[]) {
  const container = (name: string) => ({
    name,
    image: pick(random, ['x:1', 'x:2']),
    args: [pick(random, ['-a', '-b'])],
    env: some(random, ['A', 'B', 'C']).map((key) => ({ name: key, value: pick(random, ['1', '2']) })),
    ports: some(random, [80, 81]).map((containerPort) => ({ containerPort, protocol: pick(random, ['TCP', 'UDP']) })),
  })
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'o',
      labels: {
        own: '1',
        ...Object.fromEntries(some(random, ['l', 'm']).map((key) => [key, pick(random, ['1', '2'])])),
      },
    },
    spec: {
      ...(random.below(2) === 0 ? { replicas: random.below(3) } : {}),
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: {
          containers: [pick(random, names), ...some(random, names)]
            .filter((name, index, all) => all.indexOf(name) === index)
            .map(container),
        },
      },
    },
  }
}

const entriesOf = ({ body }: HarnessResponse): JsonObject[] => body.metadata.managedFields ?? []

test('an apply is idempotent: repeating it does not even change the resourceVersion', async () => {
  await using server = await startServer()
  const random = seededRandom(3)
  for (let round = 0; round < 60; round++) {
    const config = randomConfig(random, ['c', 'd'])
    const manager = pick(random, ['alice', 'bob', 'carol'])
    const first = await apply(server, `${deployments}/o`, config, manager, '&force=true')
    if (first.status === 422) continue // a manager that shares a container may be left with one without an image
    ok(first.status < 300, JSON.stringify(first.body))
    await server.clock.advance(1_500)
    const again = await apply(server, `${deployments}/o`, config, manager)
    deepEqual(again.body, first.body)
  }
})

test('managers of disjoint fields never conflict, and each owns what it applied', async () => {
  await using server = await startServer()
  const random = seededRandom(5)
  const keys = ['a', 'b', 'c', 'd', 'e', 'f']
  for (let round = 0; round < 60; round++) {
    for (const [index, manager] of ['alice', 'bob', 'carol'].entries()) {
      const own = some(random, keys.slice(index * 2, index * 2 + 2))
      const data = Object.fromEntries(own.map((key) => [key, pick(random, ['1', '2', '3'])]))
      const { status, body } = await apply(
        server,
        `${pathOf(configMap as Kind<never>)}/o`,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'o' }, ...(own.length === 0 ? {} : { data }) },
        manager,
      )
      ok(status < 300, JSON.stringify(body))
      for (const key of own) equal(body.data?.[key], data[key])
      const entry = (body.metadata.managedFields ?? []).find((each: JsonObject) => each['manager'] === manager)
      // A manager that applies nothing has no entry; a field that its only owner no longer applies is removed.
      deepEqual(
        Object.keys(entry?.fieldsV1['f:data'] ?? {}),
        own.map((key) => `f:${key}`),
      )
      const others = keys.slice(index * 2, index * 2 + 2).filter((key) => !own.includes(key))
      for (const key of others) equal(body.data?.[key], undefined)
    }
  }
})

test('every owned field exists', async () => {
  await using server = await startServer()
  const random = seededRandom(9)
  for (let round = 0; round < 60; round++) {
    const config = randomConfig(random, ['c', 'd', 'e'])
    const answer =
      random.below(3) === 0
        ? await server.call(
            'PATCH',
            `${deployments}/o?fieldManager=dave`,
            { spec: { replicas: random.below(4) } },
            { 'content-type': 'application/merge-patch+json' },
          )
        : await apply(server, `${deployments}/o`, config, pick(random, ['alice', 'bob']), '&force=true')
    if (answer.status >= 300) continue
    for (const { fieldsV1, manager } of entriesOf(answer))
      everyPathExists(fieldsV1 as JsonObject, answer.body, String(manager))
  }
})

function everyPathExists(fields: JsonObject, value: JsonValue | undefined, who: string): void {
  for (const element in fields) {
    if (element === '.') continue
    const child = childOf(element, value)
    ok(child !== undefined, `${who} owns ${element}, which is not there: ${JSON.stringify(value)}`)
    everyPathExists(fields[element] as JsonObject, child, who)
  }
}

function childOf(element: string, value: JsonValue | undefined): JsonValue | undefined {
  const rest = element.slice(2)
  if (element.startsWith('f:')) return isJsonObject(value) ? value[rest] : undefined
  if (!Array.isArray(value)) return undefined
  if (element.startsWith('v:')) return value.find((item: JsonValue) => equalValues(item, JSON.parse(rest)))
  const keys = Object.entries(JSON.parse(rest) as JsonObject)
  return value.find((item: JsonObject) => keys.every(([name, key]) => equalValues(item[name], key)))
}

test('a patch and its inverse restore the object', async () => {
  await using server = await startServer()
  const random = seededRandom(17)
  const target = `${deployments}/o`
  await apply(server, target, { ...randomConfig(random, ['c', 'd']) }, 'alice')
  const contentOf = ({ body }: HarnessResponse) => [
    body.spec,
    body.metadata.labels ?? {},
    body.metadata.annotations ?? {},
  ]
  for (let round = 0; round < 50; round++) {
    const before = await server.call('GET', target)
    const key = pick(random, ['l', 'm', 'n'])
    const old = before.body.metadata.labels?.[key]
    const replicas = random.below(5)
    const [type, forth, back] = pick(random, [
      [
        'merge',
        { metadata: { labels: { [key]: 'z' } }, spec: { replicas } },
        { metadata: { labels: { [key]: old ?? null } }, spec: { replicas: before.body.spec.replicas } },
      ],
      [
        'json',
        [{ op: 'add', path: '/spec/replicas', value: replicas }],
        [{ op: 'replace', path: '/spec/replicas', value: before.body.spec.replicas }],
      ],
      [
        'strategic-merge',
        { spec: { template: { spec: { containers: [{ name: 'new', image: 'x' }] } } } },
        { spec: { template: { spec: { containers: [{ name: 'new', $patch: 'delete' }] } } } },
      ],
    ] as const)
    const headers = { 'content-type': `application/${type}-patch+json` }
    equal((await server.call('PATCH', `${target}?fieldManager=x`, forth, headers)).status, 200)
    const after = await server.call('PATCH', `${target}?fieldManager=x`, back, headers)
    deepEqual(contentOf(after), contentOf(before))
  }
})

test('random objects and random patches cause no 5xx, except applies that do not fit the type', async () => {
  await using server = await startServer()
  const random = seededRandom(23)
  const sound: readonly [kind: Kind<never>, body: object][] = [
    [deployment as Kind<never>, randomConfig(random, ['c'])],
    [configMap as Kind<never>, { data: { a: '1' } }],
    [pod as Kind<never>, { spec: { containers: [{ name: 'c', image: 'x' }] } }],
    [service as Kind<never>, { spec: { ports: [{ port: 80 }], selector: { a: 'b' } } }],
  ]
  for (const [kind, body] of sound) {
    const made = await server.call('POST', pathOf(kind), { ...body, metadata: { name: 'o' } })
    equal(made.status, 201, JSON.stringify(made.body))
  }
  const types = ['apply-patch+yaml', 'merge-patch+json', 'strategic-merge-patch+json', 'json-patch+json']
  const broken: string[] = []
  for (let round = 0; round < 600; round++) {
    const [kind] = pick(random, sound)
    const type = pick(random, types)
    const body = type.startsWith('json') ? randomOperations(random, kind) : randomPatch(random, kind)
    const suffix = pick(random, ['', '', '', '/status', '/scale'])
    const query = type.startsWith('apply') ? 'fieldManager=f&force=true' : 'fieldManager=g'
    const answer = await server.call(
      'PATCH',
      `${pathOf(kind)}/o${suffix}?${query}&dryRun=${pick(random, ['All', ''])}`,
      body,
      {
        'content-type': `application/${type}`,
      },
    )
    // Upstream answers with 500 as well.
    const isUnfit = jsonText(answer.body).includes('failed to create typed patch object')
    if (answer.status >= 500 && !isUnfit) broken.push(`${type} ${jsonText(body)}: ${jsonText(answer.body)}`)
  }
  deepEqual(broken, [])
})

const randomPatch = (random: Random, { apiVersion, kind, message }: Kind<never>): JsonValue => {
  const body = mapValues(randomInstance(message, random) as JsonObject, (item) => strewn(item, random))
  const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {}
  return {
    ...body,
    apiVersion,
    kind,
    metadata: { ...metadata, name: 'o', namespace: 'default', managedFields: undefined as never },
  }
}

const mapValues = (object: JsonObject, change: (value: JsonValue) => JsonValue): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([name, item]) => [name, change(item ?? null)]))

/** Adds nulls and directives at random positions. */
function strewn(value: JsonValue, random: Random): JsonValue {
  if (random.below(40) === 0)
    return pick<JsonValue>(random, [null, 'x', 1, [], {}, { $patch: 'delete' }, [{ $patch: 'replace' }]])
  if (Array.isArray(value)) return value.map((item: JsonValue) => strewn(item, random))
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([name, item]): [string, JsonValue] => [
    random.below(60) === 0 ? `$setElementOrder/${name}` : name,
    strewn(item ?? null, random),
  ])
  return Object.fromEntries(entries)
}

function randomOperations(random: Random, kind: Kind<never>): JsonValue {
  const paths = [
    '/metadata',
    '/metadata/labels',
    '/metadata/labels/l',
    '/spec',
    '/spec/replicas',
    '/spec/template/spec/containers/0',
    '/spec/ports/-1',
    '/data/a',
    '',
    'x',
    '/spec/~1',
  ]
  return Array.from({ length: 1 + random.below(3) }, () => ({
    op: pick(random, ['add', 'remove', 'replace', 'move', 'copy', 'test']),
    path: pick(random, paths),
    from: pick(random, paths),
    value: strewn(randomInstance(kind.message, random), random),
  }))
}
