// Several API servers as processes of one cluster, on one etcd. Each has an address that no other process uses, so it finds
// its port free when it is started again.
import { cp, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { here, type EtcdCluster, type Place } from './etcd.ts'
import { coxswain, newFolder, startProcess, type RunningProcess } from './process.ts'

/** With these files a process belongs to the cluster of another. */
const sharedKeys = ['ca.crt', 'ca.key', 'front-proxy-ca.crt', 'front-proxy-ca.key', 'sa.key']

let nextPort = 6443

interface Server {
  readonly folder: string
  readonly place: Place
  readonly port: number
  process: RunningProcess | undefined
}

export class ApiServers implements AsyncDisposable {
  readonly #etcd: EtcdCluster
  readonly #servers: readonly Server[]
  readonly #flagsOf: (index: number) => readonly string[]

  static async start(
    etcd: EtcdCluster,
    size: number,
    places: readonly Place[] = [],
    flagsOf: (index: number) => readonly string[] = () => [],
  ): Promise<ApiServers> {
    const servers: Server[] = []
    for (let index = 0; index < size; index++)
      servers.push({ folder: await newFolder(), place: places[index] ?? here, port: nextPort++, process: undefined })
    const cluster = new ApiServers(etcd, servers, flagsOf)
    try {
      await cluster.run(0)
      for (const { folder } of servers.slice(1)) await cluster.#copyKeys(folder)
      await Promise.all(servers.slice(1).map((_, index) => cluster.run(index + 1)))
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw error
    }
    return cluster
  }

  private constructor(etcd: EtcdCluster, servers: readonly Server[], flagsOf: (index: number) => readonly string[]) {
    this.#etcd = etcd
    this.#servers = servers
    this.#flagsOf = flagsOf
  }

  get size(): number {
    return this.#servers.length
  }

  folder(index: number): string {
    return this.#server(index).folder
  }

  kubeconfig(index: number): string {
    return join(this.folder(index), 'kubeconfig')
  }

  /** Starts a server, for the first time or again; resolves when it is ready. */
  async run(index: number): Promise<void> {
    const server = this.#server(index)
    const { authority, certificate, key } = this.#etcd.files
    const [program, args] = server.place.command(coxswain, [
      'apiserver',
      ...['--bind', server.place.address],
      ...['--port', String(server.port)],
      ...['--data-dir', join(server.folder, 'data')],
      ...['--kubeconfig', this.kubeconfig(index)],
      ...['--store', `etcd=${this.#etcd.endpoints.join(',')}`],
      ...['--etcd-cafile', authority, '--etcd-certfile', certificate, '--etcd-keyfile', key],
      ...this.#flagsOf(index),
    ])
    server.process = await startProcess(args, { program })
  }

  async end(index: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const server = this.#server(index)
    await server.process?.end(signal)
    server.process = undefined
  }

  /** SIGSTOP makes it hang, SIGCONT resumes it. */
  signal(index: number, name: 'SIGSTOP' | 'SIGCONT'): void {
    const { process: running } = this.#server(index)
    if (running !== undefined) process.kill(running.pid, name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((_, index) => this.end(index, 'SIGKILL')))
    for (const { folder } of this.#servers) await rm(folder, { recursive: true, force: true })
  }

  async #copyKeys(folder: string): Promise<void> {
    const [from, to] = [this.folder(0), folder].map((one) => join(one, 'data', 'pki')) as [string, string]
    await mkdir(to, { recursive: true, mode: 0o700 })
    for (const file of sharedKeys) await cp(join(from, file), join(to, file))
  }

  #server(index: number): Server {
    const server = this.#servers[index]
    if (server === undefined) throw new Error(`there is no API server ${index}`)
    return server
  }
}
