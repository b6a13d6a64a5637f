// IngressController: keeps the data plane equal to the Ingresses of its class, writes their addresses to their status, and
// records events about references to missing objects. Each Ingress is handled alone: a change costs what the Ingresses cost
// that it concerns, and an Ingress that cannot be served does not affect others. Requests in progress are not affected.
import { secret, type Secret } from '../api/core/v1/secret.ts'
import { service } from '../api/core/v1/service/service.ts'
import { endpointSlice } from '../api/discovery/v1/endpoint-slice.ts'
import { keyOf, namespaceOf, objectKey, splitKey, type ObjectKey } from '../api/meta/object.ts'
import { ingress, type Ingress } from '../api/networking/v1/ingress.ts'
import { ingressClass } from '../api/networking/v1/ingress-class.ts'
import type { IngressLoadBalancerIngress } from '../api/networking/v1/ingress-spec.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import { unlessAborted } from '../base/async/unless-aborted.ts'
import { context, type Context } from '../base/observability/context.ts'
import { causeOf, type Cause, type FlowRecorder } from '../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../base/observability/log.ts'
import type { Random } from '../base/random/random.ts'
import type { Clock } from '../base/time/clock.ts'
import { runInSlices, WorkSlice, type Slice } from '../base/work/work-slice.ts'
import { ignoring } from '../api/errors/status-error.ts'
import type { Client } from '../client/client.ts'
import type { Informers } from '../client/informer/informers.ts'
import { Reconciler, type ReconcilerOptions } from '../client/reconcile/reconciler.ts'
import { equalValues } from '../schema/json/json-value.ts'
import type { DataPlane } from './data-plane/data-plane.ts'
import type { FrontendSpec, PortState } from './data-plane/frontends.ts'
import { followRoutes, type IngressMetrics } from './data-plane/ingress-metrics.ts'
import { compileIngress } from './ingress-api/compile-ingresses.ts'
import { classNameOf, isServedHere } from './ingress-api/ingress-class.ts'
import { secretNamesOf, serviceNamesOf } from './ingress-api/ingress-references.ts'
import { KeyPairs } from './ingress-api/key-pairs.ts'
import { portProblem, ProblemReporter, type Problem } from './problem-reporter.ts'
import { CertificateTable } from './routing/certificate-table.ts'
import { RouteTable } from './routing/route-table.ts'

export interface IngressControllerDeps {
  readonly client: Client
  readonly informers: Pick<Informers, 'of'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flow: FlowRecorder
  readonly metrics: Pick<IngressMetrics, 'removedRoutes' | 'unservable'>
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

const reconcilerOptions: ReconcilerOptions = {
  name: 'ingress',
  workers: 1,
  backoff: { initialMs: 500, maxMs: 30_000 },
  failureMessage: 'the status of an Ingress could not be written',
}
/** Indexes of Ingresses by what they refer to. */
const byClass = 'class'
const bySecret = 'secret'
const byService = 'service'

export class IngressController {
  readonly #deps: IngressControllerDeps
  readonly #settings: IngressSettings
  readonly #reporter: ProblemReporter
  /** Of the Ingresses that have changed, or to which a change of another object matters. */
  readonly #reconciler: Reconciler
  readonly #routes = new RouteTable()
  readonly #certificates = new CertificateTable()
  readonly #keyPairs: KeyPairs
  readonly #synced = Promise.withResolvers<void>()

