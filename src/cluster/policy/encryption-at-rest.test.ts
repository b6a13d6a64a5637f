// Encryption at rest with KMS plugins: a start without the plugin, and the reload of the configuration file.
import { equal, ok, rejects } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { DataKeyMetrics } from '../../apiserver/encryption/kms/data-key-metrics.ts'
import { FakePlugin } from '../../apiserver/encryption/kms/kms-plugin.harness.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { openEncryption } from './encryption-at-rest.ts'

const { signal } = new AbortController()
const minutesMax = 100
const path = '/registry/secrets/default/a'
const put = (store: Store, text: string) =>
  store.commit(
    { conditions: [], operations: [{ kind: 'put', key: path, value: new TextEncoder().encode(text) }] },
    signal,
  )
const textAt = async (store: Store) => new TextDecoder().decode((await store.get(path, signal))?.value)

const configOf = (...providers: readonly (readonly [name: string, plugin: FakePlugin])[]) =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      {
        resources: ['secrets'],
        providers: [
          ...providers.map(([name, { endpoint }]) => ({ kms: { apiVersion: 'v2', name, endpoint } })),
          { identity: {} },
        ],
      },
    ],
  })

async function harness(config: string, reloads: boolean) {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-encryption-'))
  const file = join(directory, 'encryption.yaml')
  await writeFile(file, config)
  const clock = new VirtualClock()
  const inner = new MemoryStore(clock)
  const errors: string[] = []
  const log = { ...silentLog, error: (message: string) => void errors.push(message) }
  const dataKeyMetrics = new DataKeyMetrics(new Metrics(), clock)
  const deps = { ...nodePlatform, random: systemRandom, clock, log, dataKeyMetrics }
  const encrypted = await openEncryption(inner, { path: file, isOptional: false }, deps, reloads)
  const tasks = new TaskGroup()
  tasks.start('reload', (stop) => encrypted.reloadOnChange(stop))
  return {
    encrypted,
    inner,
    clock,
    errors,
    configure: (text: string) => writeFile(file, text),
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]()
      await encrypted[Symbol.asyncDispose]()
      await rm(directory, { recursive: true })
    },
  }
}

test('the server starts without its plugin, and becomes healthy when the plugin does', async () => {
  await using plugin = await FakePlugin.start()
  await plugin.stop()
  await using cluster = await harness(configOf(['one', plugin]), false)
  const { encrypted, clock } = cluster
  await rejects(async () => encrypted.check?.check(signal), /KMS provider "one"/)
  await rejects(put(encrypted.store, 'x'), /there is no data encryption key yet/)
  const running = encrypted.runWhenHealthy(() => put(encrypted.store, 'x'), signal)
  await clock.advance('5s')
  await plugin.start()
  await clock.advance('5s')
  await running
  await encrypted.check?.check(signal)
  equal(await textAt(encrypted.store), 'x')
})

test('the health check exists only where a KMS provider is configured or can be added', async () => {
  await using fixed = await harness(configOf(), false)
  equal(fixed.encrypted.check, undefined)
  await using reloaded = await harness(configOf(), true)
  await reloaded.encrypted.check?.check(signal)
  equal(reloaded.encrypted.check?.name, 'kms-providers')
})

test('a new provider is used once its plugin is healthy; until then the old one is used', async () => {
  await using one = await FakePlugin.start()
  await using two = await FakePlugin.start()
  await two.stop()
  await using cluster = await harness(configOf(['one', one]), true)
  const { encrypted, inner, clock, configure } = cluster
  /** Advances the clock until the condition holds, because reading the file takes real time. */
  const passes = async (holds: () => boolean | Promise<boolean>) => {
    for (let minutes = 0; !(await holds()); minutes++) {
      ok(minutes < minutesMax, 'the file is read within minutes')
      await clock.advance('60s')
    }
  }
  const writesWith = async (name: string) => {
    await put(encrypted.store, 'x')
    return (await textAt(inner)).startsWith(`k8s:enc:kms:v2:${name}:`)
  }
  await configure(configOf(['two', two], ['one', one]))
  await passes(() => cluster.errors.some((message) => message.includes('the old one stays')))
  ok(await writesWith('one'))
  await two.start()
  await passes(() => writesWith('two'))
  equal(await textAt(encrypted.store), 'x')
})
