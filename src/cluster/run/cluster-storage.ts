// Opens what a cluster on this machine has on disk: its certificates and its store, encrypted at rest if configured.
import { resolve } from 'node:path'
import type { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { DataKeyMetrics } from '../../apiserver/encryption/kms/data-key-metrics.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MeasuredStore } from '../../store/measured-store.ts'
import type { Store } from '../../store/store.ts'
import { clusterCertificates, type ClusterCertificates } from '../certificates/cluster-certificates.ts'
import { withGiven } from '../certificates/given-certificates.ts'
import type { DataDirectory } from '../data-directory/open-directory.ts'
import { openStore } from '../data-directory/open-store.ts'
import { recordStore } from '../data-directory/record-store.ts'
import { storedResource } from '../data-directory/stored-resource.ts'
import { openEncryption, type Encryption } from '../policy/encryption-at-rest.ts'
import type { StopProgress } from './stop-progress.ts'
import type { ResolvedUpOptions } from './up-options.ts'

export interface ClusterStorage {
  readonly certificates: ClusterCertificates
  readonly store: Store
  /** Undefined when nothing is encrypted. */
  readonly encryption: Encryption | undefined
}

export interface ClusterStorageDeps {
  readonly directory: DataDirectory
  /** The names and addresses in the API server's certificate. */
  readonly hosts: readonly string[]
  /** Kubeconfigs outside of the data directory that the cluster writes to. */
  readonly kubeconfigs: readonly string[]
  readonly metrics: Metrics
  readonly cleanUps: AsyncDisposableStack
  readonly stopping: StopProgress
}

const { signal: never } = new AbortController()

/** The certificates of a data directory for these hosts; valid ones are reused. */
export const issueCertificates = ({ path, marker }: DataDirectory, hosts: readonly string[]) =>
  clusterCertificates(`${path}/pki`, {
    platform: nodePlatform,
    clock: realClock,
    random: systemRandom,
    hosts,
    isUnfinished: marker.isComplete !== true,
  })

export const reloadsEncryption = ({ policyFlags }: ResolvedUpOptions): boolean =>
  policyFlags['encryption-provider-config-automatic-reload'] === 'true'

export async function openClusterStorage(
  options: ResolvedUpOptions,
  { directory, hosts, kubeconfigs, metrics, cleanUps, stopping }: ClusterStorageDeps,
): Promise<ClusterStorage> {
  const opened = openStore(options.store, options.dataDirectory)
  cleanUps.defer(
    stopping.step('the store to write pending changes', () => opened.then((store) => store.close(), ignore)),
  )
  const [own, plainStore] = await Promise.all([issueCertificates(directory, hosts), opened])
  const certificates = withGiven(own, options.given)
  const encryptionPath = options.policyFlags['encryption-provider-config']
  await recordStore(directory, options.store, plainStore, never)
  await directory.note({
    name: options.name,
    isComplete: true,
    kubeconfigs: [...new Set([...(directory.marker.kubeconfigs ?? []), ...kubeconfigs])],
    encryptionConfig: encryptionPath && resolve(encryptionPath),
  })
  const dataKeyMetrics = new DataKeyMetrics(metrics, realClock)
  const deps = { ...nodePlatform, random: systemRandom, clock: realClock, log: options.log, dataKeyMetrics }
  const encryption =
    encryptionPath === undefined
      ? undefined
      : cleanUps.use(await openEncryption(plainStore, encryptionPath, deps, reloadsEncryption(options)))
  const store = new MeasuredStore({
    store: encryption?.store ?? plainStore,
    clock: realClock,
    metrics,
    resourceOf: storedResource,
  })
  return { certificates, store, encryption }
}

/** The start has already failed with this error. */
const ignore = () => undefined
