// Custom resources over the socket: objects with 30 fields and 10 rules, and a thousand definitions. It measures a new API
// server with the SQLite store, and next to it another one: npm run bench -- custom-resources --kubeconfig <file>.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { realClock } from '../src/base/time/clock.ts'
import { newFolder, startProcess } from '../test/process.ts'
import { accessOf, type Access } from '../test/access.ts'
import { Connection, requestText } from './api/connection.ts'
import { load } from './api/load.ts'
import { memoryMb } from './api/process-usage.ts'
import type { Bench } from './bench.ts'

const scale = Number(process.env['BENCH_SCALE'] ?? 1)
const many = (count: number): number => Math.max(1, Math.round(count * scale))
const rounds = 4
const connections = 64
const group = 'bench.example.com'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const names = Array.from({ length: 10 }, (_, index) => `f${index}`)

/** Ten strings, ten integers and ten lists, with ten rules. */
const specSchema = {
  type: 'object',
  required: ['f0s'],
  properties: Object.fromEntries(
    names.flatMap((name, index) => [
      [`${name}s`, { type: 'string', maxLength: 64, ...(index === 1 ? { default: 'x' } : {}) }],
      [`${name}i`, { type: 'integer', minimum: 0, maximum: 1000 }],
      [`${name}l`, { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 32 } }],
    ]),
  ),
  'x-kubernetes-validations': names.map((name, index) => ({
    rule:
      index % 2 === 0
        ? `!has(self.${name}i) || self.${name}i >= ${index}`
        : `!has(self.${name}l) || self.${name}l.all(x, x.startsWith('v'))`,
    message: `rule ${index}`,
  })),
}

const definition = (plural: string, kind: string, spec: object = specSchema) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural, singular: plural.slice(0, -1), kind },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
})

const object = (name: string, value = 0) => ({
  apiVersion: `${group}/v1`,
  kind: 'Widget',
  metadata: { name },
  spec: Object.fromEntries(
    names.flatMap((field) => [
      [`${field}s`, `text-${field}`],
      [`${field}i`, 10 + (value % 900)],
      [`${field}l`, ['va', 'vb', 'vc']],
    ]),
  ),
})

const path = `/apis/${group}/v1/namespaces/default/widgets`

type Rates = ReadonlyMap<string, number>

interface DefinitionTimes {
  readonly allSeconds: number
  readonly listedMs: number
}

async function need(one: Connection, method: string, target: string, body?: object): Promise<void> {
  const { status } = await one.send(requestText(method, target, body))
  if (status >= 300 && status !== 409) throw new Error(`${method} ${target} was answered with ${status}`)
}

/** Polls a path until it is served. */
async function untilServed(one: Connection, target: string): Promise<void> {
  const { signal } = new AbortController()
  for (let tries = 0; (await one.send(requestText('GET', target))).status !== 200; tries++) {
    if (tries > 20_000) throw new Error(`${target} is not served`)
    await realClock.sleep(1, signal)
  }
}

/** Aggregated discovery, as kubectl reads it. */
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const discovery = requestText('GET', '/apis', undefined, undefined, aggregated)

/** Polls discovery until it is longer than it was: until it lists one more resource. */
async function untilLonger(one: Connection, length: number): Promise<void> {
  const { signal } = new AbortController()
  for (let tries = 0; (await one.send(discovery)).bytes <= length; tries++) {
    if (tries > 20_000) throw new Error('discovery does not list the new definition')
    await realClock.sleep(1, signal)
  }
}

/** Objects of one definition: requests per second of the last round. */
async function measureObjects(access: Access): Promise<Rates> {
  const one = await Connection.open(access)
  await need(one, 'POST', definitions, definition('widgets', 'Widget'))
  await untilServed(one, path)
  one.close()
  const rates = new Map<string, number>()
  const add = async (what: string, count: number, requestOf: (round: number, index: number) => Buffer) => {
    for (let round = 0; round < rounds; round++) {
      const { perSecond } = await load(access, connections, many(count), (index) => requestOf(round, index))
      rates.set(what, perSecond)
    }
  }
  await add('create', 3_000, (round, index) => requestText('POST', path, object(`w-${round}-${index}`)))
  const get = requestText('GET', `${path}/w-0-1`)
  await add('get', 10_000, () => get)
  await add('apply', 3_000, (round, index) =>
    requestText(
      'PATCH',
      `${path}/w-0-${index}?fieldManager=bench&force=true`,
      object(`w-0-${index}`, round * 7 + index),
      'application/apply-patch+yaml',
    ),
  )
  return rates
}

