// Machines as network namespaces at one bridge, which this namespace is connected to, too. They can be cut off from others, and
// be made slow. Each ends with its holder, a process that only keeps the namespace.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'

/** 10.99.0.1 is this namespace. */
const addressOf = (index: number) => `10.99.0.${index + 10}`

/** Full: nothing arrives and nothing is sent. One way: what it sends arrives, and nothing arrives there. */
export type Cut = 'full' | 'one way'

export interface Machine {
  readonly address: string
  /** Runs a program there. */
  command(program: string, args: readonly string[]): readonly [program: string, args: readonly string[]]
  /** Cuts it off from these addresses, until it is healed. */
  cut(how: Cut, from: readonly string[]): Promise<void>
  /** The packets that the cut has dropped. */
  dropped(): Promise<number>
  /** What it sends waits behind a slow link, for half a second at most. */
  slow(): Promise<void>
  heal(): Promise<void>
}

const run = async (script: string): Promise<string> => (await promisify(execFile)('sh', ['-ec', script])).stdout

export class Machines implements AsyncDisposable {
  readonly #holders: ChildProcess[] = []
  readonly all: Machine[] = []

  static async start(count: number): Promise<Machines> {
    const machines = new Machines()
    try {
      await run('ip link add bridge0 type bridge && ip addr add 10.99.0.1/24 dev bridge0 && ip link set bridge0 up')
      for (let index = 0; index < count; index++) machines.all.push(await machines.#add(index))
    } catch (error) {
      await machines[Symbol.asyncDispose]()
      throw error
    }
    return machines
  }

  async #add(index: number): Promise<Machine> {
    const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo up && exec sleep infinity'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#holders.push(holder)
    await once(holder.stdout, 'data')
    const inside = ['nsenter', `--net=/proc/${holder.pid}/ns/net`] as const
    const within = (script: string) => run(`${inside.join(' ')} sh -ec '${script}'`)
    const address = addressOf(index)
    await run(
      `ip link add port${index} type veth peer name eth0 netns ${holder.pid} && ip link set port${index} master bridge0 up`,
    )
    await within(`ip link set lo up && ip addr add ${address}/24 dev eth0 && ip link set eth0 up`)
    const rule = (direction: 'input' | 'output', side: 'saddr' | 'daddr', others: readonly string[]) =>
      `nft add chain inet cut ${direction} "{ type filter hook ${direction} priority 0; }" && ` +
      `nft add rule inet cut ${direction} ip ${side} "{ ${others.join(', ')} }" counter drop`
    return {
      address,
      command: (program, args) => [inside[0], [...inside.slice(1), program, ...args]],
      async cut(how, from) {
        await within(
          ['nft add table inet cut', rule('input', 'saddr', from)]
            .concat(how === 'full' ? [rule('output', 'daddr', from)] : [])
            .join(' && '),
        )
      },
      async dropped() {
        const counters = (await within('nft list table inet cut')).matchAll(/counter packets (\d+)/g)
        return Array.from(counters, ([, packets]) => Number(packets)).reduce((sum, packets) => sum + packets, 0)
      },
      slow: async () => void (await within('tc qdisc replace dev eth0 root tbf rate 512kbit burst 4kb latency 500ms')),
      async heal() {
        await within('nft delete table inet cut 2>/dev/null || true; tc qdisc del dev eth0 root 2>/dev/null || true')
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const holder of this.#holders) {
      holder.kill('SIGKILL')
      if (holder.exitCode === null && holder.signalCode === null) await once(holder, 'exit')
    }
  }
}
