// How long a cluster on this machine takes to be ready, and what it uses while idle. Elapsed time is what a user waits;
// processor time is more reliable on a shared machine.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { missingContainerPrerequisites } from '../src/cluster/node/container-prerequisites.ts'
import { coxswain, newFolder, startProcess, startUpIn } from '../test/process.ts'
import type { Bench } from './bench.ts'

const rounds = 10
const settleMs = 5_000
const idleMs = 10_000
const tickMs = 10

async function processorMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}

const residentMb = async (pid: number): Promise<number> =>
  Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** Programs that start a server: that of a checkout, and that of the package, in the cache directory of a new user. */
const programs = {
  checkout: () => ({}),
  package: (folder: string) => ({
    program: fileURLToPath(new URL('../.cache/bundle/coxswain.cjs', import.meta.url)),
    env: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: folder },
  }),
}

async function startTimes(command: string, store: string, program: keyof typeof programs): Promise<string> {
  const folder = await newFolder()
  const files = ['--data-dir', join(folder, 'data'), '--kubeconfig', join(folder, 'kubeconfig')]
  const runtime = command === 'up' ? ['--runtime', 'simulated'] : []
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const args = [command, '--port', '0', '--store', store, ...files, ...runtime]
    await using running = await startProcess(args, programs[program](folder))
    times.push(Number(/ready in (\d+) ms/.exec(running.readyLine)?.[1]))
  }
  await rm(folder, { recursive: true })
  const [first, ...later] = times
  const [best, middle] = [0, Math.floor(rounds / 2)].map((index) => later.toSorted((a, b) => a - b)[index])
  return `exec → ready, ${command}, ${store}, program of the ${program}: first ${first} ms; ${rounds} further starts: ${best} ms at best, ${middle} ms in the middle`
}

async function idle(): Promise<string> {
  const folder = await newFolder()
  try {
    await using running = await startUpIn(folder)
    await sleep(settleMs)
    const before = await processorMs(running.pid)
    await sleep(idleMs)
    const share = ((await processorMs(running.pid)) - before) / idleMs
    const resident = await residentMb(running.pid)
    return `idle with one simulated node on SQLite: ${(share * 100).toFixed(1)} % of a core, ${resident.toFixed(0)} MB resident`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** As root, in its own namespaces: when the API responds, and when this machine is a node. */
async function withContainers(): Promise<string> {
  const title = 'exec → ready, SQLite, as root with containerd'
  const whyNot = missingContainerPrerequisites()
  if (whyNot !== undefined) return `${title}: not measured, ${whyNot}`
  const folder = await newFolder()
  const times: { ready: number; node: number }[] = []
  for (let round = 0; round <= rounds; round++) {
    const begin = performance.now()
    const own = ['--data-dir', join(folder, 'data'), '--cgroup-root', `/${basename(folder)}`]
    const child = spawn(
      'unshare',
      [
        ...['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
        ...['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'],
        ...[coxswain, 'up', '--port', '0', '--runtime', 'auto', ...own],
      ],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    )
    const exited = once(child, 'exit')
    let ready = NaN
    let node = NaN
    for await (const line of createInterface({ input: child.stdout })) {
      ready = Number(/^ready in (\d+) ms/.exec(line)?.[1] ?? ready)
      if (/ node \S+ runs containers with /.test(line)) node = performance.now() - begin
      if (!Number.isNaN(node) || line.includes('No real containers')) break
    }
    if (round > 0) times.push({ ready, node })
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    for (const pid of children.trim().split(' ')) process.kill(Number(pid), 'SIGTERM')
    await exited
  }
  await rm(folder, { recursive: true, force: true })
  const best = (of: 'ready' | 'node') => Math.min(...times.map((each) => each[of])).toFixed(0)
  return `${title}: ${best('ready')} ms at best; to a node that runs containers: ${best('node')} ms`
}

export const startBench: Bench = {
  name: 'start',
  run: async function* () {
    yield await startTimes('up', 'memory', 'checkout')
    yield await startTimes('up', 'sqlite', 'checkout')
    yield await startTimes('apiserver', 'sqlite', 'checkout')
    yield await startTimes('apiserver', 'sqlite', 'package')
    yield await withContainers()
    yield await idle()
  },
}
