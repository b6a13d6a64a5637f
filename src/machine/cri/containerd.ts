// Containerd: a private containerd whose root, state, socket and network configuration are below the data directory. It
// is started and stopped with this process; its containers keep running in between, as they do when a kubelet restarts.
import type { Clock } from '../../base/time/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Files } from '../../platform/files.ts'
import type { Http2Provider } from '../../platform/http/http2-client.ts'
import type { Processes, ProcessSignals, RunningProcess } from '../../platform/process/processes.ts'
import { buildImage, imageArchive, type Sha256 } from '../../wire/oci/oci-image.ts'
import { endLeftover } from '../shutdown/leftover-process.ts'
import { ctrAt } from './ctr.ts'
import { pauseProgram, type PauseArchitecture } from './pause-program.ts'
import { CriRuntime } from './cri-runtime.ts'
import type { Snapshotter } from './snapshotter.ts'
import { pauseImage } from './status-messages.ts'

export interface ContainerdDeps {
  readonly processes: Processes & ProcessSignals
  readonly files: Files
  readonly http2: Http2Provider
  readonly clock: Clock
  readonly log: Log
  readonly sha256: Sha256
}

export interface ContainerdOptions {
  /** Contains all files of this containerd. */
  readonly directory: string
  readonly architecture: PauseArchitecture
  /** Directory of the CNI configuration. */
  readonly networkDirectory: string
  readonly networkPluginsDirectory: string
  /** Whether OOM scores may be lowered, which requires CAP_SYS_RESOURCE. */
  readonly mayLowerOomScore: boolean
  readonly snapshotter: Snapshotter
}

const unprivilegedUid = '65535'
const readyMsMax = 30_000
const retryMs = 50
const stopMsMax = 10_000
const relaunchMs = 500

export class Containerd {
  readonly runtime: CriRuntime
  readonly socketPath: string
  readonly #launch: () => Promise<RunningProcess>
  readonly #deps: ContainerdDeps
  readonly #stopped = new AbortController()
  #process: RunningProcess

  private constructor(
    runtime: CriRuntime,
    socketPath: string,
    process: RunningProcess,
    launch: () => Promise<RunningProcess>,
    deps: ContainerdDeps,
  ) {
    this.runtime = runtime
    this.socketPath = socketPath
    this.#process = process
    this.#launch = launch
    this.#deps = deps
  }

  /**
   * Resolves when containerd responds; rejects with its last log line when it exits instead. If it exits later, it is
   * restarted.
   */
  static async start(options: ContainerdOptions, deps: ContainerdDeps, signal: AbortSignal): Promise<Containerd> {
    const { directory, networkDirectory } = options
    const { files, processes, log } = deps
    const socketPath = `${directory}/containerd.sock`
    const configPath = `${directory}/config.toml`
    for (const made of [directory, `${directory}/registries`, networkDirectory]) await files.makeDirectory(made)
    // Two daemons would corrupt the directory. Its containers keep running.
    await endLeftover({ pidPath: pidPath(directory), argument: configPath }, deps, signal)
    await files.write(configPath, configuration(options, socketPath))
    let lastLine = ''
    const launch = async () => {
      const launched = processes.start('containerd', ['--config', configPath], {}, (line) => {
        lastLine = line
        log.debug('containerd', { line })
      })
      await files.write(pidPath(directory), String(launched.pid))
      return launched
    }
    const process = await launch()
    const ended = process.ended.then((code) => {
      throw new Error(`containerd exited with ${code}: ${lastLine}`)
    })
    ended.catch(() => {}) // handled by the race below
    try {
      const runtime = await Promise.race([connected(socketPath, deps, signal), ended])
      await importPause(options, socketPath, deps, signal)
      const containerd = new Containerd(runtime, socketPath, process, launch, deps)
      void containerd.#supervise()
      return containerd
    } catch (error) {
      process.kill('SIGKILL')
      throw error
    }
  }

  /** Stops the daemon; containers keep running. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    this.runtime.close()
    const timer = this.#deps.clock.after(stopMsMax, () => this.#process.kill('SIGKILL'))
    this.#process.kill('SIGTERM')
    await this.#process.ended
    timer.cancel()
  }

  async #supervise(): Promise<void> {
    const { clock, log } = this.#deps
    const { signal } = this.#stopped
    for (;;) {
      const code = await this.#process.ended
      if (signal.aborted) return
      log.warn('containerd exited and is restarted', { code })
      await clock.sleep(relaunchMs, signal).catch(() => {})
      if (signal.aborted) return
      this.#process = await this.#launch()
    }
  }
}

const pidPath = (directory: string): string => `${directory}/containerd.pid`

async function connected(socketPath: string, deps: ContainerdDeps, signal: AbortSignal): Promise<CriRuntime> {
  const { clock } = deps
  const untilMs = clock.monotonicMs() + readyMsMax
  for (;;) {
    try {
      return await CriRuntime.connect(socketPath, deps, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (clock.monotonicMs() > untilMs)
        throw new Error(`containerd does not respond at ${socketPath}`, { cause: error })
      await clock.sleep(retryMs, signal)
    }
  }
}

/** Imports the pause image, which is built in, so no registry is needed for it. */
async function importPause(
  { directory, architecture }: ContainerdOptions,
  socketPath: string,
  { files, processes, sha256 }: ContainerdDeps,
  signal: AbortSignal,
): Promise<void> {
  const program = { path: 'pause', mode: 0o755, content: pauseProgram(architecture) }
  const image = buildImage({ architecture, files: [program], entrypoint: ['/pause'], user: unprivilegedUid }, sha256)
  const archive = `${directory}/pause.tar`
  await files.write(archive, imageArchive(image, pauseImage))
  await ctrAt(processes, socketPath)(['images', 'import', archive], signal).catch((cause: unknown) => {
    throw new Error('the pause image could not be imported', { cause })
  })
}

const configuration = (options: ContainerdOptions, socketPath: string): string => `version = 2
root = ${quoted(`${options.directory}/root`)}
state = ${quoted(`${options.directory}/state`)}

[grpc]
  address = ${quoted(socketPath)}

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${quoted(pauseImage)}
  restrict_oom_score_adj = ${!options.mayLowerOomScore}
  disable_apparmor = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${quoted(options.networkPluginsDirectory)}
    conf_dir = ${quoted(options.networkDirectory)}

  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = ${quoted(`${options.directory}/registries`)}

  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    snapshotter = ${quoted(options.snapshotter)}

    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
`

/** TOML basic strings have the same quoting as JSON. */
const quoted = (text: string): string => JSON.stringify(text)
