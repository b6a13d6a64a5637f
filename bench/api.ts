// The API server over its socket: creates, gets, patches, lists, watches, deletes. It measures a new API server with
// only the SQLite store, as the reference was measured, or any other server: npm run bench -- api --kubeconfig <file>.
//
// Each rate is measured warm, next to the rate of the first round: V8 compiles hot code while the server runs, which
// slows down the first ten thousand requests of each type.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { realClock } from '../src/base/time/clock.ts'
import { newFolder, startProcess } from '../test/process.ts'
import { accessOf, type Access } from '../test/access.ts'
import { Connection, requestText } from './api/connection.ts'
import { fanOut } from './api/fan-out.ts'
import { load, shown } from './api/load.ts'
import { memoryMb, processorMs } from './api/process-usage.ts'
import { samplePod } from './api/sample-pod.ts'
import type { Bench } from './bench.ts'

const namespace = 'bench'
const core = `/api/v1/namespaces/${namespace}`
const scale = Number(process.env['BENCH_SCALE'] ?? 1)
/** Rounds per rate, until the rate no longer rises. */
const rounds = 4
const many = (count: number): number => Math.max(1, Math.round(count * scale))

const configMap = (name: string) => ({ metadata: { name }, data: { a: 'b', c: 'd' } })

async function measure(access: Access, pid?: number): Promise<string[]> {
  const one = await Connection.open(access)
  const need = async (method: string, path: string, body?: object) => {
    const { status } = await one.send(requestText(method, path, body))
    if (status >= 300 && status !== 409) throw new Error(`${method} ${path} was answered with ${status}`)
  }
  const timed = async (what: () => Promise<unknown>): Promise<number> => {
    const begin = performance.now()
    await what()
    return performance.now() - begin
  }
  await need('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  await need('POST', `${core}/serviceaccounts`, { metadata: { name: 'default' } })
  const lines: string[] = []
  /** `requestOf` creates the request of a round. The last round is measured. */
  const add = async (
    what: string,
    connections: number,
    count: number,
    requestOf: (round: number, index: number) => Buffer,
  ) => {
    const rates: number[] = []
    for (let round = 0; round < rounds; round++) {
      const before = processorMs(pid)
      const measured = await load(access, connections, many(count), (index) => requestOf(round, index))
      const each = ((processorMs(pid) - before) * 1000) / many(count)
      rates.push(measured.perSecond)
      if (round < rounds - 1) continue
      const cost = pid === undefined ? '' : `; ${each.toFixed(0)} µs of the server's processor time each`
      const first = `; in the first round ${rates[0]?.toFixed(0)}/s`
      lines.push(`${shown(`${what}, ${connections} connections`, measured)}${cost}${first}`)
    }
  }
  const create = (what: string, prefix: string, make: (name: string) => object) => (round: number, index: number) =>
    requestText('POST', `${core}/${what}`, make(`${prefix}-${round}-${index}`))
  const patch =
    (query: string, type: string, make: (name: string, value: string) => object) => (round: number, index: number) => {
      const name = `many-0-${index}`
      return requestText('PATCH', `${core}/configmaps/${name}${query}`, make(name, `${round}-${index}`), type)
    }
  await add('create ConfigMaps', 64, 10_000, create('configmaps', 'many', configMap))
  await add('create ConfigMaps', 1, 2_000, create('configmaps', 'single', configMap))
  await add(
    'patch ConfigMaps',
    64,
    10_000,
    patch('', 'application/merge-patch+json', (_, value) => ({ data: { a: value } })),
  )
  await add(
    'apply ConfigMaps',
    64,
    10_000,
    patch('?fieldManager=bench', 'application/apply-patch+yaml', (name, value) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { z: value },
    })),
  ).catch((error: unknown) => lines.push(`apply ConfigMaps: ${String(error)}`))
  await add('create Pods', 64, 9_000, create('pods', 'many', samplePod))
  await add('create Pods', 1, 1_000, create('pods', 'single', samplePod))
  const get = requestText('GET', `${core}/pods/many-0-1`)
  await add('get a Pod', 64, 20_000, () => get)
  await need('DELETE', `${core}/pods?gracePeriodSeconds=0`)
  await load(access, 16, many(10_000), (index) => requestText('POST', `${core}/pods`, samplePod(`listed-${index}`)))
  for (const limit of [1_000, 10_000]) {
    const list = requestText('GET', `${core}/pods?limit=${limit}`)
    const times: number[] = []
    let bytes = 0
    for (let round = 0; round < 5; round++) times.push(await timed(async () => void ({ bytes } = await one.send(list))))
    const megabytes = (bytes / 1024 / 1024).toFixed(1)
    lines.push(
      `list ${limit} Pods (${megabytes} MB): first ${times[0]?.toFixed(0)} ms, best ${Math.min(...times).toFixed(0)} ms`,
    )
  }
  const fanned = await fanOut(access, `/api/v1/namespaces/kube-public/configmaps`, 1_000, many(200), () =>
    processorMs(pid),
  )
  const cost = pid === undefined ? '' : `; ${fanned.processorMicros.toFixed(1)} µs of the server's processor time each`
  lines.push(
    `watch: ${fanned.deliveriesPerSecond.toFixed(0)} deliveries/s to 1,000 watchers; p99 ${fanned.p99Ms.toFixed(0)} ms at a gentle pace${cost}`,
  )
  const deletedMs = await timed(() => need('DELETE', `${core}/pods?gracePeriodSeconds=0`))
  lines.push(`delete a collection of ${many(10_000)} Pods: ${deletedMs.toFixed(0)} ms`)
  one.close()
  return lines
}

export const apiBench: Bench = {
  name: 'api',
  async run() {
    const flag = process.argv.indexOf('--kubeconfig')
    const given = flag < 0 ? undefined : process.argv[flag + 1]
    if (given !== undefined) return measure(accessOf(given))
    const folder = await newFolder()
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const kubeconfig = join(folder, 'kubeconfig')
    const data = join(folder, 'data')
    const server = stack.use(
      await startProcess(['apiserver', '--port', '0', '--data-dir', data, '--kubeconfig', kubeconfig]),
    )
    await realClock.sleep(2_000, new AbortController().signal)
    const idle = `idle after the start: ${memoryMb(server.pid).toFixed(0)} MB`
    return [server.readyLine, idle, ...(await measure(accessOf(kubeconfig), server.pid))]
  },
}
