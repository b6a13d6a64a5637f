// Clusters of real etcd on loopback with mutual TLS, in every version that the setup found or fetched. Each member is a
// process with its own directory; both are removed with the test.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { realClock } from '../src/base/time/clock.ts'
import { systemRandom } from '../src/base/random/random.ts'
import { Authority } from '../src/pki/authority.ts'
import { nodeCrypto } from '../src/platform/node/crypto.ts'
import { nodeHttp2 } from '../src/platform/node/http/http2-client.ts'
import { statusMethod } from '../src/store/etcd/etcd-messages.ts'
import { EtcdStore, type EtcdStoreOptions } from '../src/store/etcd/etcd-store.ts'
import { GrpcChannel, noMetadata } from '../src/wire/grpc/grpc-channel.ts'
// @ts-expect-error -- plain JavaScript: it runs before the packages are there
import { etcdEnvironment, findEtcds } from '../scripts/etcd.mjs'
import { ownAddress } from './own-address.ts'
import { until } from './until.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { signal } = new AbortController()

export interface Etcd {
  readonly version: string
  readonly path: string
}

/** Every etcd version, oldest first. Without one the run fails: nothing is skipped silently. */
export function etcds(): readonly Etcd[] {
  const found = (findEtcds as (root: string) => Etcd[])(root)
  if (found.length === 0) throw new Error('there is no etcd; run: npm run setup')
  return found
}

export function newestEtcd(): Etcd {
  const newest = etcds().at(-1)
  if (newest === undefined) throw new Error('there is no etcd')
  return newest
}

const readyMsMax = 120_000
/** On the address of this process, so that no other process takes the port of a member that is down. */
let nextPort = 2379

/** Where a process runs. */
export interface Place {
  readonly address: string
  /** The command that runs a program there. */
  command(program: string, args: readonly string[]): readonly [program: string, args: readonly string[]]
}

export const here: Place = { address: ownAddress, command: (program, args) => [program, args] }

interface Member {
  readonly name: string
  readonly place: Place
  readonly client: string
  readonly peer: string
  process: ChildProcess | undefined
}

export class EtcdCluster implements AsyncDisposable {
  readonly directory: string
  readonly tls: { readonly authority: string; readonly certificate: string; readonly key: string }
  readonly #etcd: Etcd
  readonly #members: readonly Member[]

  static async start(etcd: Etcd, size: number, places: readonly Place[] = []): Promise<EtcdCluster> {
    const directory = await mkdtemp(join(tmpdir(), 'coxswain-etcd-'))
    const members = Array.from({ length: size }, (_, index) => {
      const place = places[index] ?? here
      return {
        name: `m${index}`,
        place,
        client: `https://${place.address}:${nextPort++}`,
        peer: `https://${place.address}:${nextPort++}`,
        process: undefined,
      }
    })
    const addresses = [ownAddress, ...places.map(({ address }) => address)]
    const cluster = new EtcdCluster(etcd, directory, members, await writeCertificates(directory, addresses))
    for (let index = 0; index < size; index++) cluster.run(index)
    await cluster.ready()
    return cluster
  }

  private constructor(etcd: Etcd, directory: string, members: readonly Member[], tls: EtcdCluster['tls']) {
    this.#etcd = etcd
    this.directory = directory
    this.#members = members
    this.tls = tls
  }

  get endpoints(): readonly string[] {
    return this.#members.map(({ client }) => client)
  }

  /** The processes of the members that run. */
  get pids(): readonly number[] {
    return this.#members.flatMap(({ process }) => process?.pid ?? [])
  }

  /** The members by name and address, in the format of etcd's flag. */
  get initialCluster(): string {
    return this.#members.map(({ name, peer }) => `${name}=${peer}`).join(',')
  }

  /** The files of the CA and of the client's certificate and key. */
  get files() {
    return {
      authority: join(this.directory, 'ca.crt'),
      certificate: join(this.directory, 'client.crt'),
      key: join(this.directory, 'client.key'),
    }
  }

