// EtcdMember: a member of etcd that runs beside this process, with its data below the data directory. It is restarted
// when it exits, and stopped with this process. When this process is killed, the member keeps running; the next start ends it and
// starts its own.
import { urlHost } from '../../base/net/host-port.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Files } from '../../platform/files.ts'
import type { Processes, ProcessSignals, RunningProcess } from '../../platform/process/processes.ts'
import { endLeftover } from '../../machine/shutdown/leftover-process.ts'
import { etcdEnvironment, type EtcdExecutable } from './etcd-executable.ts'
import { parsePeerUrl, type InitialCluster, type MemberName, type PeerUrl } from './initial-cluster.ts'

const clientPort = 2379
const peerPort = 2380

export const clientUrlOf = (address: IpAddress): string => `https://${urlHost(address)}:${clientPort}`
export const peerUrlOf = (address: IpAddress): PeerUrl => parsePeerUrl(`https://${urlHost(address)}:${peerPort}`)

export interface EtcdMemberOptions {
  readonly executable: EtcdExecutable
  /** Contains the data, and the pid of the member. */
  readonly directory: string
  /** The directory of the certificates. */
  readonly pki: string
  readonly name: MemberName
  /** Where the other members and API servers reach it. */
  readonly address: IpAddress
  /** The cluster that it begins or joins. Without effect once it has data. */
  readonly initial: InitialCluster
  /** A snapshot of Raft after this many writes. */
  readonly snapshotCount?: number
}

export interface EtcdMemberDeps {
  readonly processes: Processes & ProcessSignals
  readonly files: Files
  readonly clock: Clock
  readonly log: Log
}

const stopMsMax = 15_000
const restartMsFirst = 500
const restartMsMax = 30_000
/** A member that ran longer had started well, so that the next restart is immediate again. */
const stableMs = 60_000
const lineCharactersMax = 1_000

/** As kubeadm. */
const snapshotCountDefault = 10_000

export const dataPath = (directory: string): string => `${directory}/data`
const pidPath = (directory: string): string => `${directory}/etcd.pid`
const dataArgument = (directory: string): string => `--data-dir=${dataPath(directory)}`

/** The arguments of the executable. Client certificates are required at both ports. */
export function etcdArguments(options: EtcdMemberOptions): readonly string[] {
  const { directory, pki, name, address, initial, snapshotCount = snapshotCountDefault } = options
  const client = clientUrlOf(address)
  const peer = peerUrlOf(address)
  const flags = {
    name,
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': initial.members.map((member) => `${member.name}=${member.peerUrl}`).join(','),
    'initial-cluster-state': initial.state,
    // The id of a new cluster depends on it, so that a cluster that begins again at the same address is another one.
    'initial-cluster-token': name,
    'cert-file': `${pki}/etcd/server.crt`,
    'key-file': `${pki}/etcd/server.key`,
    'trusted-ca-file': `${pki}/etcd/ca.crt`,
    'client-cert-auth': 'true',
    'peer-cert-file': `${pki}/etcd/peer.crt`,
    'peer-key-file': `${pki}/etcd/peer.key`,
    'peer-trusted-ca-file': `${pki}/etcd/ca.crt`,
    'peer-client-cert-auth': 'true',
    'snapshot-count': String(snapshotCount),
    logger: 'zap',
    'log-level': 'warn',
  }
  return [dataArgument(directory), ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)]
}

export class EtcdMember implements AsyncDisposable {
  readonly #options: EtcdMemberOptions
  readonly #deps: EtcdMemberDeps
  readonly #stopped = new AbortController()
  readonly #supervised: Promise<void>
  #process: RunningProcess
  #exits = 0
  #lastLine = ''

  /** Starts it; it serves when it has found the other members. */
  static async start(options: EtcdMemberOptions, deps: EtcdMemberDeps, signal: AbortSignal): Promise<EtcdMember> {
    const { directory } = options
    await deps.files.makeDirectory(dataPath(directory))
    await endLeftoverEtcd(directory, deps, signal)
    return new EtcdMember(options, deps)
  }

  private constructor(options: EtcdMemberOptions, deps: EtcdMemberDeps) {
    this.#options = options
    this.#deps = deps
    this.#process = this.#launch()
    this.#supervised = this.#supervise()
  }

  /** How often it has exited by itself. */
  get exits(): number {
    return this.#exits
  }

  /** What it printed last: the reason when it does not start. */
  get lastLine(): string {
    return this.#lastLine
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort()
    const timer = this.#deps.clock.after(stopMsMax, () => this.#process.kill('SIGKILL'))
    this.#process.kill('SIGTERM')
    await this.#supervised
    timer.cancel()
    await this.#deps.files.remove(pidPath(this.#options.directory))
  }

  #launch(): RunningProcess {
    const { processes, log } = this.#deps
    const { executable } = this.#options
    return processes.start(executable.path, etcdArguments(this.#options), { environment: etcdEnvironment }, (line) => {
      this.#lastLine = logText(line).slice(0, lineCharactersMax)
      log.debug('etcd', { line: this.#lastLine })
    })
  }

  async #supervise(): Promise<void> {
    const { clock, files, log } = this.#deps
    const { signal } = this.#stopped
    let waitMs = restartMsFirst
    for (;;) {
      const sinceMs = clock.monotonicMs()
      await files.write(pidPath(this.#options.directory), String(this.#process.pid))
      const code = await this.#process.ended
      if (signal.aborted) return
      this.#exits++
      if (clock.monotonicMs() - sinceMs > stableMs) waitMs = restartMsFirst
      log.warn('etcd exited and is restarted', { code, inMs: waitMs, lastLine: this.#lastLine })
      await clock.sleep(waitMs, signal).catch(() => {})
      if (signal.aborted) return
      waitMs = Math.min(waitMs * 2, restartMsMax)
      this.#process = this.#launch()
    }
  }
}

/** The message of a line of its log and its error. */
export function logText(line: string): string {
  try {
    const { msg, error } = JSON.parse(line) as { readonly msg?: unknown; readonly error?: unknown }
    if (typeof msg === 'string') return typeof error === 'string' ? `${msg}: ${error}` : msg
  } catch {
    // Messages before the log is set up are plain text.
  }
  return line
}

/** Ends a member that keeps running after its process was killed. */
export const endLeftoverEtcd = (
  directory: string,
  deps: Pick<EtcdMemberDeps, 'files' | 'processes' | 'clock'>,
  signal: AbortSignal,
): Promise<void> => endLeftover({ pidPath: pidPath(directory), argument: dataArgument(directory) }, deps, signal)
