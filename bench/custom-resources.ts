// Custom resources over the socket: objects with 30 fields and 10 rules, and a thousand definitions. It measures a new API
// server with the SQLite store, and next to it another one: npm run bench -- custom-resources --kubeconfig <file>.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { realClock } from '../src/base/time/clock.ts'
import { newFolder, startProcess } from '../test/process.ts'
import { accessOf } from './api/access.ts'
import { Connection, requestText, type Access } from './api/connection.ts'
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

interface Figures {
  readonly rates: ReadonlyMap<string, number>
  readonly definitionsSeconds: number
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

async function measure(access: Access): Promise<Figures> {
  const one = await Connection.open(access)
  await need(one, 'POST', definitions, definition('widgets', 'Widget'))
  await untilServed(one, path)
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
  const listedMs = await listingMs(one)
  const definitionsSeconds = await manyDefinitions(access, one)
  one.close()
  return { rates, definitionsSeconds, listedMs }
}

/** From the creation of a definition until aggregated discovery lists it. */
async function listingMs(one: Connection): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 5; round++) {
    const plural = `listed${round}s`
    const begin = performance.now()
    await need(one, 'POST', definitions, definition(plural, `Listed${round}`))
    await untilServed(one, `/apis/${group}/v1/namespaces/default/${plural}`)
    times.push(performance.now() - begin)
  }
  return times.toSorted((a, b) => a - b)[2] ?? 0
}

const definitionCount = 1_000

/** Until the last of a thousand definitions is served. */
async function manyDefinitions(access: Access, one: Connection): Promise<number> {
  const begin = performance.now()
  const count = many(definitionCount)
  await load(access, 16, count, (index) =>
    requestText('POST', definitions, definition(`many${index}s`, `Many${index}`)),
  )
  for (let index = 0; index < count; index++)
    await untilServed(one, `/apis/${group}/v1/namespaces/default/many${index}s`)
  return (performance.now() - begin) / 1000
}

function linesOf({ rates, definitionsSeconds, listedMs }: Figures, peer?: Figures): string[] {
  const times = (factor: number) => (peer === undefined ? '' : `, ${factor.toFixed(1)} times the other server`)
  return [
    ...[...rates].map(
      ([what, rate]) =>
        `${what}, ${connections} connections: ${rate.toFixed(0)}/s${times(rate / (peer?.rates.get(what) ?? NaN))}`,
    ),
    `${many(definitionCount)} definitions until all are served: ${definitionsSeconds.toFixed(2)} s${times((peer?.definitionsSeconds ?? NaN) / definitionsSeconds)}`,
    `from the creation of a definition until it is served: ${listedMs.toFixed(0)} ms${times((peer?.listedMs ?? NaN) / listedMs)}`,
  ]
}

export const customResourcesBench: Bench = {
  name: 'custom-resources',
  async run() {
    const folder = await newFolder()
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const kubeconfig = join(folder, 'kubeconfig')
    const data = join(folder, 'data')
    const server = stack.use(
      await startProcess(['apiserver', '--port', '0', '--data-dir', data, '--kubeconfig', kubeconfig]),
    )
    const before = memoryMb(server.pid)
    const own = await measure(accessOf(kubeconfig))
    const perDefinition = ((memoryMb(server.pid) - before) * 1024) / many(definitionCount)
    const flag = process.argv.indexOf('--kubeconfig')
    const given = flag < 0 ? undefined : process.argv[flag + 1]
    const peer = given === undefined ? undefined : await measure(accessOf(given))
    return [...linesOf(own, peer), `memory: ${perDefinition.toFixed(0)} kB per definition, objects included`]
  },
}
