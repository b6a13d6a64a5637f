// A flood of hostile clients, half of them anonymous and half with an account that may edit one namespace, while a
// well-behaved client reads, writes and renews a lease: how long that client waits, how much memory is used, whether
// leases are renewed, and whether every acknowledged write is present afterwards. It runs against a new server and, if
// there is a directory with etcd and kube-apiserver, against that in the same run:
//
//   npm run bench -- flood [--seconds 300] [--connections 1000] [--pause-ms 10000] [--kubernetes <directory>]
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { newFolder, startUp } from '../test/process.ts'
import { accessOf } from './api/access.ts'
import type { Access } from './api/connection.ts'
import { memoryMb, processorMs } from './api/process-usage.ts'
import type { Bench } from './bench.ts'
import type { Orders } from './flood/attacker.ts'
import { behave, readyNodes, writesLost, type Seen } from './flood/calm-client.ts'
import { startKubeApiserver } from './flood/kube-apiserver.ts'
import { prepare } from './flood/prepare.ts'

const optionOf = (name: string): string | undefined => {
  const place = process.argv.indexOf(name)
  return place < 0 ? undefined : process.argv[place + 1]
}

const seconds = Number(optionOf('--seconds') ?? 60)
/** Of each half. */
const connections = Number(optionOf('--connections') ?? 1_000)
/** Between two attacks of one connection. */
const restMs = Number(optionOf('--pause-ms') ?? 10_000)
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
  const orders: Orders = { target: { host, port, ca }, token, connections, seconds, restMs }
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

async function flood({ name, access, pid }: Server): Promise<string[]> {
  const tokens = await prepare(access)
  const quiet = await behave(access, tokens.calm, quietSeconds, 'quiet')
  const beforeMs = processorMs(pid)
  let highestMb = 0
  const sampling = setInterval(() => (highestMb = Math.max(highestMb, memoryMb(pid))), memoryIntervalMs)
  const attacking = attack(access, tokens.hostile)
  const seen = await behave(access, tokens.calm, seconds, 'flooded')
  const cores = (processorMs(pid) - beforeMs) / (seconds * 1000)
  clearInterval(sampling)
  const attacks = await attacking
  const written = [...quiet.acknowledged, ...seen.acknowledged]
  const { ready, nodes } = await readyNodes(access)
  return [
    `${name}, ${connections} anonymous and ${connections} authenticated hostile connections for ${seconds} s, ${attacks} attacks`,
    `  calm client, quiet: ${shown(quiet)}`,
    `  calm client in the flood: ${shown(seen)}`,
    `  its failed requests: ${seen.failures.length}${reasons(seen)}`,
    `  its lease: renewed ${seen.renewals} times, longest interval ${(seen.longestRenewalMs / 1000).toFixed(1)} s; nodes that stayed ready: ${ready} of ${nodes}`,
    `  acknowledged writes lost: ${await writesLost(access, written)} of ${written.length}`,
    `  resident memory at most ${highestMb.toFixed(0)} MB; processors used: ${cores.toFixed(2)}`,
  ]
}

const reasons = ({ failures }: Seen): string =>
  failures.length === 0 ? '' : ` (${[...new Set(failures)].slice(0, 5).join('; ')})`

function shown({ latencies }: Seen): string {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (part: number) => `${(sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(1)} ms`
  return `${sorted.length} requests, p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, longest ${at(1)}`
}

export const floodBench: Bench = {
  name: 'flood',
  async *run() {
    {
      await using up = await startUp('--nodes', '1')
      yield* await flood({ name: 'coxswain', access: accessOf(up.kubeconfig), pid: up.pid })
    }
    const directory = optionOf('--kubernetes')
    if (directory === undefined) return
    await using other = await startKubeApiserver(directory)
    yield* await flood({ name: 'kube-apiserver', ...other })
  },
}
