// Extension: a group version that another server serves, as its APIService describes it, or another API server of the cluster.
import type { Kind } from '../../api/kind/kind.ts'
import type { OutboundTls } from '../../platform/http/outbound.ts'

export interface Extension {
  /** The name of the APIService: `v1.example.com`. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number }
  /** Where it is called if it is another API server of the cluster, and not a Service: `https://192.0.2.1:6443`. */
  readonly peer?: string
  readonly tls: OutboundTls
  /** Whether the condition Available of the APIService is true. */
  readonly isAvailable: boolean
  /** A resource of the extension, of which this server knows no more than the name. */
  resource(plural: string, isScoped: boolean): Kind
}

/**
 * Whether the kind is one of an extension. Its name is the client's, so it must not become a label of a metric or a key of a
 * map without a bound.
 */
export const isForwardedKind = (kind: Kind): boolean => (kind as Partial<Kind>).kind === undefined

/** The extensions by group and version. */
export interface ServedExtensions {
  at(group: string, version: string): Extension | undefined
}

/** What other API servers of the cluster serve. */
export interface PeerRoutes {
  /** Undefined if no other server has the resource. */
  at(group: string, version: string, plural: string): Extension | undefined
  /** Called when the server does not respond. */
  failed(extension: Extension): void
}

/** In requests that another API server has forwarded: they are not forwarded again. */
export const peerProxiedHeader = 'x-kubernetes-peer-proxied'

export const noExtensions: ServedExtensions = { at: () => undefined }
