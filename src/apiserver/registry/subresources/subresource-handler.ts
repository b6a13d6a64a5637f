// Contracts of what the registry does not serve generically: subresources of single kinds, and kinds that are not stored.
// The registry gets them as lists; it knows no kind by name.
import type { Kind } from '../../../api/kind/kind.ts'
import type { KubeletConnection } from '../../kubelet-client/kubelet-connection.ts'
import type { ResourceRequest } from '../../request/request.ts'
import type { ApiResponse } from '../../request/response.ts'
import type { ObjectLister } from '../../watch-cache/object-caches.ts'
import type { ResourceDeps } from '../resource/resource-deps.ts'

export interface RegistryServices {
  readonly kubelets: KubeletConnection
  readonly lister: ObjectLister
  /** The registry of another kind. */
  resource(kind: Kind): ResourceDeps
}

export interface SubresourceHandler {
  readonly kind: Kind
  readonly subresource: string
  /** A GET also requires permission to create, because it opens a stream into a container. */
  readonly getRequiresCreate?: true
  handle(deps: ResourceDeps, request: ResourceRequest, services: RegistryServices): Promise<ApiResponse>
}

/** A kind whose objects are computed for each request. */
export interface VirtualResource {
  readonly kind: Kind
  handle(request: ResourceRequest, services: RegistryServices): Promise<ApiResponse>
}
