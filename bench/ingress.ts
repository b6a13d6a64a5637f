// Our Ingress, nginx and HAProxy as reverse proxies for small responses over plain HTTP/1.1, in one run: each with one
// worker on one core, the load and the endpoint on the other. nginx and HAProxy are Debian's packages; one that is not
// installed is left out.
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectsTo } from './ingress/connects-to.ts'
import { processorMs } from './api/process-usage.ts'
import type { Bench } from './bench.ts'
import type { LoadOrder, LoadReport } from './ingress/load.ts'

const proxyCore = '0'
const loadCore = '1'
const connections = 64
const seconds = 3
const rounds = 3
/** Node.js compiles the code of the proxy while it serves these. */
const warmUpRequests = 20_000
const warmUpRoundsMax = 10

interface Proxy {
  readonly name: string
  readonly port: number
  /** Whose processor time is measured. */
  readonly pid: number
}

function pinned(child: ChildProcess, core: string): ChildProcess {
  if (availableParallelism() > 1) spawn('taskset', ['-a', '-p', '-c', core, String(child.pid)], { stdio: 'ignore' })
  return child
}

/** A module of bench/ingress, and the port that it sends. */
async function startModule(stack: DisposableStack, name: string, core: string, ...args: readonly string[]) {
  const child = pinned(fork(new URL(`ingress/${name}`, import.meta.url), [...args]), core)
  stack.defer(() => void child.kill('SIGKILL'))
  const [port] = (await once(child, 'message')) as [number]
  return { port, pid: child.pid ?? 0 }
}

/** With the settings that reverse proxies of production have: connections to the endpoint are kept, the log is off. */
const nginxConfig = (folder: string, port: number, endpointPort: number) => `
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log; user root;
events { worker_connections 4096; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  keepalive_requests 100000000;
  upstream web { server 127.0.0.1:${endpointPort}; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    server_name web.example.com;
    location / {
      proxy_pass http://web; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
      proxy_set_header X-Real-IP $remote_addr; proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Host $http_host; proxy_set_header X-Forwarded-Port $server_port;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}`

const haproxyConfig = (port: number, endpointPort: number) => `
global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option forwardfor
  http-reuse always
frontend web
  bind 127.0.0.1:${port}
  http-request set-header X-Forwarded-Host %[req.hdr(host)]
  http-request set-header X-Forwarded-Proto http
  use_backend web if { hdr(host) -i web.example.com }
backend web
  server a 127.0.0.1:${endpointPort}
`

interface OtherProxy {
  readonly name: string
  readonly packageName: string
  readonly program: string
  config(folder: string, port: number, endpointPort: number): string
  args(config: string): readonly string[]
}

const others: readonly OtherProxy[] = [
  {
    name: 'nginx',
    packageName: 'nginx-light',
    program: '/usr/sbin/nginx',
    config: nginxConfig,
    args: (config) => ['-c', config],
  },
  {
    name: 'HAProxy',
    packageName: 'haproxy',
    program: '/usr/sbin/haproxy',
    config: (_folder, port, endpointPort) => haproxyConfig(port, endpointPort),
    args: (config) => ['-f', config],
  },
]

async function startOther(
  { name, program, config, args }: OtherProxy,
  stack: DisposableStack,
  folder: string,
  endpointPort: number,
): Promise<Proxy> {
  const port = await freePort()
  const file = join(folder, name)
  await writeFile(file, config(folder, port, endpointPort))
  const child = spawn('taskset', ['-c', proxyCore, program, ...args(file)], { stdio: ['ignore', 'ignore', 'inherit'] })
  stack.defer(() => void child.kill('SIGTERM'))
  await connectsTo(port)
  const pid = child.pid ?? 0
  // The worker of nginx is a child of its own.
  const [worker = pid] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number) // prettier-ignore
  return { name, port, pid: worker }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function* run(): AsyncGenerator<string> {
  using stack = new DisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-bench-ingress-'))
  try {
    const endpoint = await startModule(stack, 'endpoint.ts', loadCore)
    const load = pinned(fork(new URL('ingress/load.ts', import.meta.url)), loadCore)
    stack.defer(() => void load.kill('SIGKILL'))
    const own = await startModule(stack, 'proxy.ts', proxyCore, String(endpoint.port))
    const proxies: Proxy[] = [{ name: 'coxswain', ...own }]
    for (const each of others)
      if (existsSync(each.program)) proxies.push(await startOther(each, stack, folder, endpoint.port))
      else yield `${each.name} is not installed: apt-get install ${each.packageName} (its service need not run)`
    yield* measured([...proxies, { name: 'the endpoint without a proxy', ...endpoint }], load)
  } finally {
    stack.dispose()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Round extends LoadReport {
  readonly micros: number
}

async function* measured(proxies: readonly Proxy[], load: ChildProcess): AsyncGenerator<string> {
  const measure = async ({ port, pid }: Proxy, forSeconds: number): Promise<Round> => {
    const before = processorMs(pid)
    load.send({ port, connections, seconds: forSeconds } satisfies LoadOrder)
    const [report] = (await once(load, 'message')) as [LoadReport]
    return { ...report, micros: ((processorMs(pid) - before) * 1_000) / report.requests }
  }
  for (const proxy of proxies)
    for (let round = 0, sent = 0; sent < warmUpRequests && round < warmUpRoundsMax; round++)
      sent += (await measure(proxy, seconds)).requests
  const results = new Map<Proxy, Round[]>(proxies.map((proxy) => [proxy, []]))
  // The proxies take turns, so that a busy moment of the machine affects all of them.
  for (let round = 0; round < rounds; round++)
    for (const [proxy, own] of results) own.push(await measure(proxy, seconds))
  const best = new Map(Array.from(results, ([{ name }, own]) => [name, bestOf(own)]))
  for (const [name, { perSecond, p50Ms, p99Ms, micros }] of best)
    yield `${name}: ${perSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, ${micros.toFixed(0)} µs of processor time a request (best of ${rounds})`
  const own = best.get('coxswain')
  for (const { name } of others) {
    const other = best.get(name)
    if (own === undefined || other === undefined) continue
    yield `coxswain relative to ${name}: ${(own.perSecond / other.perSecond).toFixed(2)} of its requests a second, ${(own.p99Ms / other.p99Ms).toFixed(2)} times its p99, ${(own.micros / other.micros).toFixed(2)} times its processor time`
  }
}

const bestOf = (all: readonly Round[]): Round => all.toSorted((a, b) => b.perSecond - a.perSecond)[0] as Round

export const ingressBench: Bench = { name: 'ingress', run }
