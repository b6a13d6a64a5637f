// What a large request needs is freed when it is done: caches that are bounded in number keep no large values.
import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  customDefinition,
  customVersion,
  define,
  definitionsPath,
  eventually,
} from '../custom-resources/custom-resource.harness.ts'
import { startServer } from '../server.harness.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** V8 keeps the shapes of objects, and with them the names of their fields, for a few collections. */
const collections = 4
const rounds = 40
const warmUpRounds = 5
/** With caches that keep such values, 15 to 35 MB. */
const keptMbMax = 6

const wideData = (round: number) =>
  Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${round}-${index}`, 'v']))
const long = (round: number): string => `${round}`.padEnd(500_000, '0')
const pods = '/api/v1/namespaces/default/pods?dryRun=All'
const podOf = (container: object) => ({
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i', ...container }] },
})
const configMaps = '/api/v1/namespaces/default/configmaps'

interface Request {
  readonly method: string
  readonly path: string
  readonly status: number
  body(round: number): object
}
const requests: Readonly<Record<string, Request>> = {
  'wide objects that are created': {
    method: 'POST',
    path: `${configMaps}?dryRun=All`,
    status: 201,
    body: (round) => ({ metadata: { name: 'new' }, data: wideData(round) }),
  },
  'wide objects that are replaced': {
    method: 'PUT',
    path: `${configMaps}/wide?dryRun=All`,
    status: 200,
    body: (round) => ({ metadata: { name: 'wide' }, data: wideData(round) }),
  },
  'long names of variables': {
    method: 'POST',
    path: pods,
    status: 201,
    body: (round) => podOf({ env: [{ name: long(round), value: '' }] }),
  },
  'long quantities': {
    method: 'POST',
    path: pods,
    status: 400,
    body: (round) => podOf({ resources: { limits: { memory: long(round) } } }),
  },
}

for (const [what, { method, path, status, body }] of Object.entries(requests))
  test(`${what} leave nothing behind`, async () => {
    await using server = await startServer()
    await server.call('POST', configMaps, { metadata: { name: 'wide' }, data: wideData(0) })
    let round = 0
    const send = async (count: number) => {
      for (let sent = 0; sent < count; sent++) equal((await server.call(method, path, body(round++))).status, status)
      for (let pass = 0; pass < collections; pass++) collect()
      return process.memoryUsage().heapUsed / (1 << 20)
    }
    const before = await send(warmUpRounds)
    const keptMb = (await send(rounds)) - before
    ok(keptMb < keptMbMax, `${keptMb.toFixed(1)} MB`)
  })

/** A schema whose compiled validation takes some memory. */
const definitionOf = (plural: string) => {
  const names = Array.from({ length: 100 }, (_, index) => `${plural}${index}`)
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 10, default: name }]))
  return customDefinition(plural, `Kind${plural}`, [customVersion('v1', { spec: { type: 'object', properties } })])
}
const definitionRounds = 60
/** The history of the definitions takes 7 MB; with caches that keep the kinds, it is 16 MB. */
const definitionsKeptMbMax = 10

test('definitions that are deleted leave nothing behind', async () => {
  await using server = await startServer()
  let round = 0
  const send = async (count: number) => {
    for (let sent = 0; sent < count; sent++) {
      const plural = `things${round++}`
      const objects = `/apis/example.com/v1/namespaces/default/${plural}`
      await define(server, definitionOf(plural))
      const object = { apiVersion: 'example.com/v1', kind: `Kind${plural}`, metadata: { name: 'a' }, spec: {} }
      const watched = server.watch(`${objects}?watch=1`, 10)
      equal((await server.call('POST', objects, object)).status, 201)
      equal((await server.call('DELETE', `${definitionsPath}/${plural}.example.com`)).status, 200)
      equal((await watched)[0]?.type, 'ADDED')
      await eventually(async () => ((await server.call('GET', objects)).status === 404 ? true : undefined))
    }
    for (let pass = 0; pass < collections; pass++) collect()
    return process.memoryUsage().heapUsed / (1 << 20)
  }
  const before = await send(warmUpRounds)
  const keptMb = (await send(definitionRounds)) - before
  ok(keptMb < definitionsKeptMbMax, `${keptMb.toFixed(1)} MB`)
})
