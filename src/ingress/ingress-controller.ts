// IngressController: keeps the data plane equal to the Ingresses of its class, writes their addresses to their status, and
// records events about references to missing objects. Changes that arrive in one turn of the event loop are applied
// together; requests in progress are not affected.
import { secret } from '../api/core/v1/secret.ts'
import { service } from '../api/core/v1/service/service.ts'
import { endpointSlice } from '../api/discovery/v1/endpoint-slice.ts'
import type { ObjectKey } from '../api/meta/object.ts'
import { ingress, type Ingress } from '../api/networking/v1/ingress.ts'
import { ingressClass } from '../api/networking/v1/ingress-class.ts'
import type { IngressLoadBalancerIngress } from '../api/networking/v1/ingress-spec.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import { unlessAborted } from '../base/async/unless-aborted.ts'
import { context } from '../base/observability/context.ts'
import { causeOf, type Cause, type FlowRecorder } from '../base/observability/flow-recorder.ts'
import type { Log } from '../base/observability/log.ts'
import type { Random } from '../base/random/random.ts'
import type { Clock } from '../base/time/clock.ts'
import { hasReason } from '../api/errors/status-error.ts'
import type { Client } from '../client/client.ts'
import type { Informers } from '../client/informer/informers.ts'
import type { ServerNameCertificate } from '../platform/http/listener.ts'
import { equalValues } from '../schema/json/json-value.ts'
import type { DataPlane } from './data-plane/data-plane.ts'
import type { FrontendSpec, PortState } from './data-plane/frontends.ts'
import { compileIngress, type CompiledIngress } from './ingress-api/compile-ingresses.ts'
import { isServedHere } from './ingress-api/ingress-class.ts'
import { portProblem, ProblemReporter } from './problem-reporter.ts'
import { ReconcileLoop } from './reconcile-loop.ts'
import { RouteTable } from './routing/route-table.ts'
import type { Route } from './routing/route.ts'

export interface IngressControllerDeps {
  readonly client: Client
  readonly informers: Pick<Informers, 'of'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flow: FlowRecorder
  readonly dataPlane: DataPlane
  /** Whether the text is a certificate and its key. */
  readonly isKeyPair: (certificate: string, key: string) => boolean
}

export interface IngressSettings {
  /** 0: any free port. */
  readonly httpPort: number
  readonly httpsPort: number
  /** The addresses in the status of Ingresses. */
  readonly addresses: readonly IngressLoadBalancerIngress[]
}

export class IngressController {
  readonly #deps: IngressControllerDeps
  readonly #settings: IngressSettings
  readonly #reporter: ProblemReporter
  readonly #loop: ReconcileLoop

