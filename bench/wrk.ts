// CPU time per request and latency of the API server as wrk sees them, alone, beside another checkout of this project, or beside
// itself without the TLS thread: both are measured in turns in one run, so that they share what else the machine does.
//
//   npm run bench -- wrk [--other <folder of another checkout> | --without-tls-thread] [--rounds 3] [--seconds 8] [--connections 64]
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { kubectls, runKubectl, type Kubectl } from '../test/kubectl.ts'
import { coxswain, newFolder, startProcess } from '../test/process.ts'
import { accessOf } from '../test/access.ts'
import { processorMs } from './api/process-usage.ts'
import { samplePod } from './api/sample-pod.ts'
import type { Bench } from './bench.ts'

const run = promisify(execFile)

const optionOf = (name: string): string | undefined => {
  const place = process.argv.indexOf(name)
  return place < 0 ? undefined : process.argv[place + 1]
}

const rounds = Number(optionOf('--rounds') ?? 3)
const seconds = Number(optionOf('--seconds') ?? 8)
const connections = optionOf('--connections') ?? '64'
const warmUpSeconds = 2

const namespace = 'bench'
const configMap = { metadata: { name: 'NAME' }, data: { mode: 'production', size: 'small' } }

/** NAME in a body becomes a new name. */
const loads: readonly { readonly name: string; readonly path: string; readonly body?: object }[] = [
  { name: 'GET', path: 'configmaps/stored' },
  { name: 'create ConfigMap', path: 'configmaps', body: configMap },
  { name: 'create Pod', path: 'pods', body: samplePod('NAME') },
]

/** A Lua script of wrk. Headers of a request replace those of the command line. */
const scriptOf = (path: string, body: object | undefined): string => `
local prefix = tostring({}):sub(-8) .. "-" .. os.time()
local count = 0
local token
function init() token = wrk.headers["Authorization"] end
function request()
  local path = "/api/v1/namespaces/${namespace}/${path}"
  if ${body === undefined} then return wrk.format("GET", path) end
  count = count + 1
  local body = ${JSON.stringify(JSON.stringify(body ?? {}))}
  body = body:gsub("NAME", prefix .. "-" .. count)
  return wrk.format("POST", path, { ["Content-Type"] = "application/json", ["Authorization"] = token }, body)
end
function done(summary, latency)
  local errors = summary.errors
  print(string.format("measured %d %d %d", summary.requests, errors.status + errors.read + errors.write + errors.timeout,
    latency:percentile(99)))
end
`

interface Figures {
  readonly micros: number
  readonly perSecond: number
  readonly p99Ms: number
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN

interface Variant {
  readonly program: string
  readonly env: NodeJS.ProcessEnv
}

/** What is compared, ours first. */
function variants(): readonly Variant[] {
  const own = { program: coxswain, env: process.env }
  const other = optionOf('--other')
  if (other !== undefined) return [own, { ...own, program: join(other, 'bin/coxswain') }]
  if (!process.argv.includes('--without-tls-thread')) return [own]
  return [own, { ...own, env: { ...process.env, COXSWAIN_TLS_THREAD: '0' } }]
}

/** The figures of each load, of a new server. */
async function measure(variant: Variant): Promise<readonly Figures[]> {
  const folder = await newFolder()
  const kubeconfig = join(folder, 'kubeconfig')
  const data = ['--store', 'sqlite', '--data-dir', join(folder, 'data')]
  const server = await startProcess(['apiserver', '--port', '0', ...data, '--kubeconfig', kubeconfig], variant)
  try {
    const kubectl = async (...args: string[]) => {
      const { code, out, err } = await runKubectl(kubectls().at(-1) as Kubectl, kubeconfig, args)
      if (code !== 0) throw new Error(err)
      return out.trim()
    }
    await kubectl('create', 'namespace', namespace)
    for (const account of ['default', 'load']) await kubectl('create', 'serviceaccount', account, '-n', namespace)
    await kubectl('create', 'configmap', 'stored', '-n', namespace, '--from-literal=mode=production')
    const role = ['--clusterrole=edit', `--serviceaccount=${namespace}:load`]
    await kubectl('create', 'rolebinding', 'load', '-n', namespace, ...role)
    const token = await kubectl('create', 'token', 'load', '-n', namespace)
    const { host, port } = accessOf(kubeconfig)
    const figures: Figures[] = []
    for (const { path, body } of loads) {
      const script = join(folder, 'load.lua')
      await writeFile(script, scriptOf(path, body))
      const load = (duration: number) =>
        run('wrk', [
          ...['-t', '1', '-c', connections, '-d', `${duration}s`, '-s', script, '--timeout', '30s'],
          ...['-H', `Authorization: Bearer ${token}`, `https://${host}:${port}`],
        ])
      await load(warmUpSeconds)
      const beforeMs = processorMs(server.pid)
      const { stdout } = await load(seconds)
      const usedMs = processorMs(server.pid) - beforeMs
      const [requests = 0, failed = 0, p99 = 0] = /measured (\d+) (\d+) (\d+)/.exec(stdout)?.slice(1).map(Number) ?? []
      if (failed > 0 || requests === 0) throw new Error(stdout)
      figures.push({ micros: (usedMs * 1000) / requests, perSecond: requests / seconds, p99Ms: p99 / 1000 })
    }
    return figures
  } finally {
    await server.end()
    await rm(folder, { recursive: true })
  }
}

const shown = (all: readonly Figures[]): string =>
  [
    `${median(all.map(({ micros }) => micros)).toFixed(0)} µs of CPU`,
    `${median(all.map(({ perSecond }) => perSecond)).toFixed(0)}/s`,
    `p99 ${median(all.map(({ p99Ms }) => p99Ms)).toFixed(1)} ms`,
  ].join(', ')

export const wrkBench: Bench = {
  name: 'wrk',
  async run() {
    const compared = variants()
    const measured: (readonly Figures[])[][] = compared.map(() => [])
    for (let round = 0; round < rounds; round++)
      for (const [at, variant] of compared.entries()) measured[at]?.push(await measure(variant))
    return loads.flatMap(({ name }, load) => {
      const of = measured.map((each) => each.map((figures) => figures[load] as Figures))
      const [own = [], other] = of
      const lines = [`${name}: ${shown(own)}`]
      if (other === undefined) return lines
      const ratio = median(other.map(({ micros }) => micros)) / median(own.map(({ micros }) => micros))
      return [...lines, `${name}, the other: ${shown(other)}; ratio of CPU ${ratio.toFixed(2)}`]
    })
  },
}
