// DNS queries per second and latency of one server process on one core, compared with dnsmasq in the same run; memory of
// a zone with 10,000 Services.
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { processorMs } from './api/process-usage.ts'
import type { Bench } from './bench.ts'
import type { LoadOrder, LoadReport } from './dns/load.ts'
import { fullName, serviceAddress, services } from './dns/names.ts'
import type { ServerReport } from './dns/server.ts'

const rates = [5_000, 10_000, 20_000]
const serverCore = '0'
const loadCore = '1'
const warmUpSeconds = 2
const seconds = 3
const rounds = 3
const dnsmasqPort = 15_353

/** Server and load run on separate cores, so that neither delays the other. */
function pinned(child: ChildProcess, core: string): ChildProcess {
  if (availableParallelism() > 1) spawn('taskset', ['-a', '-p', '-c', core, String(child.pid)], { stdio: 'ignore' })
  return child
}

async function request<Report>(child: ChildProcess, order: object): Promise<Report> {
  child.send(order)
  const [report] = (await once(child, 'message')) as [Report]
  return report
}

async function startDnsmasq(folder: string): Promise<ChildProcess> {
  const hosts = join(folder, 'hosts')
  const lines = Array.from({ length: services }, (_, index) => `${serviceAddress(index)} ${fullName(index)}`)
  await writeFile(hosts, lines.join('\n'))
  const options = [
    '--keep-in-foreground',
    '--no-resolv',
    '--no-hosts',
    `--addn-hosts=${hosts}`,
    '--conf-file=/dev/null',
  ]
  const own = [`--port=${dnsmasqPort}`, '--listen-address=127.0.0.1', '--bind-interfaces', '--user=root', '--pid-file=']
  const child = spawn('dnsmasq', [...options, ...own, '--log-facility=-'], { stdio: ['ignore', 'ignore', 'pipe'] })
  child.stderr?.resume()
  return child
}

interface Server {
  readonly name: string
  readonly port: number
  readonly child: ChildProcess
}

const text = ({ perSecond, p50Ms, p99Ms, p999Ms, lost }: LoadReport): string =>
  `${perSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, p99.9 ${p999Ms.toFixed(2)} ms, ${lost} lost`

const bestOf = (reports: readonly LoadReport[]): LoadReport =>
  reports.toSorted((a, b) => a.p99Ms - b.p99Ms)[0] as LoadReport

async function* measured(servers: readonly Server[], load: ChildProcess): AsyncGenerator<string> {
  const measure = ({ port }: Server, rate: number, forSeconds: number) =>
    request<LoadReport>(load, { port, rate, seconds: forSeconds } satisfies LoadOrder)
  for (const server of servers) await measure(server, 0, warmUpSeconds)
  for (const server of servers) {
    const before = processorMs(server.child.pid)
    const report = await measure(server, 0, seconds)
    const micros = ((processorMs(server.child.pid) - before) * 1000) / (report.perSecond * seconds)
    yield `${server.name}, 64 queries in flight: ${text(report)}; ${micros.toFixed(1)} µs of processor time a query`
  }
  for (const rate of rates) {
    const reports = new Map<Server, LoadReport[]>(servers.map((server) => [server, []]))
    // The servers take turns, so that a busy moment of the machine affects all of them.
    for (let round = 0; round < rounds; round++)
      for (const [server, own] of reports) own.push(await measure(server, rate, seconds))
    for (const [{ name }, own] of reports)
      yield `${name}, ${rate} queries a second, best of ${rounds}: ${text(bestOf(own))}`
  }
}

async function* run(): AsyncGenerator<string> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-bench-dns-'))
  const own = pinned(fork(new URL('dns/server.ts', import.meta.url), { execArgv: ['--expose-gc'] }), serverCore)
  const load = pinned(fork(new URL('dns/load.ts', import.meta.url)), loadCore)
  const dnsmasq = pinned(await startDnsmasq(folder), serverCore)
  const echo = pinned(fork(new URL('dns/echo.ts', import.meta.url)), serverCore)
  try {
    const [[report], [echoPort]] = (await Promise.all([once(own, 'message'), once(echo, 'message')])) as [
      [ServerReport],
      [number],
    ]
    const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MB`
    yield `${services} Services with 10 endpoints each: zone ${megabytes(report.zoneBytes)} beside ${megabytes(report.objectsBytes)} of objects; process ${megabytes(report.residentBytes)}`
    const [small, large] = report.changeMicros
    yield `a change of ten endpoints and a lookup: ${small.toFixed(1)} µs with 10 Services, ${large.toFixed(1)} µs with ${services}`
    const servers = [
      { name: 'coxswain dns', port: report.port, child: own },
      { name: 'dnsmasq', port: dnsmasqPort, child: dnsmasq },
      { name: 'a server of Node.js that returns datagrams unchanged', port: echoPort, child: echo },
    ]
    yield* measured(servers, load)
  } finally {
    for (const child of [own, load, dnsmasq, echo]) child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}

export const dnsBench: Bench = { name: 'dns', run }