  constructor(deps: IngressControllerDeps, settings: IngressSettings) {
    this.#deps = deps
    this.#settings = settings
    const { informers, clock, log } = deps
    this.#reporter = new ProblemReporter(deps, 'ingress-controller')
    this.#reconciler = new Reconciler(reconcilerOptions, { clock, log })
    this.#keyPairs = new KeyPairs(deps.isKeyPair)
    const ingresses = informers.of(ingress)
    ingresses.addIndex(
      byClass,
      readable((each) => [classNameOf(each) ?? []].flat()),
    )
    ingresses.addIndex(
      bySecret,
      readable((each) => keysOf(each, secretNamesOf(each))),
    )
    ingresses.addIndex(
      byService,
      readable((each) => keysOf(each, serviceNamesOf(each))),
    )
    const addReferring = (index: string) => (change: { readonly key: string; readonly cause: Cause }) => {
      for (const each of ingresses.byIndex(index, change.key)) this.#reconciler.add(keyOf(each), change.cause)
    }
    ingresses.onChange(({ key, cause }) => this.#reconciler.add(key, cause))
    followRoutes(deps.metrics, 'ingress', ingresses)
    informers.of(ingressClass).onChange(addReferring(byClass))
    informers.of(secret).onChange(addReferring(bySecret))
    informers.of(service).onChange(addReferring(byService))
  }

  /** Resolves when the Ingresses that existed at the start are served. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  /** The ports that are open. */
  get ports(): { readonly http: PortState | undefined; readonly https: PortState | undefined } {
    const { dataPlane } = this.#deps
    return { http: dataPlane.stateOf(this.#port('http')), https: dataPlane.stateOf(this.#port('https')) }
  }

  /** Runs in `tasks` until they are stopped. */
  start(tasks: TaskGroup): void {
    tasks.start('events of ingress controller', (signal) => this.#reporter.run(signal))
    this.#reconciler.start(
      (key, each) => this.#reconcile(key, each),
      (signal) => this.#serveExisting(signal),
      tasks,
    )
  }

  async #serveExisting(signal: AbortSignal): Promise<void> {
    const { informers, dataPlane, clock, log } = this.#deps
    const kinds = [ingress, ingressClass, secret, service, endpointSlice] as const
    await unlessAborted(Promise.all(kinds.map((kind) => informers.of(kind as typeof ingress).synced)), signal)
    const slice = new WorkSlice(clock)
    for (const key of Array.from(informers.of(ingress).all(), keyOf)) {
      await this.#compile(key, signal)
      if (slice.isUsedUp()) await slice.next()
    }
    dataPlane.onPortRetry(() => {
      this.#openPorts().catch((error: unknown) => log.error('ports cannot be opened', { error: errorText(error) }))
    })
    await this.#openPorts()
    this.#synced.resolve()
  }

  /** Opens the ports that are not open. All Ingresses have their state in their status. */
  async #openPorts(): Promise<void> {
    const { dataPlane, informers } = this.#deps
    const before = this.#closedPorts()
    await dataPlane.apply('ingress', [
      { ...this.#port('http'), routes: this.#routes, certificates: new Map() },
      { ...this.#port('https'), routes: this.#routes, certificates: this.#certificates },
    ])
    if (!equalValues(before, this.#closedPorts()))
      for (const each of informers.of(ingress).all()) this.#reconciler.add(keyOf(each))
  }

  async #reconcile(key: ObjectKey, { signal, cause }: Context): Promise<undefined> {
    const { flow, informers } = this.#deps
    const object = { resource: ingress.plural, ...splitKey(key) }
    const step = flow.record('reconcile', 'Ingress', 'Ingress', 'apply', object, 0, cause)
    const own = causeOf(step)
    const problems = await this.#compile(key, signal)
    flow.finish(step, problems === undefined ? 'not served' : 'applied')
    const current = informers.of(ingress).get(key)
    if (problems === undefined || current === undefined) {
      this.#reporter.forget(key)
      return
    }
    const closed = this.#closedPorts()
    this.#reporter.report(current, [...problems, ...closed.map(({ port, why }) => portProblem(port, why))], own)
    await this.#publish(current, publishedAddresses(this.#settings.addresses, closed), context(signal, own))
  }

  /** Replaces what is served of an Ingress; returns its problems, or undefined if it is not one of this controller. */
  async #compile(key: ObjectKey, signal: AbortSignal): Promise<readonly Problem[] | undefined> {
    const { informers, clock, metrics, log } = this.#deps
    const services = informers.of(service)
    const secrets = informers.of(secret)
    const classes = informers.of(ingressClass)
    const candidate = informers.of(ingress).get(key)
    if (candidate === undefined) return this.#remove(key)
    try {
      if (!isServedHere(candidate, (name) => classes.get(name))) return this.#remove(key)
      const referenced = keysOf(candidate, secretNamesOf(candidate)).map((each) => secrets.get(each))
      await runInSlices((slice) => this.#keyPairs.check(referenced, slice), clock, signal)
      const sources = {
        service: (each: ObjectKey) => services.get(each),
        secret: (each: ObjectKey) => secrets.get(each),
        keyPair: (each: Secret) => this.#keyPairs.of(each),
      }
      const compiled = (slice: Slice) => compileIngress(candidate, sources, slice)
      const { routes, certificates, problems } = await runInSlices(compiled, clock, signal)
      await runInSlices((slice) => this.#routes.replaceInSlices(key, routes, slice), clock, signal)
      this.#certificates.replace(key, certificates)
      return problems
    } catch (error) {
      if (signal.aborted) throw error
      this.#remove(key)
      metrics.unservable.add({ kind: 'Ingress' })
      log.error('an Ingress cannot be served', { ingress: key, error: errorText(error) })
      return [{ reason: 'Unservable', message: `the Ingress cannot be served: ${errorText(error)}` }]
    }
  }

  #remove(key: ObjectKey): undefined {
    this.#routes.replace(key, [])
    this.#certificates.replace(key, undefined)
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

  async #publish(each: Ingress, addresses: readonly IngressLoadBalancerIngress[], ctx: Context): Promise<void> {
    if (equalValues(each.status.loadBalancer.ingress ?? [], addresses)) return
    const status = { loadBalancer: { ingress: addresses } }
    // After a conflict, the next version of the object arrives by the watch.
    await this.#deps.client
      .of(ingress)
      .updateStatus({ ...each, status }, ctx)
      .catch(ignoring('Conflict', 'NotFound'))
  }
}

interface ClosedPort {
  readonly port: number
  readonly why: string
}

/** An exception would end the watch of all Ingresses. The object is reported when it is compiled. */
const readable =
  (valuesOf: (object: Ingress) => readonly string[]) =>
  (object: Ingress): readonly string[] => {
    try {
      return valuesOf(object)
    } catch {
      return []
    }
  }

const keysOf = (object: Ingress, names: Iterable<string>): ObjectKey[] =>
  Array.from(names, (name) => objectKey(namespaceOf(object), name))

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
  controller.start(tasks)
  return controller
}
