// CPU time per request and latency of the API server as wrk sees them, alone, beside another checkout of this project, or beside
// itself without the TLS thread: both are measured in turns in one run, so that they share what else the machine does.
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
const warmUpSeconds = 2

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
    const target = { origin: originOf(accessOf(kubeconfig)), token, connections, folder }
    const figures: Figures[] = []
    for (const { request } of loads) {
      await runWrk(request, { ...target, seconds: warmUpSeconds })
      const beforeMs = processorMs(server.pid)
      const { requests, perSecond, p99Ms } = await runWrk(request, { ...target, seconds })
      const usedMs = processorMs(server.pid) - beforeMs
      figures.push({ micros: (usedMs * 1000) / requests, perSecond, p99Ms })
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
