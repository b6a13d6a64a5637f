// PeerDiscovery: what the other API servers of the cluster serve and this one does not, such as the kinds of a newer version during an
// upgrade (upstream's mixed-version proxy). What a process serves is read once from its discovery documents.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { resourceNames } from '../../apiserver/aggregation/extensions.ts'
import type { Extension, PeerRoutes } from '../../apiserver/request/extension.ts'
import type { PeerServer, PeerServers } from './peer-servers.ts'

const refreshMs = 5_000
/** How long a server may take for its documents. */
const answerMsMax = 5_000
const documentCharsMax = 16 * 1024 * 1024
/** Without what the server knows of others. */
const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer'
const paths = ['/api', '/apis']

/** The part of an APIGroupDiscoveryList that is read. */
interface GroupList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string }
    readonly versions?: readonly {
      readonly version: string
      readonly resources?: readonly { readonly resource: string }[]
    }[]
  }[]
}

/** A server, and the resources of its group versions. */
interface Known {
  readonly peer: PeerServer
  readonly resources: ReadonlyMap<string, ReadonlySet<string>>
  /** By group and version, with the CA that was trusted then. */
  readonly extensions: Map<string, Extension>
}

interface PeerDiscoveryDeps {
  readonly peers: Pick<PeerServers, 'list' | 'read' | 'authority'>
  readonly clock: Clock
  readonly log: Log
}

export class PeerDiscovery implements PeerRoutes {
  readonly #deps: PeerDiscoveryDeps
  /** By the holder of the Lease: another process may serve something else. */
  readonly #known = new Map<string, Known>()

  constructor(deps: PeerDiscoveryDeps) {
    this.#deps = deps
  }

  at(group: string, version: string, plural: string): Extension | undefined {
    const groupVersion = `${group}/${version}`
    for (const { peer, resources, extensions } of this.#known.values())
      if (resources.get(groupVersion)?.has(plural)) {
        const { authority } = this.#deps.peers
        const found = extensions.get(groupVersion)
        if (found !== undefined && found.tls.authority === authority) return found
        const made = extensionOf(peer, group, version, authority)
        extensions.set(groupVersion, made)
        return made
      }
    return undefined
  }

  /** It is used again once it has responded. */
  failed({ peer: origin }: Extension): void {
    for (const [holder, { peer }] of this.#known) if (peer.origin === origin) this.#known.delete(holder)
  }

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { peers, clock, log } = this.#deps
    while (!signal.aborted) {
      try {
        await this.#refresh(await peers.list(signal), signal)
      } catch (error) {
        if (!signal.aborted) log.debug('the other API servers were not found', { error: errorText(error) })
      }
      await clock.sleep(refreshMs, signal)
    }
  }

  async #refresh(peers: readonly PeerServer[], signal: AbortSignal): Promise<void> {
    const holders = new Set(peers.map(({ holder }) => holder))
    for (const holder of this.#known.keys()) if (!holders.has(holder)) this.#known.delete(holder)
    const unread = peers.filter(({ holder, origin }) => origin !== undefined && !this.#known.has(holder))
    await Promise.all(unread.map((peer) => this.#read(peer, signal)))
  }

  async #read(peer: PeerServer, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    const late = new AbortController()
    const timer = clock.after(answerMsMax, () => late.abort(new Error(`no answer within ${answerMsMax} ms`)))
    const resources = new Map<string, Set<string>>()
    try {
      for (const path of paths)
        collect(await this.#document(peer, path, AbortSignal.any([signal, late.signal])), resources)
      this.#known.set(peer.holder, { peer, resources, extensions: new Map() })
    } catch (error) {
      if (!signal.aborted)
        log.debug('what an API server serves is unknown', { server: peer.name, error: errorText(error) })
    } finally {
      timer.cancel()
    }
  }

  async #document(peer: PeerServer, path: string, signal: AbortSignal): Promise<GroupList> {
    let text = ''
    for await (const piece of this.#deps.peers.read(peer, path, signal, accept)) {
      text += piece
      if (text.length > documentCharsMax) throw new Error(`${path} has more than ${documentCharsMax} characters`)
    }
    return JSON.parse(text) as GroupList
  }
}

function collect({ items = [] }: GroupList, resources: Map<string, Set<string>>): void {
  for (const { metadata, versions = [] } of items)
    for (const { version, resources: listed = [] } of versions) {
      const names = getOrInsert(resources, `${metadata?.name ?? ''}/${version}`, () => new Set<string>())
      for (const { resource } of listed) names.add(resource)
    }
}

function extensionOf(
  { name, origin = '' }: PeerServer,
  group: string,
  version: string,
  authority: string | undefined,
): Extension {
  return {
    name,
    group,
    version,
    service: { namespace: '', name: '', port: 0 },
    peer: origin,
    tls: authority === undefined ? {} : { authority },
    isAvailable: true,
    resource: resourceNames(group, version),
  }
}
