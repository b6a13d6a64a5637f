// What a large request needs is freed when it is done: caches that are bounded in number keep no large values.
import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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
