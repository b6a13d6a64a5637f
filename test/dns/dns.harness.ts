// A DNS server on real sockets, with objects that a test sets, and the programs that ask it: dig and dnsmasq.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { createLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { Informers } from '../../src/client/informer/informers.ts'
import { adminUser } from '../../src/cluster/client/component-users.ts'
import { serveCluster } from '../../src/cluster/run/served-cluster.harness.ts'
import { startDns } from '../../src/cluster/node/start-dns.ts'
import { upstreamServersOf } from '../../src/dns/forwarder/upstream-servers.ts'
import { dnsMetrics } from '../../src/dns/server/dns-metrics.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import type { Client } from '../../src/client/client.ts'

export interface TestDns extends AsyncDisposable {
  readonly client: Client
  readonly address: string
  readonly metrics: Metrics
  logged(): string
  /** The output of dig, one line per record, without times to live and classes. */
  dig(...options: readonly string[]): Promise<string[]>
}

const run = promisify(execFile)

export async function startTestDns(address: string, resolvConf: string): Promise<TestDns> {
  const metrics = new Metrics()
  const tasks = new TaskGroup()
  const lines = [] as string[]
  const served = await serveCluster({ nodes: 0 })
  const client = served.cluster.client('dns', adminUser)
  const log = createLog({ clock: realClock, write: (line) => void lines.push(line), format: 'text' })
  const deps = { clock: realClock, random: systemRandom, log }
  const { synced } = await startDns(
    {
      ...deps,
      sockets: nodePlatform.sockets,
      domain: 'cluster.local',
      listen: [{ address, port: 53 }],
      informers: new Informers(client, deps, tasks),
      metrics: dnsMetrics(metrics, 'cluster.local', 53),
      upstreamServers: upstreamServersOf(resolvConf, [address]),
    },
    tasks,
  )
  await synced
  return {
    client,
    address,
    metrics,
    logged: () => lines.join(''),
    dig: (...options) => dig(address, ...options),
    async [Symbol.asyncDispose]() {
      tasks.stop()
      await tasks.join()
      await served[Symbol.asyncDispose]()
    },
  }
}

/** Without retries, so that a lost response is a failure. */
export async function dig(server: string, ...options: readonly string[]): Promise<string[]> {
  const { stdout } = await run('dig', [`@${server}`, '+tries=1', '+time=5', '+nostats', '+nocmd', ...options])
  const status = /status: (\w+)/.exec(stdout)?.[1]
  const flags = /flags: ([a-z ]*)/.exec(stdout)?.[1]?.split(' ') ?? []
  const records = stdout
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(';'))
    .map((line) => {
      const [name, , , type, ...data] = line.split(/\s+/)
      return `${name} ${type} ${data.join(' ')}`
    })
  return [
    `${status}${flags.includes('tc') ? ' truncated' : ''}${flags.includes('aa') ? ' authoritative' : ''}`,
    ...records,
  ]
}

/** A dnsmasq with only these options, which ends with the test. */
export async function startDnsmasq(address: string, ...options: readonly string[]): Promise<AsyncDisposable> {
  const fixed = ['--keep-in-foreground', '--no-hosts', '--no-resolv', '--conf-file=/dev/null', '--bind-interfaces']
  const own = ['--user=root', '--log-facility=-', '--pid-file=', `--listen-address=${address}`]
  const child = spawn('dnsmasq', [...fixed, ...own, ...options], { stdio: ['ignore', 'ignore', 'pipe'] })
  let printed = ''
  child.stderr.on('data', (bytes: Buffer) => {
    printed += bytes.toString()
  })
  while (!printed.includes('started')) {
    if (child.exitCode !== null) throw new Error(`dnsmasq ended: ${printed}`)
    await once(child.stderr, 'data')
  }
  return {
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
