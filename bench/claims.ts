// Static binding: the time until 1,000 claims are Bound to 1,000 volumes. Every binder has a new API server with the SQLite
// store, or the server of --kubeconfig. Ours runs within the server's process, as in `coxswain up`, and then as a process,
// as upstream's does, which is measured next to it:
// npm run bench -- claims --kubernetes [<folder of executables>] [--kubeconfig <file>]. With COXSWAIN_LONG=1 it is also
// measured with its own limit of requests per second, which takes minutes.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openRemote } from '../src/cluster/client/remote.ts'
import { context, persistentVolume, persistentVolumeClaim, type Client } from '../src/cluster/index.ts'
import { coxswain, newFolder, startProcess } from '../test/process.ts'
import { accessOf } from '../test/access.ts'
import { requestText } from './api/connection.ts'
import { load } from './api/load.ts'
import { processorMs } from './api/process-usage.ts'
import type { Bench } from './bench.ts'
import { kubernetesExecutable, kubernetesFolder } from './kubernetes-executable.ts'

const scale = Number(process.env['BENCH_SCALE'] ?? 1)
const count = Math.max(1, Math.round(1_000 * scale))
/** Bound before the measurement: server and binder compile their code meanwhile. */
const warmUpCount = Math.ceil(count / 2)
const connections = 16

interface Binder {
  readonly name: string
  /** The command line, for the kubeconfig. Undefined: within the process of the server. */
  readonly command?: (kubeconfig: string, folder: string) => readonly string[]
}

const builtIn: Binder = { name: 'ours, in the process of coxswain up' }

const ours: Binder = {
  name: 'ours, as a process',
  command: (kubeconfig) => [coxswain, 'controller-manager', '--kubeconfig', kubeconfig],
}

const upstream = (program: string, name: string, limits: readonly string[]): Binder => ({
  name,
  command: (kubeconfig, folder) => [
    program,
    ...[
      '--kubeconfig',
      kubeconfig,
      '--authentication-kubeconfig',
      kubeconfig,
      '--authorization-kubeconfig',
      kubeconfig,
    ],
    ...['--bind-address', '127.0.0.1', '--secure-port', '0', '--cert-dir', folder],
    ...limits,
  ],
})

const optionOf = (flag: string): string | undefined =>
  process.argv.includes(flag) ? process.argv[process.argv.indexOf(flag) + 1] : undefined

function bindersMeasured(): readonly Binder[] {
  const directory = kubernetesFolder()
  const own = optionOf('--kubeconfig') === undefined ? [builtIn, ours] : [ours]
  if (directory === undefined) return own
  const program = kubernetesExecutable(directory, 'kube-controller-manager')
  const lifted = ['--kube-api-qps', '5000', '--kube-api-burst', '5000']
  return [
    ...own,
    upstream(program, 'kube-controller-manager without its limit of requests', lifted),
    ...(process.env['COXSWAIN_LONG'] === '1'
      ? [upstream(program, 'kube-controller-manager with its defaults', [])]
      : []),
  ]
}

const spec = (storageClassName: string) => ({ accessModes: ['ReadWriteOnce'], storageClassName })

const volumeOf = (run: string, index: number) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: `${run}-${index}` },
  spec: { ...spec(run), capacity: { storage: '1Gi' }, csi: { driver: 'bench', volumeHandle: `${index}` } },
})

const claimOf = (run: string, index: number) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: `${run}-${index}` },
  spec: { ...spec(run), resources: { requests: { storage: '1Gi' } } },
})

/** Watches until all objects of the run have the phase. */
async function untilAll(
  client: Client,
  kind: typeof persistentVolume | typeof persistentVolumeClaim,
  phase: string,
  run: string,
  wanted: number,
): Promise<void> {
  const closing = new AbortController()
  const done = new Set<string>()
  const options = { resourceVersion: '0' }
  for await (const event of client.of(kind as typeof persistentVolume).watch(options, context(closing.signal))) {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
    const { metadata, status } = event.object
    if (metadata.name.startsWith(`${run}-`) && status.phase === phase) done.add(metadata.name)
    if (done.size === wanted) break
  }
  closing.abort()
}

interface Figures {
  readonly seconds: number
  /** Processor time of the binder's process, or of the server with the binder. */
  readonly cpuSeconds: number
}

async function measure(kubeconfig: string, run: string, wanted: number, pid: number | undefined): Promise<Figures> {
  const access = accessOf(kubeconfig)
  await using remote = await openRemote(readFileSync(kubeconfig, 'utf8'), new AbortController().signal)
  const client = remote.clientAs('bench')
  const create = (path: string, bodyOf: (run: string, index: number) => object) =>
    load(access, connections, wanted, (index) => requestText('POST', path, bodyOf(run, index)))
  const available = untilAll(client, persistentVolume, 'Available', run, wanted)
  await Promise.all([create('/api/v1/persistentvolumes', volumeOf), available])
  const bound = untilAll(client, persistentVolumeClaim, 'Bound', run, wanted)
  const begin = performance.now()
  const cpuMs = processorMs(pid)
  await Promise.all([create('/api/v1/namespaces/default/persistentvolumeclaims', claimOf), bound])
  return { seconds: (performance.now() - begin) / 1000, cpuSeconds: (processorMs(pid) - cpuMs) / 1000 }
}

async function figuresOf(binder: Binder, index: number): Promise<Figures> {
  await using stack = new AsyncDisposableStack()
  const folder = await newFolder()
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const given = optionOf('--kubeconfig')
  const kubeconfig = given ?? join(folder, 'kubeconfig')
  const options = ['--port', '0', '--data-dir', join(folder, 'data'), '--kubeconfig', kubeconfig]
  const measured = async (pid: number | undefined) => {
    await measure(kubeconfig, `warm-up${index}`, warmUpCount, pid)
    return measure(kubeconfig, `run${index}`, count, pid)
  }
  if (binder.command === undefined)
    return await measured(stack.use(await startProcess(['up', '--runtime', 'none', ...options])).pid)
  if (given === undefined) stack.use(await startProcess(['apiserver', ...options]))
  const [program = '', ...args] = binder.command(kubeconfig, folder)
  const child = spawn(program, args, { stdio: 'ignore' })
  stack.defer(() => end(child))
  const ended = once(child, 'exit').then(([code]): never => {
    throw new Error(`${binder.name} ended with ${code} before all claims were bound`)
  })
  return await Promise.race([measured(child.pid), ended])
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'close')
  child.kill()
  await ended
}

export const claimsBench: Bench = {
  name: 'claims',
  async *run() {
    const own: number[] = []
    for (const [index, binder] of bindersMeasured().entries()) {
      const { seconds, cpuSeconds } = await figuresOf(binder, index)
      const isOwn = binder === builtIn || binder === ours
      if (isOwn) own.push(seconds)
      const ratios = own.map((each) => (seconds / each).toFixed(1)).join(' and ')
      const cpu = `CPU of the ${binder === builtIn ? 'whole server' : 'binder'} ${cpuSeconds.toFixed(2)} s`
      const figures = `${seconds.toFixed(2)} s${isOwn ? '' : `, ${ratios} times ours`}, ${cpu}`
      yield `${count.toLocaleString('en')} claims until all are Bound, ${binder.name}: ${figures}`
    }
  },
}
