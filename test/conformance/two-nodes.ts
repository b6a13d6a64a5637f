// The cluster under test: `coxswain up` with real containers in the network namespace of this process, and a kubelet that
// joins from another one, as a second machine does. A pair of devices connects the two.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { errorText } from '../../src/base/observability/log.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { NodeCgroups } from '../../src/machine/cgroups/node-cgroups.ts'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { goodToken, joinObjects, kubeconfigWith, newest } from '../kubelet/joining.harness.ts'
import { runKubectl } from '../kubectl.ts'
import { coxswain } from '../process.ts'
import { until } from '../until.ts'
import type { ArchiveRegistry } from './archive-registry.ts'
import { run } from './command.ts'

/** Not of 192.0.2.0/24, whose addresses are those of simulated nodes. */
export const firstAddress = '198.51.100.10'
const secondAddress = '198.51.100.11'
const stopMsMax = 60_000
const readyJsonPath = '{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}'

export interface TwoNodesOptions {
  readonly images: string
  readonly registry: ArchiveRegistry
  readonly results: string
  readonly store: 'sqlite' | 'etcd'
  /** Further flags of `coxswain up`. */
  readonly up: readonly string[]
  readonly incident: (what: string) => void
}

export class TwoNodes implements AsyncDisposable {
  readonly #options: TwoNodesOptions
  readonly #folder = mkdtempSync(join(tmpdir(), 'coxswain-conformance-'))
  readonly #processes: ChildProcess[] = []
  readonly #ended = new AbortController()
  #etcd: EtcdCluster | undefined
  #isStopping = false

  private constructor(options: TwoNodesOptions) {
    this.#options = options
  }

  static async start(options: TwoNodesOptions): Promise<TwoNodes> {
    const cluster = new TwoNodes(options)
    try {
      const holder = await cluster.#connect()
      await cluster.#startFirst()
      await cluster.#join(holder)
      await until(() => cluster.#isReady())
      return cluster
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw error
    }
  }

  get kubeconfig(): string {
    return join(this.#folder, 'first', 'admin.kubeconfig')
  }

  /** Aborted when a process of the cluster ends by itself. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  async isResponding(): Promise<boolean> {
    return !this.ended.aborted && (await this.#kubectl(['get', '--raw', '/readyz'])).code === 0
  }

  /** Creates the namespaces of the second machine and connects it; returns the process that holds them. */
  async #connect(): Promise<string> {
    const holder = spawn('unshare', ['--net', '--uts', 'sleep', 'infinity'], { stdio: 'ignore' })
    this.#processes.push(holder)
    const pid = String(holder.pid)
    const own = readlinkSync('/proc/self/ns/net')
    await until(() => readlinkSync(`/proc/${pid}/ns/net`) !== own)
    // Pods in the network of the machine have its name.
    run('nsenter', ['-t', pid, '-u', 'hostname', 'second'])
    const there = ['nsenter', '-t', pid, '-n', 'ip'] as const
    ip('link', 'add', 'node0', 'type', 'veth', 'peer', 'name', 'node1', 'netns', pid)
    ip('address', 'add', `${firstAddress}/24`, 'dev', 'node0')
    ip('link', 'set', 'node0', 'up')
    run(there[0], [...there.slice(1), 'link', 'set', 'lo', 'up'])
    run(there[0], [...there.slice(1), 'address', 'add', `${secondAddress}/24`, 'dev', 'node1'])
    run(there[0], [...there.slice(1), 'link', 'set', 'node1', 'up'])
    return pid
  }

  async #startFirst(): Promise<void> {
    const data = join(this.#folder, 'first')
    const store = this.#options.store === 'etcd' ? await this.#startEtcd() : []
    const flags = ['--data-dir', data, '--port', '0', '--bind', firstAddress, ...this.#nodeFlags('first')]
    // A spec with a pod in the host's network needs port 80.
    this.#spawn('first', coxswain, [
      'up',
      '--ingress',
      'off',
      '--stop-containers',
      ...flags,
      ...store,
      ...this.#options.up,
    ])
    await until(() => this.#hasEnded() || this.isResponding())
    this.#provideImages(data)
  }

  /** Returns the flags of `coxswain up` for it. */
  async #startEtcd(): Promise<string[]> {
    this.#etcd = await EtcdCluster.start(newestEtcd(), 1)
    const { authority, certificate, key } = this.#etcd.files
    const tls = ['--etcd-cafile', authority, '--etcd-certfile', certificate, '--etcd-keyfile', key]
    return ['--store', `etcd=${this.#etcd.endpoints.join(',')}`, ...tls]
  }

