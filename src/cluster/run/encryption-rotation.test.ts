// The key of encryption at rest is replaced in a cluster that runs: what is stored, what is read, and what a start needs.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { secret } from '../../api/core/v1/secret.ts'
import type { Client } from '../../client/client.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { openRemote } from '../client/remote.ts'
import { openStore } from '../data-directory/open-store.ts'
import { findServerFile, readServerFile } from '../data-directory/server-files.ts'
import { retireEncryptionKeys, rotateEncryptionKey } from '../rotation/rotate-encryption-key.ts'
import { up } from './up.ts'
import type { UpOptions } from './up-options.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const namespace = 'default'

async function newDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'coxswain-encryption-'))
  const configPath = join(path, 'pki/encryption-config.yaml')
  const start = async (policyFlags: UpOptions['policyFlags'] = {}) => {
    const running = await up({
      dataDirectory: path,
      kubeconfigPath: join(path, 'admin.kubeconfig'),
      store: { kind: 'sqlite' },
      host: '127.0.0.1',
      port: 0,
      nodes: 0,
      isAlone: true,
      policyFlags,
      log: silentLog,
    })
    const remote = await openRemote(await readFile(join(path, 'admin.kubeconfig'), 'utf8'), signal)
    return {
      client: remote.clientAs('test'),
      async [Symbol.asyncDispose]() {
        await remote.close()
        await running[Symbol.asyncDispose]()
      },
    }
  }
  const deps = async (client: Client) => {
    const names = ['ca.key', 'encryption-config.yaml']
    const found = await Promise.all(names.map(async (name) => [name, await findServerFile(path, name)] as const))
    return {
      client,
      clock: realClock,
      random: systemRandom,
      crypto: nodePlatform.crypto,
      initial: Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined)),
      onProgress: () => {},
      parseYaml: (text: string): unknown => parse(text),
      force: false,
    }
  }
  /** Of each Secret, by its name, what marks how it is stored. */
  const prefixes = async () => {
    const store = await openStore({ kind: 'sqlite' }, path)
    try {
      const { items } = await store.range(
        { start: '/registry/secrets/default/', end: '/registry/secrets/default0' },
        signal,
      )
      return items.map(
        ({ value }) => /^k8s:enc:[^:]+:v1:[^:]+:/.exec(new TextDecoder('latin1').decode(value))?.[0] ?? '',
      )
    } finally {
      await store.close()
    }
  }
  return {
    path,
    configPath,
    start,
    deps,
    prefixes,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

const create = (client: Client, name: string) =>
  client.of(secret).create({ metadata: { name }, data: { a: btoa(name) } }, namespace, ctx)

const names = async (client: Client) => {
  const { items } = await client.of(secret).list({ namespace }, ctx)
  for (const { metadata, data } of items) equal(atob(data?.['a'] ?? ''), metadata.name)
  return items.map(({ metadata }) => metadata.name)
}

test('Secrets are encrypted while a cluster runs, and the key is replaced and retired', async () => {
  await using directory = await newDirectory()
  {
    await using cluster = await directory.start()
    const { client } = cluster
    await create(client, 'before')
    await client.of(configMap).create({ metadata: { name: 'plain' } }, namespace, ctx)
    equal(await findServerFile(directory.path, 'encryption-config.yaml'), undefined)
    equal(await retireEncryptionKeys(await directory.deps(client), signal), 0)
    const { isFirst, failures } = await rotateEncryptionKey(await directory.deps(client), signal)
    deepEqual({ isFirst, failures }, { isFirst: true, failures: [] })
    await create(client, 'later')
    deepEqual(await names(client), ['before', 'later'])
  }
  const [first = ''] = await directory.prefixes()
  match(first, /^k8s:enc:secretbox:v1:key-\d+-[0-9a-f]{8}:$/)
  deepEqual(await directory.prefixes(), [first, first])
  const firstConfig = await readServerFile(directory.path, 'encryption-config.yaml')
  {
    await using cluster = await directory.start()
    const { client } = cluster
    const versionOf = async () => (await client.of(secret).get('before', namespace, ctx)).metadata.resourceVersion
    const old = await versionOf()
    const { isFirst, objects, failures } = await rotateEncryptionKey(await directory.deps(client), signal)
    deepEqual({ isFirst, failures }, { isFirst: false, failures: [] })
    ok(objects >= 2)
    ok((await versionOf()) !== old, 'it was stored again')
    deepEqual(await names(client), ['before', 'later'])
  }
  const [second = ''] = await directory.prefixes()
  ok(second !== first)
  deepEqual(await directory.prefixes(), [second, second])
  // As on a server that did not run while the key was replaced.
  await writeFile(directory.configPath, firstConfig)
  {
    await using cluster = await directory.start()
    const { client } = cluster
    deepEqual(await names(client), ['before', 'later'])
    const { resourceVersion } = (await client.of(secret).get('later', namespace, ctx)).metadata
    equal(await retireEncryptionKeys(await directory.deps(client), signal), 1)
    const late = await client.of(secret).get('later', namespace, ctx)
    equal(late.metadata.resourceVersion, resourceVersion, 'what has the present key is not written')
    equal(await retireEncryptionKeys(await directory.deps(client), signal), 0)
  }
  const config = await readServerFile(directory.path, 'encryption-config.yaml')
  ok(config.includes(second.split(':')[4] ?? ''))
  ok(!config.includes(first.split(':')[4] ?? ''))
  await using again = await directory.start()
  deepEqual(await names(again.client), ['before', 'later'])
})

test('a configuration that a flag names is replaced by its owner', async () => {
  await using directory = await newDirectory()
  const own = join(directory.path, 'own.yaml')
  const secretText = new Uint8Array(32).toBase64()
  await writeFile(
    own,
    `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources: [{ resources: [secrets], providers: [{ aesgcm: { keys: [{ name: a, secret: "${secretText}" }] } }, { identity: {} }] }]
`,
  )
  {
    await using cluster = await directory.start({ 'encryption-provider-config': own })
    const deps = await directory.deps(cluster.client)
    const message =
      /^Error: the encryption configuration on .* is the file that --encryption-provider-config names: replace its keys there$/
    await rejects(rotateEncryptionKey(deps, signal), message)
    await rejects(retireEncryptionKeys(deps, signal), message)
  }
  {
    await using cluster = await directory.start()
    await rotateEncryptionKey(await directory.deps(cluster.client), signal)
  }
  await rejects(
    directory.start({ 'encryption-provider-config': own }),
    /is replaced by coxswain rotate encryption-key: start without --encryption-provider-config/,
  )
})

test('a start fails where the keys are missing, or a file of others has their name', async () => {
  await using directory = await newDirectory()
  {
    await using cluster = await directory.start()
    await rotateEncryptionKey(await directory.deps(cluster.client), signal)
  }
  await rm(directory.configPath)
  await (await directory.start())[Symbol.asyncDispose]() // from the copy
  const store = await openStore({ kind: 'sqlite' }, directory.path)
  await store.commit({ conditions: [], operations: [{ kind: 'delete', key: '/coxswain/server-files' }] }, signal)
  await store.close()
  await rm(directory.configPath)
  await rejects(directory.start(), /encryption-config\.yaml/)

  await using other = await newDirectory()
  await mkdir(join(other.path, 'pki'))
  await writeFile(other.configPath, 'of others')
  await rejects(
    other.start(),
    /encryption-config\.yaml was there before the cluster; use it with --encryption-provider-config/,
  )
})
