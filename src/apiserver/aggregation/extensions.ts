// Extensions: the group versions whose APIService names a Service. Requests for them are proxied.
import { RecentMap } from '../../base/collections/recent-map.ts'
import { ownText } from '../../base/text/own-text.ts'
import { apiService, type APIService } from '../../api/apiregistration/v1/api-service.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { OutboundTls } from '../../platform/http/outbound.ts'
import type { Extension, ServedExtensions } from '../request/extension.ts'
import type { CacheObserver } from '../watch-cache/object-caches.ts'

/** Names of resources that are kept for each extension. Clients choose them, so longer ones are not kept. */
const resourcesMax = 64
const resourceCharsMax = 253

export class Extensions implements CacheObserver, ServedExtensions {
  /** By group and version. */
  readonly #served = new Map<string, Extension>()

  changed(now: ApiObject | undefined, before: ApiObject | undefined): void {
    if (before !== undefined) this.#served.delete(keyOf(before as APIService))
    const extension = now && isForwarded(now as APIService) ? extensionOf(now as APIService) : undefined
    if (extension !== undefined) this.#served.set(`${extension.group}/${extension.version}`, extension)
  }

  at(group: string, version: string): Extension | undefined {
    return this.#served.size === 0 ? undefined : this.#served.get(`${group}/${version}`)
  }

  [Symbol.iterator](): Iterator<Extension> {
    return this.#served.values()
  }
}

const keyOf = ({ spec: { group = '', version = '' } }: APIService): string => `${group}/${version}`

/**
 * Whether requests for the group version are forwarded. As upstream, those for APIServices themselves never are: an
 * APIService that names a server for them could not be deleted.
 */
export const isForwarded = ({ spec: { group, version, service } }: APIService): boolean =>
  service !== undefined && (group !== apiService.group || version !== apiService.version)

/** Undefined where this server serves the group version itself. */
export function extensionOf(object: APIService): Extension | undefined {
  const { group = '', version = '', service } = object.spec
  if (service === undefined) return undefined
  const { namespace = '', name = '', port } = service
  return {
    name: object.metadata.name,
    group,
    version,
    service: { namespace, name, port: port ?? portDefault },
    tls: tlsOf(object.spec),
    isAvailable: isAvailable(object),
    resource: resourceNames(group, version),
  }
}

const portDefault = 443

export const isAvailable = ({ status }: APIService): boolean =>
  status.conditions?.some((condition) => condition.type === 'Available' && condition.status === 'True') ?? false

/** The certificate of an extension must be that of its Service, at whatever address it is called. */
function tlsOf({ service, caBundle, insecureSkipTLSVerify }: APIService['spec']): OutboundTls {
  return {
    serverName: `${service?.name}.${service?.namespace}.svc`,
    ...(insecureSkipTLSVerify ? { insecureSkipVerify: true } : {}),
    ...(caBundle === undefined ? {} : { authority: new TextDecoder().decode(Uint8Array.fromBase64(caBundle)) }),
  }
}

export function resourceNames(group: string, version: string): Extension['resource'] {
  const known = new RecentMap<string, Kind>(resourcesMax)
  return (plural, isScoped) => {
    // Routing, authorization, audit and metrics read these properties only. The registry never gets the kind.
    const kindOf = (name: string) =>
      ({ group, version, plural: name, apiVersion: `${group}/${version}`, namespaced: isScoped }) as Kind
    if (plural.length > resourceCharsMax) return kindOf(plural)
    const key = `${plural} ${isScoped}`
    const found = known.get(key)
    if (found !== undefined) return found
    const kind = kindOf(ownText(plural))
    known.set(ownText(key), kind)
    return kind
  }
}
