// A flood of hostile clients, half of them anonymous and half with an account that may edit one namespace, while a
// well-behaved client reads, writes and renews a lease: how long that client waits, how much memory is used, whether
// leases are renewed, and whether every acknowledged write is present afterwards. It runs against a new server and, with
// --kubernetes, against a kube-apiserver with etcd in the same run:
//
//   npm run bench -- flood [--seconds 300] [--connections 1000] [--pause-ms 10000] [--nice 10] [--kubernetes [<folder>]]
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { newFolder, startUp } from '../test/process.ts'
import { accessOf, type Access } from '../test/access.ts'
import { memoryMb, processorMs } from './api/process-usage.ts'
import type { Bench } from './bench.ts'
import type { Orders } from './flood/attacker.ts'
import { behave, readyNodes, writesLost, type Seen } from './flood/calm-client.ts'
import { startKubeApiserver } from './flood/kube-apiserver.ts'
import { prepare } from './flood/prepare.ts'
import { kubernetesExecutable, kubernetesFolder } from './kubernetes-executable.ts'

const optionOf = (name: string): string | undefined => {
  const place = process.argv.indexOf(name)
  return place < 0 ? undefined : process.argv[place + 1]
}

const seconds = Number(optionOf('--seconds') ?? 60)
/** Of each half. */
const connections = Number(optionOf('--connections') ?? 1_000)
/** Between two attacks of one connection. */
const restMs = Number(optionOf('--pause-ms') ?? 10_000)
/** Of the attackers. */
const nice = Number(optionOf('--nice') ?? 10)
const quietSeconds = 5
const memoryIntervalMs = 200
const attacker = fileURLToPath(new URL('./flood/attacker.ts', import.meta.url))

interface Server {
  readonly name: string
  readonly access: Access
  readonly pid: number
}

/** Runs the attackers in another process; returns the number of attacks. */
async function attack({ host, port, ca }: Access, token: string): Promise<number> {
  const folder = await newFolder()
  const orders: Orders = { target: { host, port, ca }, token, connections, seconds, restMs, nice }
  await writeFile(join(folder, 'orders.json'), JSON.stringify(orders), { mode: 0o600 })
  const child = spawn(process.execPath, [attacker, join(folder, 'orders.json')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const printed: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => printed.push(piece))
  await once(child, 'close')
  await rm(folder, { recursive: true })
  const made = JSON.parse(Buffer.concat(printed).toString()) as Record<string, number>
  return Object.values(made).reduce((sum, count) => sum + count, 0)
}

/** A server that has ended uses no memory. */
function memoryNowMb(pid: number): number {
  try {
    return memoryMb(pid)
  } catch {
    return 0
  }
}

interface Outcome {
  readonly name: string
  readonly attacks: number
  readonly quiet: Seen
  readonly flooded: Seen
  readonly lost: number
  readonly written: number
  readonly ready: number
  readonly nodes: number
  readonly highestMb: number
  readonly cores: number
}

async function flood({ name, access, pid }: Server): Promise<Outcome> {
  const tokens = await prepare(access)
  const quiet = await behave(access, tokens.calm, quietSeconds, 'quiet')
  const beforeMs = processorMs(pid)
  let highestMb = 0
  const sampling = setInterval(() => (highestMb = Math.max(highestMb, memoryNowMb(pid))), memoryIntervalMs)
  const attacking = attack(access, tokens.hostile)
  const flooded = await behave(access, tokens.calm, seconds, 'flooded')
  const cores = (processorMs(pid) - beforeMs) / (seconds * 1000)
  clearInterval(sampling)
  const attacks = await attacking
  const written = [...quiet.acknowledged, ...flooded.acknowledged]
  const lost = await writesLost(access, written)
  return {
    name,
    attacks,
    quiet,
    flooded,
    lost,
    written: written.length,
    highestMb,
    cores,
    ...(await readyNodes(access)),
  }
}

function latency({ latencies }: Seen, part: number): string {
  const sorted = latencies.toSorted((a, b) => a - b)
  return `${(sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(1)} ms`
}

const percentiles = (seen: Seen): string => [0.5, 0.9, 0.99, 1].map((part) => latency(seen, part)).join(', ')

const failures = ({ flooded: { failures: all } }: Outcome): string =>
  all.length === 0 ? '0' : `${all.length} (${[...new Set(all)].slice(0, 5).join('; ')})`

const rows: readonly (readonly [label: string, value: (outcome: Outcome) => string])[] = [
  ['attacks', ({ attacks }) => String(attacks)],
  ['calm client, quiet: p50, p90, p99, longest', ({ quiet }) => percentiles(quiet)],
  ['calm client in the flood: p50, p90, p99, longest', ({ flooded }) => percentiles(flooded)],
  ['its requests in the flood', ({ flooded }) => String(flooded.latencies.length)],
  ['its failed requests', failures],
  ['its lease: renewals', ({ flooded }) => String(flooded.renewals)],
  ['its lease: longest interval', ({ flooded }) => `${(flooded.longestRenewalMs / 1000).toFixed(1)} s`],
  ['nodes that stayed ready', ({ ready, nodes }) => `${ready} of ${nodes}`],
  ['acknowledged writes lost', ({ lost, written }) => `${lost} of ${written}`],
  ['resident memory at most', ({ highestMb }) => `${highestMb.toFixed(0)} MiB`],
  ['processors used', ({ cores }) => cores.toFixed(2)],
]

/** A table with a column for each server. */
const table = (outcomes: readonly Outcome[]): string[] => [
  `| | ${outcomes.map(({ name }) => name).join(' | ')} |`,
  `|---|${'---|'.repeat(outcomes.length)}`,
  ...rows.map(([label, value]) => `| ${label} | ${outcomes.map(value).join(' | ')} |`),
]

export const floodBench: Bench = {
  name: 'flood',
  async *run() {
    yield `${connections} anonymous and ${connections} authenticated hostile connections for ${seconds} s, each with a pause of ${restMs} ms between attacks, at nice ${nice}`
    const folder = kubernetesFolder()
    // Before the first measurement, so that a missing executable is reported at once.
    const executables =
      folder === undefined
        ? undefined
        : { etcd: kubernetesExecutable(folder, 'etcd'), server: kubernetesExecutable(folder, 'kube-apiserver') }
    const outcomes: Outcome[] = []
    {
      await using up = await startUp('--nodes', '1')
      outcomes.push(await flood({ name: 'coxswain', access: accessOf(up.kubeconfig), pid: up.pid }))
    }
    yield* table(outcomes)
    if (executables === undefined) return
    {
      await using other = await startKubeApiserver(executables)
      outcomes.push(await flood({ name: 'kube-apiserver', ...other }))
    }
    yield* table(outcomes)
  },
}
