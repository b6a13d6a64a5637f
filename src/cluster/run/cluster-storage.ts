// Opens what a cluster on this machine has on disk: its certificates and its store, encrypted at rest if configured.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { DataKeyMetrics } from '../../apiserver/encryption/kms/data-key-metrics.ts'
import { withEarlierKeys } from '../../apiserver/storage/earlier-keys-store.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MeasuredStore } from '../../store/measured-store.ts'
import type { Store } from '../../store/store.ts'
import { clusterCertificates, type ClusterCertificates } from '../certificates/cluster-certificates.ts'
import { withGiven } from '../certificates/given-certificates.ts'
import type { DataDirectory } from '../data-directory/open-directory.ts'
import { openStore } from '../data-directory/open-store.ts'
import { recordStore } from '../data-directory/record-store.ts'
import { storedResource } from '../data-directory/stored-resource.ts'
import {
  encryptionConfigFile,
  openEncryption,
  type Encryption,
  type EncryptionFile,
} from '../policy/encryption-at-rest.ts'
import type { StopProgress } from './stop-progress.ts'
import type { ResolvedUpOptions } from './up-options.ts'
import { useFilesCopy } from './use-shared-files.ts'

export interface ClusterStorage {
  readonly certificates: ClusterCertificates
  readonly store: Store
  /** The same one, with values as they are stored. */
  readonly plainStore: Store
  readonly encryption: Encryption
  /** Whether the encryption configuration is that of the data directory, which `coxswain rotate encryption-key` replaces. */
  readonly isEncryptionManaged: boolean
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
  await recordStore(directory, options.store, plainStore, never)
  const { log } = options
  const { isManaged, ...file } = await encryptionFileOf(options, directory, () =>
    useFilesCopy(directory.path, plainStore, log),
  )
  await directory.note({
    name: options.name,
    isComplete: true,
    kubeconfigs: [...new Set([...(directory.marker.kubeconfigs ?? []), ...kubeconfigs])],
    encryptionConfig: file.isOptional ? undefined : file.path,
  })
  const dataKeyMetrics = new DataKeyMetrics(metrics, realClock)
  const deps = { ...nodePlatform, random: systemRandom, clock: realClock, log, dataKeyMetrics }
  const encryption = cleanUps.use(await openEncryption(plainStore, file, deps, reloadsEncryption(options)))
  const store = new MeasuredStore({
    store: await withEarlierKeys(encryption.store, never),
    clock: realClock,
    metrics,
    resourceOf: storedResource,
  })
  return { certificates, store, plainStore, encryption, isEncryptionManaged: isManaged }
}

/**
 * The configuration that a flag names, or that of the data directory, which other servers may have replaced while this one did not run.
 * That one need not exist.
 */
async function encryptionFileOf(
  { policyFlags }: ResolvedUpOptions,
  { path: directory, marker }: DataDirectory,
  useCopy: () => Promise<boolean>,
): Promise<EncryptionFile & { readonly isManaged: boolean }> {
  const name = `pki/${encryptionConfigFile}`
  const own = resolve(directory, name)
  const given = policyFlags['encryption-provider-config']
  const path = given === undefined ? own : resolve(given)
  const isForeign = marker.foreign.includes(name)
  if (given === undefined && isForeign)
    throw new Error(`${own} was there before the cluster; use it with --encryption-provider-config, or move it away`)
  const isManaged = path === own && !isForeign
  if ((await useCopy()) && !isManaged)
    throw new Error(
      'the encryption configuration of this cluster is replaced by coxswain rotate encryption-key: start without --encryption-provider-config',
    )
  const isOptional = given === undefined && marker.encryptionConfig !== own && !existsSync(own)
  return { path, isOptional, isManaged }
}

/** The start has already failed with this error. */
const ignore = () => undefined
