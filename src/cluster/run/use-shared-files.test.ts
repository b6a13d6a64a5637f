// A server takes over published files: its data directory has them, and its keys are replaced while it runs.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { AccountKeys } from '../../apiserver/authentication/account-keys.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { accountKeysIn, accountKeyText } from '../certificates/account-key-file.ts'
import { usedVersionAnnotation } from '../rotation/follow-shared-files.ts'
import { initial } from '../rotation/rotation.harness.ts'
import { findSharedFiles, publishSharedFiles } from '../rotation/shared-files.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { useFilesCopy, useSharedFiles } from './use-shared-files.ts'

const ctx = context(new AbortController().signal)

test('published files are stored and used: keys when they change, the authorities only if they differ', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client } = cluster
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-shared-'))
  const stop = new AbortController()
  const steps: string[] = []
  const plainStore = new MemoryStore(new VirtualClock())
  let confirmed = Promise.withResolvers<void>()
  const accountKeys = new AccountKeys(accountKeysIn(initial['sa.key'] ?? '', nodeCrypto), nodeCrypto)
  try {
    await mkdir(join(directory, 'pki'))
    for (const [name, content] of Object.entries(initial)) await writeFile(join(directory, 'pki', name), content)
    const annotate = (annotations: Readonly<Record<string, string>>) => {
      steps.push(`version ${annotations[usedVersionAnnotation]}`)
      confirmed.resolve()
      return Promise.resolve()
    }
    const running = useSharedFiles(
      {
        client,
        identity: { annotate } as unknown as Parameters<typeof useSharedFiles>[0]['identity'],
        directory,
        accountKeys,
        useAuthorities: () => Promise.resolve(void steps.push('authorities')),
        useEncryption: () => Promise.resolve(void steps.push('encryption')),
        plainStore,
        log: silentLog,
      },
      stop.signal,
    )
    const publish = async (files: Readonly<Record<string, string>>) => {
      confirmed = Promise.withResolvers()
      const deps = { crypto: nodeCrypto, random: seededRandom(1), authorityKeys: [initial['ca.key'] ?? ''] }
      await publishSharedFiles(client, await findSharedFiles(client, ctx), files, deps, ctx)
      await confirmed.promise
    }
    const next = accountKeyText({ signing: nodeCrypto.generateKey(), accepted: [] })
    await publish({ 'sa.key': next })
    equal(await readFile(join(directory, 'pki/sa.key'), 'utf8'), next)
    const { signingId } = new AccountKeys(accountKeysIn(next, nodeCrypto), nodeCrypto)
    equal(accountKeys.signingId, signingId)

    const authority = `${initial['ca.crt']}${initial['front-proxy-ca.crt']}`
    await publish({ 'sa.key': next, 'ca.crt': authority })
    equal(await readFile(join(directory, 'pki/ca.crt'), 'utf8'), authority)
    await publish({ 'ca.crt': authority })
    equal(accountKeys.signingId, signingId)
    deepEqual(steps, ['version 1', 'authorities', 'version 2', 'version 3'])
    await publish({ 'encryption-config.yaml': 'a' })
    deepEqual(steps.slice(3), ['version 3', 'encryption', 'version 4'])
    // A server that did not run meanwhile takes it from the copy, with the key of its CA only.
    const config = join(directory, 'pki/encryption-config.yaml')
    equal(await readFile(config, 'utf8'), 'a')
    await rm(config)
    equal(await useFilesCopy(directory, plainStore, silentLog), true)
    equal(await readFile(config, 'utf8'), 'a')
    await writeFile(join(directory, 'pki/ca.key'), initial['front-proxy-ca.key'] ?? '')
    equal(await useFilesCopy(directory, plainStore, silentLog), false)
    equal(await useFilesCopy(directory, new MemoryStore(new VirtualClock()), silentLog), false)
    stop.abort()
    await rejects(running, { name: 'AbortError' })
  } finally {
    stop.abort()
    await rm(directory, { recursive: true })
  }
})
