// Encryption at rest: wraps the store with the configured providers, polls KMS plugins, and reloads the configuration
// file.
import { errorText } from '../../base/observability/log.ts'
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

const reloadMs = 60_000
const healthyRetryMs = 1_000

export interface Encryption extends AsyncDisposable {
  readonly store: Store
  /** The `kms-providers` check; undefined when there cannot be a KMS provider. */
  readonly check: HealthCheck | undefined
  /** Runs the work. If it fails, waits until the plugins are healthy and runs it once more. */
  runWhenHealthy<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>
  /** Reloads the file when it changes, until the signal is aborted. */
  reloadOnChange(signal: AbortSignal): Promise<void>
}

export async function openEncryption(
  inner: Store,
  path: string,
  deps: EncryptionDeps,
  reloads: boolean,
): Promise<Encryption> {
  const { files, clock, log } = deps
  let known = await readYaml(path, files)
  const rules = encryptionConfig(new ConfigReader(known), deps)
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
  return {
    store,
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
    async reloadOnChange(signal) {
      while (!signal.aborted) {
        await clock.sleep(reloadMs, signal)
        try {
          const found = await readYaml(path, files)
          if (JSON.stringify(found) === JSON.stringify(known)) continue
          const previous = current
          current = await usableProviders(encryptionConfig(new ConfigReader(found), deps), signal)
          known = found
          store.setRules(current.rules)
          await previous.tasks[Symbol.asyncDispose]()
          log.info('the encryption configuration was read again', { path })
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
