// A flood of hostile clients, half of them anonymous and half with an account that may edit one namespace, while a
// well-behaved client reads, writes and renews a lease: how long that client waits, how much memory is used, and
// whether every acknowledged write is present afterwards. It runs against a new server and, optionally, against another
// one in the same run:
//
//   npm run bench -- flood [--kubeconfig <file> --pid <pid>]    FLOOD_SECONDS (60), FLOOD_CONNECTIONS (1000 of each half)
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { realClock } from '../src/base/time/clock.ts'
import { newFolder, startUpIn } from '../test/process.ts'
import { accessOf } from './api/access.ts'
import type { Access } from './api/connection.ts'
import { memoryMb } from './api/process-usage.ts'
import type { Bench } from './bench.ts'
import type { Orders } from './flood/attacker.ts'
import { Client, type Answer } from './flood/client.ts'

const seconds = Number(process.env['FLOOD_SECONDS'] ?? 60)
const connections = Number(process.env['FLOOD_CONNECTIONS'] ?? 1_000)
const restMs = Number(process.env['FLOOD_REST_MS'] ?? 10_000)
const pauseMs = 20
const objectsInNamespace = 2_000
const attacker = fileURLToPath(new URL('./flood/attacker.ts', import.meta.url))
const { signal } = new AbortController()

const good = '/api/v1/namespaces/good/configmaps'
const leases = '/apis/coordination.k8s.io/v1/namespaces/good/leases'

interface Tokens {
  readonly hostile: string
  readonly calm: string
}

/** Two namespaces, each with an account that may edit it. */
async function prepare(access: Access): Promise<Tokens> {
  const admin = new Client(access)
  const account = async (namespace: string): Promise<string> => {
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
    const metadata = { name: 'editor' }
    await admin.make('/api/v1/namespaces', { metadata: { name: namespace } })
    await admin.make(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata })
    await admin.make(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } })
    // Separate rules: the built-in roles are empty where no controller aggregates them.
    await admin.make(`${rbac}/roles`, {
      metadata,
      rules: [{ apiGroups: ['', 'coordination.k8s.io'], resources: ['configmaps', 'pods', 'leases'], verbs: ['*'] }],
    })
    await admin.make(`${rbac}/rolebindings`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'editor' },
      subjects: [{ kind: 'ServiceAccount', name: 'editor', namespace }],
    })
    const tokens = `/api/v1/namespaces/${namespace}/serviceaccounts/editor/token`
    const made = await admin.make(tokens, { spec: { expirationSeconds: 7_200 } })
    return (JSON.parse(made) as { status: { token: string } }).status.token
  }
  const tokens = { hostile: await account('hostile'), calm: await account('good') }
  const data = { filling: 'x'.repeat(1_000) }
  for (let index = 0; index < objectsInNamespace; index++)
    await admin.make('/api/v1/namespaces/hostile/configmaps', { metadata: { name: `filling-${index}` }, data })
  await admin.make('/api/v1/namespaces/hostile/configmaps', { metadata: { name: 'target' } })
  admin.close()
  return tokens
}

interface Seen {
  readonly latencies: number[]
  readonly acknowledged: string[]
  readonly failures: string[]
  memoryMb: number
}

/** Reads, writes and renews a lease with one request at a time, as a controller does. */
async function behave(access: Access, token: string, until: number, pid: number, seen: Seen): Promise<void> {
  const client = new Client(access, token)
  const send = async (method: string, path: string, body?: object): Promise<Answer | undefined> => {
    const startMs = performance.now()
    const answer = await client.send(method, path, body).catch((error: Error) => error)
    seen.latencies.push(performance.now() - startMs)
    if (answer instanceof Error) seen.failures.push(`${method}: ${answer.message}`)
    else if (answer.status >= 300) seen.failures.push(`${method}: ${answer.status}`)
    return answer instanceof Error ? undefined : answer
  }
  await client.make(leases, { metadata: { name: 'calm' }, spec: { holderIdentity: 'calm' } })
  for (let round = 0; performance.now() < until; round++) {
    const name = `calm-${round}-${Math.trunc(until)}`
    const made = await send('POST', good, { metadata: { name }, data: { round: String(round) } })
    if (made?.status === 201) seen.acknowledged.push(name)
    await send('GET', `${good}/${name}`)
    const renewTime = new Date().toISOString().replace('Z', '000Z')
    await send('PUT', `${leases}/calm`, {
      metadata: { name: 'calm' },
      spec: { holderIdentity: 'calm', renewTime },
    })
    seen.memoryMb = Math.max(seen.memoryMb, memoryMb(pid))
    await realClock.sleep(pauseMs, signal)
  }
  client.close()
}

async function flood(name: string, access: Access, pid: number): Promise<string[]> {
  const tokens = await prepare(access)
  const folder = await newFolder()
  const { host, port, ca } = access
  const orders: Orders = { target: { host, port, ca }, token: tokens.hostile, connections, seconds, restMs }
  await writeFile(join(folder, 'orders.json'), JSON.stringify(orders), { mode: 0o600 })
  const quiet: Seen = { latencies: [], acknowledged: [], failures: [], memoryMb: 0 }
  await behave(access, tokens.calm, performance.now() + 5_000, pid, quiet)
  const child = spawn(process.execPath, [attacker, join(folder, 'orders.json')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const printed: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => printed.push(piece))
  const exited = once(child, 'exit')
  const seen: Seen = { latencies: [], acknowledged: [], failures: [], memoryMb: 0 }
  await behave(access, tokens.calm, performance.now() + seconds * 1000, pid, seen)
  await exited
  await rm(folder, { recursive: true })
  const lost = await lostOf(access, [...quiet.acknowledged, ...seen.acknowledged])
  const made = Object.values(JSON.parse(Buffer.concat(printed).toString()) as Record<string, number>)
  return [
    `${name}, quiet: ${shown(quiet)}`,
    `${name}, ${connections} anonymous and ${connections} authenticated hostile connections for ${seconds} s: ${shown(seen)}`,
    `${name}: ${made.reduce((sum, count) => sum + count, 0)} attacks, ${seen.failures.length} requests of the calm client failed${
      seen.failures.length === 0 ? '' : ` (${[...new Set(seen.failures)].slice(0, 5).join('; ')})`
    }, ${lost} of ${quiet.acknowledged.length + seen.acknowledged.length} acknowledged writes lost, at most ${seen.memoryMb.toFixed(0)} MB resident`,
  ]
}

function shown({ latencies }: Seen): string {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (part: number) => `${(sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(1)} ms`
  return `${sorted.length} requests, p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`
}

async function lostOf(access: Access, names: readonly string[]): Promise<number> {
  const admin = new Client(access)
  const { items } = JSON.parse((await admin.send('GET', good)).text) as { items: { metadata: { name: string } }[] }
  admin.close()
  const there = new Set(items.map(({ metadata }) => metadata.name))
  return names.filter((name) => !there.has(name)).length
}

const optionOf = (name: string): string | undefined => {
  const place = process.argv.indexOf(name)
  return place < 0 ? undefined : process.argv[place + 1]
}

export const floodBench: Bench = {
  name: 'flood',
  async *run() {
    const folder = await newFolder()
    const up = await startUpIn(folder, '--nodes', '1')
    yield* await flood('coxswain', accessOf(up.kubeconfig), up.pid)
    await up[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
    const [kubeconfig, pid] = [optionOf('--kubeconfig'), optionOf('--pid')]
    if (kubeconfig !== undefined && pid !== undefined)
      yield* await flood('the other server', accessOf(kubeconfig), Number(pid))
  },
}
