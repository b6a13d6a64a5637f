// CPU time per request and latency of the API server as wrk sees them, alone, beside another checkout of this project, or beside
// itself without the TLS thread: both run at the same time and get slices of a second in turn, so that they share what else the
// machine does.
//
//   npm run bench -- wrk [--other <folder of another checkout> | --without-tls-thread] [--rounds 3] [--seconds 8] [--connections 64]
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { kubectls, runKubectl, type Kubectl } from '../test/kubectl.ts'
import { coxswain, newFolder, startProcess } from '../test/process.ts'
import { accessOf, originOf } from '../test/access.ts'
import { processorMs } from './api/process-usage.ts'
import { samplePod } from './api/sample-pod.ts'
import type { Bench } from './bench.ts'
import { runWrk, type WrkRequest } from './wrk/wrk-load.ts'

const optionOf = (name: string): string | undefined => {
  const place = process.argv.indexOf(name)
  return place < 0 ? undefined : process.argv[place + 1]
}

const rounds = Number(optionOf('--rounds') ?? 3)
const seconds = Number(optionOf('--seconds') ?? 8)
const connections = Number(optionOf('--connections') ?? 64)
const warmUpSeconds = 3
/** Other programs on the machine change how much a second of CPU does, from one second to the next. */
const sliceSeconds = 1

const namespace = 'bench'
const configMap = { metadata: { name: 'NAME' }, data: { mode: 'production', size: 'small' } }

const core = `/api/v1/namespaces/${namespace}`

const loads: readonly { readonly name: string; readonly request: WrkRequest }[] = [
  { name: 'GET', request: { method: 'GET', path: `${core}/configmaps/stored` } },
  { name: 'create ConfigMap', request: { method: 'POST', path: `${core}/configmaps`, body: configMap } },
  { name: 'create Pod', request: { method: 'POST', path: `${core}/pods`, body: samplePod('NAME') } },
]

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

interface Running extends AsyncDisposable {
  /** The figures of one slice of time. */
  measure(request: WrkRequest, seconds: number): Promise<Figures>
}

/** A new server with what the loads need. */
async function start(variant: Variant): Promise<Running> {
  const folder = await newFolder()
  const kubeconfig = join(folder, 'kubeconfig')
  const data = ['--store', 'sqlite', '--data-dir', join(folder, 'data')]
  const server = await startProcess(['apiserver', '--port', '0', ...data, '--kubeconfig', kubeconfig], variant)
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
  const target = { origin: originOf(accessOf(kubeconfig)), token, connections, folder }
  return {
    async measure(request, duration) {
      const beforeMs = processorMs(server.pid)
      const { requests, perSecond, p99Ms } = await runWrk(request, { ...target, seconds: duration })
      const usedMs = processorMs(server.pid) - beforeMs
      return { micros: (usedMs * 1000) / requests, perSecond, p99Ms }
    },
    async [Symbol.asyncDispose]() {
      await server.end()
      await rm(folder, { recursive: true })
    },
  }
}

/** The figures of each load and variant: medians of slices that alternate, so that the machine is the same for all variants. */
async function measureRound(compared: readonly Variant[]): Promise<readonly (readonly Figures[])[]> {
  await using servers = new AsyncDisposableStack()
  const running: Running[] = []
  for (const variant of compared) running.push(servers.use(await start(variant)))
  const measured: Figures[][] = []
  for (const { request } of loads) {
    for (const each of running) await each.measure(request, warmUpSeconds)
    const slices: Figures[][] = running.map(() => [])
    for (let passed = 0; passed < seconds; passed += sliceSeconds)
      for (const [at, each] of running.entries()) slices[at]?.push(await each.measure(request, sliceSeconds))
    measured.push(slices.map(middle))
  }
  return measured
}

const middle = (all: readonly Figures[]): Figures => ({
  micros: median(all.map(({ micros }) => micros)),
  perSecond: median(all.map(({ perSecond }) => perSecond)),
  p99Ms: median(all.map(({ p99Ms }) => p99Ms)),
})

function shown(all: readonly Figures[]): string {
  const { micros, perSecond, p99Ms } = middle(all)
  return `${micros.toFixed(0)} µs of CPU, ${perSecond.toFixed(0)}/s, p99 ${p99Ms.toFixed(1)} ms`
}

export const wrkBench: Bench = {
  name: 'wrk',
  async run() {
    const compared = variants()
    const measured: (readonly (readonly Figures[])[])[] = []
    for (let round = 0; round < rounds; round++) measured.push(await measureRound(compared))
    return loads.flatMap(({ name }, load) => {
      const of = compared.map((_, at) => measured.map((round) => round[load]?.[at] as Figures))
      const [own = [], other] = of
      const lines = [`${name}: ${shown(own)}`]
      if (other === undefined) return lines
      const ratios = other.map(({ micros }, round) => micros / (own[round]?.micros ?? NaN))
      const each = ratios.map((ratio) => ratio.toFixed(2)).join(' ')
      return [
        ...lines,
        `${name}, the other: ${shown(other)}; ratio of CPU ${median(ratios).toFixed(2)} (rounds: ${each})`,
      ]
    })
  },
}
