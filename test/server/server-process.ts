// Servers of a control plane as processes, each at its own loopback address with a member of the real etcd.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { realClock } from '../../src/base/time/clock.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { dataPath, endLeftoverEtcd } from '../../src/cluster/etcd/etcd-member.ts'
import { coxswain, startProcess, type RunningProcess } from '../process.ts'

const run = promisify(execFile)
const { signal } = new AbortController()

/** Addresses that only this process uses: the ports of etcd are fixed. */
export const addresses = [1, 2, 3].map(
  (part) => `127.${part * 64 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`,
)

export class Machine {
  readonly address: string
  readonly directory: string
  /** The version that is installed. */
  program = coxswain
  running: RunningProcess | undefined

  constructor(address: string, folder: string) {
    this.address = address
    this.directory = join(folder, address)
  }

  /** Starts the server, for the first time with --init or --join. */
  async start(...options: string[]): Promise<void> {
    const place = ['--bind', this.address, '--port', '6443', '--data-dir', this.directory]
    this.running = await startProcess(['server', ...place, ...options], { program: this.program })
  }

  get url(): string {
    return `https://${this.address}:6443`
  }

  get kubeconfig(): string {
    return join(this.directory, 'admin.kubeconfig')
  }

  /** The pid of its member of etcd. */
  get etcdPid(): number {
    return Number(readFileSync(join(this.directory, 'etcd', 'etcd.pid'), 'utf8'))
  }

  get hasData(): boolean {
    return existsSync(dataPath(join(this.directory, 'etcd')))
  }

  async end(how: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    await this.running?.end(how)
    this.running = undefined
  }

  /** As if the machine was lost: nothing runs any more, and its disk is gone. */
  async lose(): Promise<void> {
    await this.end('SIGKILL')
    await endLeftoverEtcd(join(this.directory, 'etcd'), { ...nodePlatform, clock: realClock }, signal)
    await rm(this.directory, { recursive: true, force: true })
  }

  /** Prints what a command of this machine prints. */
  async command(...args: string[]): Promise<string> {
    return (await run(this.program, [...args, '--data-dir', this.directory])).stdout
  }

  /** The error of a command that fails. */
  async failure(...args: string[]): Promise<string> {
    const { stderr } = await run(this.program, [...args, '--data-dir', this.directory]).then(
      () => {
        throw new Error(`coxswain ${args[0]} did not fail`)
      },
      (error: { readonly stderr: string }) => error,
    )
    return stderr.trim()
  }

  /** The lines of `member list` without columns that vary. */
  async members(): Promise<readonly string[]> {
    const lines = (await this.command('member', 'list')).trim().split('\n').slice(1)
    return lines.map((line) => {
      const [, endpoint = '', state = ''] = line.split(/ {3,}/)
      return `${new URL(endpoint).hostname} ${state.replace(/^(leader|follower)$/, 'votes')}`
    })
  }
}

export interface Machines extends AsyncDisposable {
  readonly machines: readonly [Machine, Machine, Machine]
}

export async function newMachines(): Promise<Machines> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-servers-'))
  const [a, b, c] = addresses.map((address) => new Machine(address, folder))
  if (a === undefined || b === undefined || c === undefined) throw new Error('there are three machines')
  const machines = [a, b, c] as const
  return {
    machines,
    async [Symbol.asyncDispose]() {
      await Promise.all(machines.map((machine) => machine.lose()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