async function measureDefinitions(access: Access): Promise<DefinitionTimes> {
  const one = await Connection.open(access)
  const listedMs = await listingMs(one)
  one.close()
  return { listedMs, allSeconds: await manyDefinitions(access) }
}

/** From the creation of a definition until aggregated discovery lists it: the median of five. */
async function listingMs(one: Connection): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 5; round++) {
    const plural = `listed${round}s`
    const { bytes } = await one.send(discovery)
    const begin = performance.now()
    await need(one, 'POST', definitions, definition(plural, `Listed${round}`))
    await untilLonger(one, bytes)
    times.push(performance.now() - begin)
  }
  return times.toSorted((a, b) => a - b)[2] ?? 0
}

const definitionCount = 1_000

/** Until the last of a thousand definitions is served. */
async function manyDefinitions(access: Access): Promise<number> {
  const begin = performance.now()
  const count = many(definitionCount)
  await load(access, 16, count, (index) =>
    requestText('POST', definitions, definition(`many${index}s`, `Many${index}`)),
  )
  const one = await Connection.open(access)
  for (let index = 0; index < count; index++)
    await untilServed(one, `/apis/${group}/v1/namespaces/default/many${index}s`)
  one.close()
  return (performance.now() - begin) / 1000
}

interface Figures {
  readonly rates: Rates
  readonly definitions: DefinitionTimes
}

function linesOf(own: Figures, peer?: Figures): string[] {
  const times = (factor: number, other: string) =>
    peer === undefined ? '' : `; the other server: ${other}, ${factor.toFixed(1)} times`
  const { allSeconds, listedMs } = own.definitions
  const otherAll = peer?.definitions.allSeconds ?? NaN
  const otherListed = peer?.definitions.listedMs ?? NaN
  return [
    ...[...own.rates].map(([what, rate]) => {
      const other = peer?.rates.get(what) ?? NaN
      return `${what}, ${connections} connections: ${rate.toFixed(0)}/s${times(rate / other, `${other.toFixed(0)}/s`)}`
    }),
    `${many(definitionCount)} definitions until all are served: ${allSeconds.toFixed(2)} s${times(otherAll / allSeconds, `${otherAll.toFixed(2)} s`)}`,
    `from the creation of a definition until discovery lists it: ${listedMs.toFixed(0)} ms${times(otherListed / listedMs, `${otherListed.toFixed(0)} ms`)}`,
  ]
}

export const customResourcesBench: Bench = {
  name: 'custom-resources',
  async run() {
    const folder = await newFolder()
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const start = async (name: string) => {
      const kubeconfig = join(folder, `${name}.kubeconfig`)
      const data = join(folder, name)
      const server = await startProcess(['apiserver', '--port', '0', '--data-dir', data, '--kubeconfig', kubeconfig])
      return { server: stack.use(server), access: accessOf(kubeconfig) }
    }
    const first = await start('definitions')
    const before = memoryMb(first.server.pid)
    const measured = await measureDefinitions(first.access)
    const perDefinition = ((memoryMb(first.server.pid) - before) * 1024) / many(definitionCount)
    await first.server[Symbol.asyncDispose]()
    const own = { definitions: measured, rates: await measureObjects((await start('objects')).access) }
    const flag = process.argv.indexOf('--kubeconfig')
    const given = flag < 0 ? undefined : process.argv[flag + 1]
    const peer =
      given === undefined
        ? undefined
        : {
            rates: await measureObjects(accessOf(given)),
            definitions: await measureDefinitions(accessOf(given)),
          }
    return [
      ...linesOf(own, peer),
      `resident memory: ${perDefinition.toFixed(0)} kB per definition, with what the server compiled and collected meanwhile`,
    ]
  },
}
