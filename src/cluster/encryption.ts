// Encryption at rest: the store behind the ciphers that a file names, and the file read again while it runs.
import { errorText, type Log } from '../base/log.ts'
import type { Clock } from '../base/clock.ts'
import { ConfigReader } from '../apiserver/config-reader.ts'
import { EncryptedStore } from '../apiserver/encryption/encrypted-store.ts'
import { encryptionConfig } from '../apiserver/encryption/encryption-config.ts'
import type { CipherParts } from '../apiserver/encryption/value-cipher.ts'
import type { Files } from '../platform/files.ts'
import type { Store } from '../store/store.ts'
import { readYaml } from './flag-values.ts'

export interface EncryptionParts extends CipherParts {
  readonly files: Files
  readonly clock: Clock
  readonly log: Log
}

const reloadMs = 60_000

export interface Encryption {
  readonly store: Store
  /** Looks for changes of the file until the signal ends it. */
  follow(signal: AbortSignal): Promise<void>
}

export async function encryption(inner: Store, path: string, parts: EncryptionParts): Promise<Encryption> {
  const { files, clock, log } = parts
  let known = await readYaml(path, files)
  const store = new EncryptedStore(inner, encryptionConfig(new ConfigReader(known), parts))
  return {
    store,
    async follow(signal) {
      while (!signal.aborted) {
        await clock.sleep(reloadMs, signal)
        try {
          const found = await readYaml(path, files)
          if (JSON.stringify(found) === JSON.stringify(known)) continue
          known = found
          store.use(encryptionConfig(new ConfigReader(found), parts))
          log.info('the encryption configuration was read again', { path })
        } catch (error) {
          log.error('the encryption configuration cannot be used; the old one stays', { path, error: errorText(error) })
        }
      }
    },
  }
}
