// ServiceHealth: an HTTP server for each health check node port, which shows load balancers whether this node has endpoints
// of the Service.
import { splitKey, type ObjectKey } from '../../api/meta/object.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Listener, ListenerProvider, WireResponse } from '../../platform/http/listener.ts'
import type { ServiceHealthCheck } from '../routing/service-route.ts'
import { healthHeaders } from './proxy-health.ts'

export interface ServiceHealthDeps {
  readonly listeners: Pick<ListenerProvider, 'listen'>
  readonly host: string
  readonly log: Log
  readonly isProxyHealthy: () => boolean
  readonly onFailure: (service: ObjectKey, port: number, error: string) => void
}

interface Check {
  localEndpoints: number
  readonly port: number
  /** Undefined if the port could not be opened. */
  readonly listener: Promise<Listener | undefined>
}

export class ServiceHealth implements AsyncDisposable {
  readonly #deps: ServiceHealthDeps
  readonly #checks = new Map<ObjectKey, Check>()

  constructor(deps: ServiceHealthDeps) {
    this.#deps = deps
  }

  update(service: ObjectKey, now: ServiceHealthCheck | undefined): void {
    const check = this.#checks.get(service)
    if (check !== undefined && check.port === now?.port) {
      check.localEndpoints = now.localEndpoints
      return
    }
    const closed = check === undefined ? undefined : close(check)
    if (now === undefined) return void this.#checks.delete(service)
    const listener = this.#open(service, now.port, closed)
    this.#checks.set(service, { localEndpoints: now.localEndpoints, port: now.port, listener })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Array.from(this.#checks.values(), close))
  }

  async #open(service: ObjectKey, port: number, closed: Promise<void> | undefined): Promise<Listener | undefined> {
    const { listeners, host, log, onFailure } = this.#deps
    await closed
    try {
      return await listeners.listen({ host, port, handle: () => this.#response(service) })
    } catch (error) {
      log.error('cannot open the health check port of a Service', { service, port, error: errorText(error) })
      onFailure(service, port, errorText(error))
      return undefined
    }
  }

  #response(service: ObjectKey): WireResponse {
    const count = this.#checks.get(service)?.localEndpoints ?? 0
    const isHealthy = this.#deps.isProxyHealthy()
    const { namespace, name } = splitKey(service)
    const content = { service: { namespace, name }, localEndpoints: count, serviceProxyHealthy: isHealthy }
    return {
      status: count > 0 && isHealthy ? 200 : 503,
      headers: { ...healthHeaders, 'x-load-balancing-endpoint-weight': String(count) },
      body: JSON.stringify(content, undefined, '\t'),
    }
  }
}

async function close({ listener }: Check): Promise<void> {
  await (await listener)?.close(0)
}
