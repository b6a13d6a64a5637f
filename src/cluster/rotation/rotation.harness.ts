// Servers of a cluster in virtual time: each has its own files and keys, and takes over what is published for all.
import { TaskGroup } from '../../base/async/task-group.ts'
import { createLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { AccountKeys } from '../../apiserver/authentication/account-keys.ts'
import { Authority } from '../../pki/authority.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { ServerIdentity } from '../bootstrap/server-identity.ts'
import { accountKeysIn, accountKeyText } from '../certificates/account-key-file.ts'
import type { TestCluster } from '../testing/test-cluster.ts'
import { followSharedFiles, usedVersionAnnotation } from './follow-shared-files.ts'
import { accountKeyFile } from './rotate-account-key.ts'
import type { RotateDeps } from './rotate-deps.ts'
import type { FileContents } from './shared-files.ts'

export const authorityDeps = { clock: new VirtualClock(), random: seededRandom(3), crypto: nodeCrypto }

function firstFiles(): FileContents {
  const of = (name: string) => Authority.create(name, authorityDeps).identity
  const [users, proxies] = [of('kubernetes'), of('front-proxy-ca')]
  return {
    'ca.crt': users.certificate,
    'ca.key': users.key,
    'front-proxy-ca.crt': proxies.certificate,
    'front-proxy-ca.key': proxies.key,
    [accountKeyFile]: accountKeyText({ signing: nodeCrypto.generateKey(), accepted: [] }),
  }
}

/** The files of every server before anything is rotated. */
export const initial = firstFiles()

/** A server: its lease, its files and the keys that it uses. */
export class Server implements AsyncDisposable {
  readonly identity: ServerIdentity
  readonly lines: string[] = []
  files: FileContents
  readonly keys: AccountKeys
  /** Called after files were taken over. */
  onUse: () => void = () => {}
  /** Thrown when files are taken over. */
  failure: Error | undefined
  readonly #tasks: TaskGroup

  constructor({ client, clock }: TestCluster, hostname: string, files = initial) {
    this.files = files
    this.keys = new AccountKeys(accountKeysIn(files[accountKeyFile] ?? '', nodeCrypto), nodeCrypto)
    const log = createLog({ clock, write: (line) => this.lines.push(line), format: 'text', level: 'info' })
    const deps = { client, clock, random: seededRandom(hostname.length), log, crypto: nodeCrypto }
    const place = { hostname, host: '192.0.2.1', port: 6443 }
    this.identity = new ServerIdentity(place, { [usedVersionAnnotation]: '' }, deps)
    this.#tasks = new TaskGroup({ onFailure: (_, error) => this.lines.push(String(error)) })
    this.#tasks.start('identity', (stop) => this.identity.run(stop))
    const authorityKey = () => Promise.resolve(this.files['ca.key'] ?? '')
    const own = { ...deps, identity: this.identity, authorityKey, use: (taken: FileContents) => this.#use(taken) }
    this.#tasks.start('files', (stop) => followSharedFiles(own, stop))
  }

  async #use(taken: FileContents): Promise<void> {
    await Promise.resolve()
    if (this.failure !== undefined) throw this.failure
    this.files = { ...this.files, ...taken }
    this.keys.replace(accountKeysIn(this.files[accountKeyFile] ?? '', nodeCrypto))
    this.onUse()
  }

  /** The CA as the server has it now. */
  authority(name: 'ca' | 'front-proxy-ca' = 'ca'): Authority {
    const [certificate = '', key = ''] = [this.files[`${name}.crt`], this.files[`${name}.key`]]
    return Authority.load({ certificate, key }, authorityDeps)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#tasks[Symbol.asyncDispose]()
  }
}

/** Virtual time passes until the call ends. */
export async function ended<T>({ clock }: TestCluster, call: Promise<T>): Promise<T> {
  let isDone = false
  const settled = call.finally(() => (isDone = true))
  settled.catch(() => {}) // awaited below
  await clock.runUntil(() => isDone, 120_000)
  return settled
}

/** What the command has on the machine of a server. */
export const rotation = ({ client, clock }: TestCluster, progress: string[] = [], files = initial): RotateDeps => ({
  client,
  clock,
  random: seededRandom(7),
  crypto: nodeCrypto,
  initial: files,
  onProgress: (what) => progress.push(what),
})