  async #join(holder: string): Promise<void> {
    const { code, err } = await this.#kubectl(['apply', '-f', '-'], JSON.stringify(joinObjects()))
    if (code !== 0) throw new Error(`kubectl apply: ${err}`)
    const { server, authority } = parseKubeconfig(readFileSync(this.kubeconfig, 'utf8'))
    const bootstrap = join(this.#folder, 'bootstrap.kubeconfig')
    const token = `${goodToken.id}.${goodToken.secret}`
    writeFileSync(bootstrap, kubeconfigWith(server, authority, token), { mode: 0o600 })
    const data = join(this.#folder, 'second')
    const flags = ['--bootstrap-kubeconfig', bootstrap, '--data-dir', data]
    const kubelet = [coxswain, 'kubelet', ...flags, ...this.#nodeFlags('second')]
    this.#spawn('second', 'nsenter', ['-t', holder, '-n', '-u', ...kubelet])
    await until(async () => this.#hasEnded() || (await this.#kubectl(['get', 'node', 'second'])).code === 0)
    this.#provideImages(data)
  }

  #nodeFlags(name: string): string[] {
    return ['--runtime', 'containerd', '--cgroup-root', this.#cgroupRoot(name)]
  }

  #cgroupRoot(name: string): string {
    return `/${basename(this.#folder)}-${name}`
  }

  #provideImages(data: string): void {
    this.#options.registry.configure(join(data, 'node/containerd/registries'))
    run(coxswain, ['image', 'load', this.#options.images, '--data-dir', data])
  }

  #spawn(name: string, command: string, args: readonly string[]): void {
    const log = openSync(join(this.#options.results, `${name}-${realClock.nowMs()}.log`), 'a')
    const child = spawn(command, args, { stdio: ['ignore', log, log] })
    closeSync(log)
    child.once('exit', (code, signal) => {
      if (this.#isStopping) return
      this.#options.incident(`the process of the ${name} node ended (${signal ?? code})`)
      this.#ended.abort()
    })
    this.#processes.push(child)
  }

  #hasEnded(): boolean {
    if (this.ended.aborted) throw new Error('the cluster ended while it started; see its log')
    return false
  }

  async #isReady(): Promise<boolean> {
    this.#hasEnded()
    const { out } = await this.#kubectl(['get', 'nodes', '-o', `jsonpath=${readyJsonPath}`])
    return out === 'True\nTrue\n'
  }

  #kubectl(args: readonly string[], input = '') {
    return runKubectl(newest(), this.kubeconfig, args, { input })
  }

  /** Stops the second machine first, and removes everything that the two created. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true
    const [holder, ...nodes] = this.#processes
    for (const child of nodes.toReversed()) await this.#stop(child)
    for (const name of ['second', 'first']) await this.#attempt(() => this.#remove(name))
    if (holder !== undefined) await this.#stop(holder)
    await this.#etcd?.[Symbol.asyncDispose]()
    await this.#attempt(() => rmSync(this.#folder, { recursive: true, force: true }))
  }

  async #remove(name: string): Promise<void> {
    run(coxswain, ['reset', '--yes', '--data-dir', join(this.#folder, name)])
    await (await NodeCgroups.open()).remove(this.#cgroupRoot(name))
  }

  /** What cannot be removed is reported, because the results of the run are more important. */
  async #attempt(action: () => void | Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      this.#options.incident(`the cluster could not be removed: ${errorText(error)}`)
    }
  }

  async #stop(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    const late = realClock.after(stopMsMax, () => {
      this.#options.incident(`${child.spawnargs.join(' ')} did not stop within ${stopMsMax / 1_000} s`)
      child.kill('SIGKILL')
    })
    await exited
    late.cancel()
  }
}

const ip = (...args: readonly string[]): void => void run('ip', args)
