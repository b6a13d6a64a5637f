// Encryption at rest: wraps the store with the configured providers, polls KMS plugins, and reloads the configuration
// file. Without a file nothing is encrypted.
import { errorText } from '../../base/observability/log.ts'
import { SerialOperations } from '../../base/async/serial-operations.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { ConfigReader } from '../../apiserver/config/config-reader.ts'
import { EncryptedStore } from '../../apiserver/encryption/encrypted-store.ts'
import {
  encryptionConfig,
  kmsProvidersOf,
  type CipherProviderDeps,
  type EncryptionRule,
} from '../../apiserver/encryption/encryption-config.ts'
import type { KmsProvider } from '../../apiserver/encryption/kms/kms-provider.ts'
import type { HealthCheck } from '../../apiserver/health/health.ts'
import type { Files } from '../../platform/files.ts'
import type { Store } from '../../store/store.ts'
import { readYaml } from '../flags/flag-values.ts'

export interface EncryptionDeps extends CipherProviderDeps {
  readonly files: Files
}

/** The configuration of a cluster that replaces its keys itself, below `pki/`. */
export const encryptionConfigFile = 'encryption-config.yaml'

export interface EncryptionFile {
  readonly path: string
  /** Without the file nothing is encrypted. Otherwise it must exist. */
  readonly isOptional: boolean
}

const reloadMs = 60_000
const healthyRetryMs = 1_000

export interface Encryption extends AsyncDisposable {
  readonly store: Store
  /** The path of the configuration. */
  readonly path: string
  /** The `kms-providers` check; undefined when there cannot be a KMS provider. */
  readonly check: HealthCheck | undefined
  /** Runs the work. If it fails, waits until the plugins are healthy and runs it once more. */
  runWhenHealthy<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>
  /** Reads the file again, and uses it if it has changed and its plugins are healthy. Otherwise throws, and what was used before stays. */
  reload(signal: AbortSignal): Promise<void>
  /** Reloads the file when it changes, until the signal is aborted. */
  reloadOnChange(signal: AbortSignal): Promise<void>
}

export async function openEncryption(
  inner: Store,
  { path, isOptional }: EncryptionFile,
  deps: EncryptionDeps,
  reloads: boolean,
): Promise<Encryption> {
  const { files, clock, log } = deps
  const read = async () => (isOptional && (await files.read(path)) === undefined ? undefined : readYaml(path, files))
  const rulesOf = (content: unknown) => (content === undefined ? [] : encryptionConfig(new ConfigReader(content), deps))
  let known = await read()
  const rules = rulesOf(known)
  const store = new EncryptedStore(inner, rules)
  let current = await startProviders(rules)
  const check = async (signal: AbortSignal) => {
    for (const provider of current.providers) await provider.check(signal)
  }
  const isHealthy = (signal: AbortSignal) =>
    check(signal).then(
      () => true,
      () => false,
    )
  const operations = new SerialOperations()
  const reload = (signal: AbortSignal) =>
    operations.run(path, async () => {
      const found = await read()
      if (JSON.stringify(found) === JSON.stringify(known)) return
      if (found === undefined) throw new Error(`there is no file ${path}`)
      const previous = current
      current = await usableProviders(rulesOf(found), signal)
      known = found
      store.setRules(current.rules)
      await previous.tasks[Symbol.asyncDispose]()
      log.info('the encryption configuration was read again', { path })
    })
  return {
    store,
    path,
    check: current.providers.length === 0 && !reloads ? undefined : { name: 'kms-providers', check },
    async runWhenHealthy(work, signal) {
      try {
        return await work()
      } catch (error) {
        if (current.providers.length === 0) throw error
        log.warn('a KMS plugin is waited for', { error: errorText(error) })
        while (!(await isHealthy(signal))) await clock.sleep(healthyRetryMs, signal)
        return work()
      }
    },
    reload,
    async reloadOnChange(signal) {
      while (!signal.aborted) {
        await clock.sleep(reloadMs, signal)
        try {
          await reload(signal)
        } catch (error) {
          log.error('the encryption configuration cannot be used; the old one stays', { path, error: errorText(error) })
        }
      }
    },
    [Symbol.asyncDispose]: () => current.tasks[Symbol.asyncDispose](),
  }
}

interface RunningProviders {
  readonly rules: readonly EncryptionRule[]
  readonly providers: readonly KmsProvider[]
  /** The polling tasks. Disposing the group closes the providers. */
  readonly tasks: TaskGroup
}

/**
 * Resolves after the first status, or failure, of each plugin. The server starts without the plugin but is not ready.
 */
async function startProviders(rules: readonly EncryptionRule[]): Promise<RunningProviders> {
  const providers = kmsProvidersOf(rules)
  const tasks = new TaskGroup()
  for (const provider of providers) tasks.start('kms provider', (signal) => provider.run(signal))
  await Promise.all(providers.map((provider) => provider.probe()))
  return { rules, providers, tasks }
}

/** A new configuration is only used when its plugins are healthy. */
async function usableProviders(rules: readonly EncryptionRule[], signal: AbortSignal): Promise<RunningProviders> {
  const started = await startProviders(rules)
  try {
    for (const provider of started.providers) await provider.check(signal)
    return started
  } catch (error) {
    await started.tasks[Symbol.asyncDispose]()
    throw error
  }
}
