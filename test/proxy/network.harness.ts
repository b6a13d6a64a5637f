// The network of the tests. This namespace is the node "node-a". Other machines and pods are processes with namespaces of
// their own, connected by bridges:
//
//   pod-a1 10.244.0.2 ─┐                         ┌─ node-b 192.168.50.2 ── pod-b1 10.244.1.2
//   pod-a2 10.244.0.3 ─┴─ cni0 ─ node-a ─ lan0 ──┴─ outside 192.168.50.100
//
// IPv6 addresses have the same last part: fd01::a:2, fd01::b:2, fd50::2.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { attempt, type Attempt, type Outcome } from './attempt.ts'

export const serverPort = 8080

/** Where connections start. */
export interface Machine {
  attempt(what: Attempt): Promise<Outcome>
}

export function run(command: string): string {
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', command], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command}: ${stderr}`)
  return stdout
}

export class Agent implements Machine {
  readonly pid: number
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (outcome: Outcome) => void>()
  #lastId = 0

  constructor(child: ChildProcess) {
    this.#child = child
    this.pid = child.pid ?? 0
  }

  static async start(name: string, ports: readonly number[]): Promise<Agent> {
    const program = new URL('agent.ts', import.meta.url).pathname
    const args = ['--net', process.execPath, program, name, ...ports.map(String)]
    const agent = new Agent(spawn('unshare', args, { stdio: ['pipe', 'pipe', 'inherit'] }))
    await agent.#listen()
    return agent
  }

  attempt(what: Attempt): Promise<Outcome> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#child.stdin?.write(`${JSON.stringify({ id, what })}\n`)
    })
  }

  async #listen(): Promise<void> {
    const { stdout } = this.#child
    if (stdout === null) throw new Error('an agent has no output')
    const ready = Promise.withResolvers<void>()
    createInterface({ input: stdout }).on('line', (line) => {
      if (line === 'ready') return ready.resolve()
      const { id, outcome } = JSON.parse(line) as { id: number; outcome: Outcome }
      this.#waiting.get(id)?.(outcome)
      this.#waiting.delete(id)
    })
    await ready.promise
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL')
    if (this.#child.exitCode === null) await once(this.#child, 'close')
  }
}

export interface TestNetwork extends AsyncDisposable {
  readonly machines: Readonly<Record<'pod-a1' | 'pod-a2' | 'pod-b1' | 'node-a' | 'node-b' | 'outside', Machine>>
  /** The process ids of the namespaces, for `nsenter`. */
  readonly pids: ReadonlyMap<string, number>
}

const withoutDelay = 'sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.accept_dad=0'
const forwards = 'sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1'
/** The kernel limits the ICMP errors for each client. */
const unlimitedErrors =
  'sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv4.icmp_msgs_per_sec=100000 net.ipv6.icmp.ratelimit=0'

export async function startNetwork(): Promise<TestNetwork> {
  const agents = new Map<string, Agent>()
  await using started = new AsyncDisposableStack()
  const names = [
    ...(['pod-a1', 'pod-a2', 'pod-b1'] as const).map((name) => [name, true] as const),
    ...(['node-b', 'outside'] as const).map((name) => [name, false] as const),
  ]
  await Promise.all(
    names.map(async ([name, serves]) => {
      const agent = await Agent.start(name, serves ? [serverPort] : [])
      started.defer(() => agent.stop())
      agents.set(name, agent)
    }),
  )
  const pid = (name: string) => agents.get(name)?.pid ?? 0
  const inside = (name: string, command: string) =>
    run(`nsenter -t ${pid(name)} -n sh -ec '${withoutDelay}; ip link set lo up; ${command}'`)
  run(`${withoutDelay}; ${forwards}; ${unlimitedErrors}`)
  for (const [bridge, v4, v6] of [
    ['cni0', '10.244.0.1/24', 'fd01::a:1/112'],
    ['lan0', '192.168.50.1/24', 'fd50::1/64'],
  ])
    run(
      `ip link add ${bridge} type bridge; ip link set ${bridge} up; ip addr add ${v4} dev ${bridge}; ip addr add ${v6} dev ${bridge} nodad`,
    )
  // The other end of each link is in the namespace of the machine.
  const plug = (name: string, bridge: string, more = '') => {
    run(
      `ip link add ${name} type veth peer name eth0 netns ${pid(name)}; ip link set ${name} master ${bridge} up ${more}`,
    )
  }
  const address = (v4: string, v6: string) =>
    `ip link set eth0 up; ip addr add ${v4} dev eth0; ip addr add ${v6} dev eth0 nodad`
  for (const [name, last] of [
    ['pod-a1', '2'],
    ['pod-a2', '3'],
  ] as const) {
    plug(name, 'cni0', '; bridge link set dev ' + name + ' hairpin on')
    inside(
      name,
      `${address(`10.244.0.${last}/24`, `fd01::a:${last}/112`)}; ip route add default via 10.244.0.1; ip route add default via fd01::a:1`,
    )
  }
  // The bridge is a switch: it may send a translated packet back to the port from which it came.
  for (const name of ['node-b', 'outside']) plug(name, 'lan0', `; bridge link set dev ${name} hairpin on`)
  inside('node-b', `${forwards}; ${address('192.168.50.2/24', 'fd50::2/64')}`)
  inside('outside', address('192.168.50.100/24', 'fd50::100/64'))
  // The link of the pod on the other node.
  run(`nsenter -t ${pid('node-b')} -n ip link add pod-b1 type veth peer name eth0 netns ${pid('pod-b1')}`)
  inside(
    'node-b',
    'ip link set pod-b1 up; ip addr add 10.244.1.1/24 dev pod-b1; ip addr add fd01::b:1/112 dev pod-b1 nodad',
  )
  inside(
    'pod-b1',
    `${address('10.244.1.2/24', 'fd01::b:2/112')}; ip route add default via 10.244.1.1; ip route add default via fd01::b:1`,
  )
  // Pods of the other node are routed; everything else, addresses of Services too, has a default route.
  run('ip route add 10.244.1.0/24 via 192.168.50.2; ip route add fd01::b:0/112 via fd50::2')
  run('ip route add default via 192.168.50.254; ip route add default via fd50::254')
  for (const name of ['node-b', 'outside'])
    inside(name, 'ip route add default via 192.168.50.1; ip route add default via fd50::1')
  inside('node-b', 'ip route add 10.244.0.0/24 via 192.168.50.1; ip route add fd01::a:0/112 via fd50::1')
  const all = started.move()
  const machines = { ...Object.fromEntries(agents), 'node-a': { attempt } } as TestNetwork['machines']
  return {
    machines,
    pids: new Map(Array.from(agents, ([name, agent]) => [name, agent.pid])),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
