// The checks of /livez, /readyz and /healthz, with upstream's names and in its order.
import type { Clock } from '../../base/time/clock.ts'
import type { Store } from '../../store/store.ts'
import type { HealthCheck, HealthPath } from './health.ts'

export interface HealthState {
  readonly store: Store
  readonly clock: Clock
  /** Checks encryption at rest. Upstream's /livez does not have it. */
  readonly kmsCheck?: HealthCheck | undefined
  /** The caches are filled and the bootstrap objects exist. */
  isReady(): boolean
  isDraining(): boolean
}

/** How long the store may take to respond. */
const storeCheckMsMax = 2_000

/** Upstream's post-start hooks, each a check until it is done. Here all of them are done when the server is ready. */
const startHooks = [
  'poststarthook/start-apiserver-admission-initializer',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-filter',
  'poststarthook/storage-object-count-tracker-hook',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/crd-informer-synced',
  'poststarthook/start-system-namespaces-controller',
  'poststarthook/peer-endpoint-reconciler-controller',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-apiserver-identity-lease-controller',
  'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
  'poststarthook/storage-readiness',
  'poststarthook/start-legacy-token-tracking-controller',
  'poststarthook/start-service-ip-repair-controllers',
  'poststarthook/rbac/bootstrap-roles',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/priority-and-fairness-config-producer',
  'poststarthook/bootstrap-controller',
  'poststarthook/start-kubernetes-service-cidr-controller',
  'poststarthook/aggregator-reload-proxy-client-cert',
  'poststarthook/start-kube-aggregator-informers',
  'poststarthook/apiservice-status-local-available-controller',
  'poststarthook/apiservice-status-remote-available-controller',
  'poststarthook/apiservice-registration-controller',
  'poststarthook/apiservice-discovery-controller',
  'poststarthook/kube-apiserver-autoregistration',
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
]

/** A server is not ready while it fills its caches, nor while it shuts down. */
export function healthChecks(path: HealthPath, state: HealthState): readonly HealthCheck[] {
  const must = (name: string, holds: () => boolean): HealthCheck => ({
    name,
    check() {
      if (!holds()) throw new Error('not ready')
    },
  })
  const always = (name: string) => must(name, () => true)
  const store = (name: string): HealthCheck => ({ name, check: (signal) => storeAnswers(state, signal) })
  const isReadiness = path === 'readyz'
  return [
    always('ping'),
    always('log'),
    always('loopback-serving-certificate'),
    store('etcd'),
    ...(isReadiness ? [store('etcd-readiness')] : []),
    ...(state.kmsCheck !== undefined && path !== 'livez' ? [state.kmsCheck] : []),
    ...(isReadiness ? [must('informer-sync', state.isReady)] : []),
    ...startHooks.map((name) => must(name, state.isReady)),
    ...(isReadiness ? [must('shutdown', () => !state.isDraining())] : []),
  ]
}

async function storeAnswers({ store, clock }: HealthState, signal: AbortSignal): Promise<void> {
  const late = new AbortController()
  const timer = clock.after(storeCheckMsMax, () => late.abort())
  try {
    await store.freshRevision(AbortSignal.any([signal, late.signal]))
  } finally {
    timer.cancel()
  }
}