  /** Starts a member, for the first time or again, with its data in `directory`. */
  run(index: number, directory = join(this.directory, this.#member(index).name), token = this.directory): void {
    const member = this.#member(index)
    const file = (name: string) => join(this.directory, name)
    const flags = {
      name: member.name,
      'data-dir': directory,
      'listen-client-urls': member.client,
      'advertise-client-urls': member.client,
      'listen-peer-urls': member.peer,
      'initial-advertise-peer-urls': member.peer,
      'initial-cluster': this.initialCluster,
      'initial-cluster-token': token,
      'cert-file': file('server.crt'),
      'key-file': file('server.key'),
      'trusted-ca-file': file('ca.crt'),
      'client-cert-auth': 'true',
      'peer-cert-file': file('server.crt'),
      'peer-key-file': file('server.key'),
      'peer-trusted-ca-file': file('ca.crt'),
      'peer-client-cert-auth': 'true',
      'log-level': 'error',
    }
    const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
    const [program, all] = member.place.command(this.#etcd.path, args)
    member.process = spawn(program, all, { stdio: 'ignore', env: etcdEnvironment as NodeJS.ProcessEnv })
  }

  /** Ends a member; SIGSTOP makes it hang, SIGCONT resumes it. */
  async signal(index: number, name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const member = this.#member(index)
    const child = member.process
    if (child === undefined) return
    child.kill(name)
    if (name === 'SIGSTOP' || name === 'SIGCONT') return
    member.process = undefined
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }

  /** The index of the leader. Members that are starting or electing report none. */
  async leader(): Promise<number> {
    const leads = async ({ client }: Member) => {
      const status = await this.status(client).catch(() => undefined)
      return status?.header !== undefined && status.header.memberId === status.leader
    }
    let index = -1
    await until(async () => (index = (await Promise.all(this.#members.map(leads))).indexOf(true)) >= 0)
    return index
  }

  status(endpoint: string) {
    return memberStatus(endpoint, this.tls)
  }

  openStore(options: Partial<EtcdStoreOptions> = {}): Promise<EtcdStore> {
    const deps = { http2: nodeHttp2, clock: realClock, random: systemRandom }
    return EtcdStore.open({ ...deps, endpoints: this.endpoints, tls: this.tls, ...options }, signal)
  }

  /** Resolves when one of these members serves requests. */
  async ready(endpoints = this.endpoints): Promise<void> {
    const deadlineMs = realClock.monotonicMs() + readyMsMax
    for (;;) {
      try {
        const store = await this.openStore({ endpoints })
        return await store.close()
      } catch (error) {
        if (realClock.monotonicMs() > deadlineMs) throw error
        await realClock.sleep(50, signal)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map((_, index) => this.signal(index, 'SIGKILL')))
    await rm(this.directory, { recursive: true, force: true })
  }

  #member(index: number): Member {
    const member = this.#members[index]
    if (member === undefined) throw new Error(`there is no member ${index}`)
    return member
  }
}

async function memberStatus(endpoint: string, tls: EtcdCluster['tls']) {
  const channel = new GrpcChannel({ http2: nodeHttp2, clock: realClock, endpoint, tls })
  try {
    return await channel.unary(statusMethod, {}, noMetadata, signal)
  } finally {
    channel.close()
  }
}

async function writeCertificates(directory: string, addresses: readonly string[]): Promise<EtcdCluster['tls']> {
  const authority = Authority.create('etcd-ca', { clock: realClock, random: systemRandom, crypto: nodeCrypto })
  const subject = (commonName: string) => ({ commonName, organizations: [] })
  const server = authority.issue({
    subject: subject('etcd'),
    uses: ['server', 'client'],
    addresses,
    dnsNames: ['localhost'],
  })
  const client = authority.issue({ subject: subject('coxswain'), uses: ['client'] })
  const files = {
    'ca.crt': authority.certificate,
    'server.crt': server.certificate,
    'server.key': server.key,
    'client.crt': client.certificate,
    'client.key': client.key,
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content, { mode: 0o600 })
  return { authority: authority.certificate, certificate: client.certificate, key: client.key }
}