  constructor(deps: IngressControllerDeps, settings: IngressSettings) {
    this.#deps = deps
    this.#settings = settings
    const { informers, clock, log, dataPlane } = deps
    this.#reporter = new ProblemReporter(deps, 'ingress-controller')
    this.#loop = new ReconcileLoop({ clock, log, failureMessage: 'Ingresses could not be applied' })
    dataPlane.onEndpoints(() => this.#loop.changed())
    dataPlane.onPortRetry(() => this.#loop.changed())
    informers.of(ingress).onChange(({ cause }) => this.#loop.changed(cause))
    informers.of(ingressClass).onChange(({ cause }) => this.#loop.changed(cause))
    informers.of(secret).onChange(({ cause }) => this.#loop.changed(cause))
  }

  /** Resolves when the Ingresses that existed at the start are served. */
  get synced(): Promise<void> {
    return this.#loop.synced
  }

  /** The ports that are open. */
  get ports(): { readonly http: PortState | undefined; readonly https: PortState | undefined } {
    const { dataPlane } = this.#deps
    return { http: dataPlane.stateOf(this.#port('http')), https: dataPlane.stateOf(this.#port('https')) }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { informers } = this.#deps
    const lists = [
      informers.of(ingress).synced,
      informers.of(ingressClass).synced,
      informers.of(secret).synced,
      informers.of(service).synced,
      informers.of(endpointSlice).synced,
    ]
    await unlessAborted(Promise.all(lists), signal)
    await this.#loop.run((cause) => this.#reconcile(cause, signal), signal)
  }

  runEvents(signal: AbortSignal): Promise<void> {
    return this.#reporter.run(signal)
  }

  async #reconcile(cause: Cause, signal: AbortSignal): Promise<void> {
    const { informers, flow, isKeyPair, dataPlane } = this.#deps
    const [services, secrets] = [informers.of(service), informers.of(secret)]
    const classes = informers.of(ingressClass)
    const served = [...informers.of(ingress).all()].filter((each) => isServedHere(each, (name) => classes.get(name)))
    const sources = {
      service: (key: ObjectKey) => services.get(key),
      secret: (key: ObjectKey) => secrets.get(key),
      isKeyPair,
    }
    const compiled = served.map((each) => [each, compileIngress(each, sources)] as const)
    const step = flow.record('reconcile', 'Ingress', 'Ingress', `apply ${served.length} Ingresses`, undefined, 0, cause)
    await this.#apply(compiled.map(([, result]) => result))
    flow.finish(step, 'applied')
    dataPlane.closeStaleConnections()
    const own = causeOf(step)
    const closed = this.#closedPorts()
    for (const [each, { problems }] of compiled)
      this.#reporter.report(each, [...problems, ...closed.map(({ port, why }) => portProblem(port, why))], own)
    this.#reporter.retain(served)
    const addresses = publishedAddresses(this.#settings.addresses, closed)
    for (const each of served) await this.#publish(each, addresses, { signal, cause: own })
  }

  async #apply(compiled: readonly CompiledIngress[]): Promise<void> {
    const routes: Route[] = compiled.flatMap((each) => each.routes)
    const certificates: ServerNameCertificate[] = compiled.flatMap((each) => each.certificates)
    const table = new RouteTable(routes)
    await this.#deps.dataPlane.apply('ingress', [
      { ...this.#port('http'), routes: table, certificates: [] },
      { ...this.#port('https'), routes: table, certificates },
    ])
  }

  #port(scheme: 'http' | 'https'): Pick<FrontendSpec, 'name' | 'port' | 'scheme'> {
    const { httpPort, httpsPort } = this.#settings
    return { name: scheme, scheme, port: scheme === 'http' ? httpPort : httpsPort }
  }

  #closedPorts(): readonly ClosedPort[] {
    return (['http', 'https'] as const).flatMap((scheme) => {
      const state = this.ports[scheme]
      return state?.kind === 'failed' ? [{ port: this.#port(scheme).port, why: state.why }] : []
    })
  }

  async #publish(
    each: Ingress,
    addresses: readonly IngressLoadBalancerIngress[],
    { signal, cause }: { signal: AbortSignal; cause: Cause },
  ): Promise<void> {
    if (equalValues(each.status.loadBalancer.ingress ?? [], addresses)) return
    try {
      await this.#deps.client
        .of(ingress)
        .updateStatus({ ...each, status: { loadBalancer: { ingress: addresses } } }, context(signal, cause))
    } catch (error) {
      // The next version of the object arrives by the watch.
      if (!hasReason(error, 'Conflict') && !hasReason(error, 'NotFound')) throw error
    }
  }
}

interface ClosedPort {
  readonly port: number
  readonly why: string
}

/** The status of a port is published where it has an error. */
const publishedAddresses = (
  addresses: readonly IngressLoadBalancerIngress[],
  closed: readonly ClosedPort[],
): readonly IngressLoadBalancerIngress[] =>
  closed.length === 0
    ? addresses
    : addresses.map((each) => ({
        ...each,
        ports: closed.map(({ port }) => ({ port, protocol: 'TCP', error: 'PortUnavailable' })),
      }))

/** Runs in `tasks` until they are stopped. */
export function startIngressController(
  deps: IngressControllerDeps,
  settings: IngressSettings,
  tasks: TaskGroup,
): IngressController {
  const controller = new IngressController(deps, settings)
  tasks.start('ingress controller', (signal) => controller.run(signal))
  tasks.start('events of ingress controller', (signal) => controller.runEvents(signal))
  return controller
}
