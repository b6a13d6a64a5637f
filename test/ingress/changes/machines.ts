// The machines of the test, which are network namespaces. The proxy is not on the node of the pods, because a node always
// reaches its own pods whatever the policies are.
//
//   client 192.168.60.100 ── this namespace: the proxy 192.168.60.1, 192.168.50.1 ── node 192.168.50.2 ── pods 10.244.0.0/24
//
// Counters of the node's kernel, before and after the rules of policies, show whether a packet was dropped.
import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

export const proxyAddress = { forClients: '192.168.60.1', forPods: '192.168.50.1' } as const
export const clientAddress = '192.168.60.100'
export const podRange = '10.244.0.0/24'

/** Does not block: the proxy is in this process. */
async function run(command: string): Promise<string> {
  return (await promisify(execFile)('sh', ['-ec', command])).stdout
}

const programAt = (name: string) => new URL(name, import.meta.url).pathname

/** A program in a namespace of its own that prints lines. It must print one before it is used. */
export class Machine implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string>

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    child.stderr.pipe(process.stderr)
  }

  static async start(command: readonly string[], setUp: (pid: number) => Promise<unknown>): Promise<Machine> {
    // The program starts when its network is set up.
    const script = 'echo up && read -r go && exec "$@"'
    const machine = new Machine(spawn('unshare', ['--net', 'sh', '-c', script, 'sh', ...command]))
    await machine.line()
    await setUp(machine.pid)
    machine.#child.stdin.write('go\n')
    return machine
  }

  static program(name: string, setUp: (pid: number) => Promise<unknown>, ...args: readonly string[]): Promise<Machine> {
    return Machine.start([process.execPath, programAt(name), ...args], setUp)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async line(): Promise<string> {
    const next = await this.#lines.next()
    if (next.done === true) throw new Error('a program of the test has ended')
    return next.value
  }

  kill(signal: 'SIGTERM'): void {
    this.#child.kill(signal)
  }

  endInput(): void {
    this.#child.stdin.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit')
  }
}

const inside = (pid: number, command: string) => run(`nsenter -t ${pid} -n sh -ec '${command}'`)

/** Each counter exists before and after the rules of policies. */
const counters = {
  /** New connections and data of the proxy. What it sends to the address of a pod that is gone is dropped. */
  proxy: `ip saddr ${proxyAddress.forPods} ip daddr @live tcp flags & (syn | psh) != 0`,
  client: `ip saddr ${clientAddress}`,
} as const

const countingRules = Object.entries({ before: -200, after: 200 })
  .flatMap(([when, priority]) => [
    `add chain inet counting ${when} { type filter hook forward priority ${priority}; }`,
    ...Object.entries(counters).flatMap(([name, packets]) => [
      `add counter inet counting ${name}-${when}`,
      `add rule inet counting ${when} ${packets} counter name ${name}-${when}`,
    ]),
  ])
  .join('\n')

/** How many packets were seen before and after the rules. */
export interface Packets {
  readonly before: number
  readonly after: number
}

export interface Node extends AsyncDisposable {
  readonly pid: number
  startPod(address: string): Promise<Machine>
  /** Must be called before the object of the pod is removed. */
  releaseAddress(address: string): Promise<void>
  packets(name: keyof typeof counters): Promise<Packets>
}

export async function startNode(): Promise<Node> {
  await run('sysctl -qw net.ipv4.ip_forward=1')
  const machine = await Machine.start(['cat'], async (pid) => {
    await run(`ip link add node0 type veth peer name eth0 netns ${pid}; ip link set node0 up`)
    await run(`ip addr add ${proxyAddress.forPods}/24 dev node0`)
    await inside(
      pid,
      `ip link set lo up; sysctl -qw net.ipv4.ip_forward=1; ip link set eth0 up; ip addr add 192.168.50.2/24 dev eth0;
       ip route add default via ${proxyAddress.forPods};
       ip link add cni0 type bridge; ip link set cni0 up; ip addr add 10.244.0.1/24 dev cni0`,
    )
    await run(`ip route add ${podRange} via 192.168.50.2; ip addr add ${proxyAddress.forClients}/32 dev lo`)
    await inside(
      pid,
      `nft -f - <<END\nadd table inet counting\nadd set inet counting live { type ipv4_addr; }\n${countingRules}\nEND`,
    )
  })
  const { pid } = machine
  const count = async (name: string) =>
    Number(/packets (\d+)/.exec(await inside(pid, `nft list counter inet counting ${name}`))?.[1])
  return {
    pid,
    async startPod(address) {
      const device = `pod${address.slice(address.lastIndexOf('.') + 1)}`
      const pod = await Machine.program('web-pod.ts', async (podPid) => {
        await inside(
          pid,
          `ip link add ${device} type veth peer name eth0 netns ${podPid}; ip link set ${device} master cni0 up`,
        )
        await inside(
          podPid,
          `ip link set lo up; ip link set eth0 up; ip addr add ${address}/24 dev eth0; ip route add default via 10.244.0.1`,
        )
      })
      await pod.line()
      await inside(pid, `nft "add element inet counting live { ${address} }"`)
      return pod
    },
    releaseAddress: async (address) =>
      void (await inside(pid, `nft "delete element inet counting live { ${address} }"`)),
    packets: async (name) => ({ before: await count(`${name}-before`), after: await count(`${name}-after`) }),
    [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
  }
}

/** Sends requests from its start. */
export async function startClient(order: string): Promise<Machine> {
  const setUp = async (pid: number) => {
    await run(
      `ip link add client0 type veth peer name eth0 netns ${pid}; ip link set client0 up; ip route add ${clientAddress} dev client0`,
    )
    await inside(
      pid,
      `ip link set lo up; ip link set eth0 up; ip addr add ${clientAddress}/24 dev eth0; ip route add default via ${proxyAddress.forClients}`,
    )
  }
  const client = await Machine.program('web-client.ts', setUp, order)
  await client.line()
  return client
}
