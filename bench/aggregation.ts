// A GET that the API server forwards to an extension server: a new API server of ours, and any other one in the same run,
// alternately: npm run bench -- aggregation [--kubeconfig <file> --pid <process of its API server>].
import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { newFolder, startProcess } from '../test/process.ts'
import { until } from '../test/until.ts'
import { benchGroup } from './aggregation/names.ts'
import { accessOf, type Access } from '../test/access.ts'
import { Connection, requestText } from './api/connection.ts'
import { load } from './api/load.ts'
import { processorMs } from './api/process-usage.ts'
import type { Bench } from './bench.ts'

const connections = 64
const requests = Math.round(10_000 * Number(process.env['BENCH_SCALE'] ?? 1))
const rounds = 5
const path = `/apis/${benchGroup}/v1/namespaces/default/flowers/rose`
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices'
const services = '/api/v1/namespaces/default/services'

interface Server {
  readonly name: string
  readonly access: Access
  readonly pid: number
  readonly rates: number[]
  readonly micros: number[]
}

interface ExtensionAddress {
  readonly port: number
  readonly authority: string
}

async function startExtension(stack: AsyncDisposableStack): Promise<ExtensionAddress> {
  const script = fileURLToPath(new URL('aggregation/extension.ts', import.meta.url))
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  stack.defer(() => void child.kill())
  for await (const line of createInterface(child.stdout)) return JSON.parse(line) as ExtensionAddress
  throw new Error('the extension server has not started')
}

async function register({ access }: Server, { port, authority }: ExtensionAddress): Promise<void> {
  const one = await Connection.open(access)
  await one.send(
    requestText('POST', services, {
      metadata: { name: 'bench' },
      spec: { type: 'ExternalName', externalName: '127.0.0.1' },
    }),
  )
  await one.send(requestText('DELETE', `${apiServices}/v1.${benchGroup}`))
  await one.send(
    requestText('POST', apiServices, {
      metadata: { name: `v1.${benchGroup}` },
      spec: {
        group: benchGroup,
        version: 'v1',
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        service: { name: 'bench', namespace: 'default', port },
        caBundle: Buffer.from(authority).toString('base64'),
      },
    }),
  )
  await until(async () => (await one.send(requestText('GET', path))).status === 200)
  one.close()
}

async function measure({ access, pid, rates, micros }: Server): Promise<void> {
  const get = requestText('GET', path)
  const before = processorMs(pid)
  const { perSecond } = await load(access, connections, requests, () => get)
  rates.push(perSecond)
  micros.push(((processorMs(pid) - before) * 1000) / requests)
}

const best = ({ name, rates, micros }: Server): string =>
  `${name}: ${Math.max(...rates).toFixed(0)}/s, ${Math.min(...micros).toFixed(0)} µs of the API server's processor time each`

export const aggregationBench: Bench = {
  name: 'aggregation',
  async run() {
    await using stack = new AsyncDisposableStack()
    const folder = await newFolder()
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const kubeconfig = join(folder, 'kubeconfig')
    const data = join(folder, 'data')
    const own = stack.use(
      await startProcess(['apiserver', '--port', '0', '--data-dir', data, '--kubeconfig', kubeconfig]),
    )
    const serverOf = (name: string, file: string, pid: number): Server => ({
      name,
      access: accessOf(file),
      pid,
      rates: [],
      micros: [],
    })
    const argument = (name: string) => process.argv[process.argv.indexOf(name) + 1]
    const other = process.argv.includes('--kubeconfig') ? argument('--kubeconfig') : undefined
    const servers = [
      serverOf('Coxswain', kubeconfig, own.pid),
      ...(other === undefined ? [] : [serverOf('the other server', other, Number(argument('--pid')))]),
    ]
    const extension = await startExtension(stack)
    for (const server of servers) await register(server, extension)
    for (let round = 0; round < rounds; round++) for (const server of servers) await measure(server)
    return [`GET through an extension server, ${connections} connections, best of ${rounds}:`, ...servers.map(best)]
  },
}
