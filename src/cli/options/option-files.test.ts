// Options that name files and stores: what they read, and what is wrong with them.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { passphraseOf } from './passphrase.ts'
import { schedulerConfiguration } from './scheduler-config.ts'
import { storeChoiceOf } from './store-option.ts'

const directory = await mkdtemp(join(tmpdir(), 'coxswain-options-'))
after(() => rm(directory, { recursive: true }))

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, text)
  return path
}

test('the passphrase is the first line of a file, or a variable of the environment', async () => {
  equal(await passphraseOf(undefined, {}), undefined)
  equal(await passphraseOf(undefined, { COXSWAIN_PASSPHRASE: 'long enough' }), 'long enough')
  equal(await passphraseOf(await file('passphrase', 'from the file\r\nmore'), {}), 'from the file')
})

test('a short passphrase and a file that cannot be read are errors that name their source', async () => {
  await rejects(passphraseOf(undefined, { COXSWAIN_PASSPHRASE: 'short' }), {
    message: 'COXSWAIN_PASSPHRASE: the passphrase must have at least 8 characters',
  })
  const empty = await file('empty', '')
  await rejects(passphraseOf(empty, {}), {
    message: `--passphrase-file ${empty}: the passphrase must have at least 8 characters`,
  })
  const missing = join(directory, 'missing')
  await rejects(passphraseOf(missing, {}), (error: Error) =>
    error.message.startsWith(`--passphrase-file ${missing} cannot be read: ENOENT`),
  )
})

test('the configuration of the scheduler is read from a file', async () => {
  deepEqual(await schedulerConfiguration('--scheduler-config', undefined), {})
  const path = await file(
    'scheduler.yaml',
    'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 4\n',
  )
  equal((await schedulerConfiguration('--scheduler-config', path)) instanceof Object, true)
  const wrong = await file('wrong.yaml', 'kind: Pod\n')
  await rejects(schedulerConfiguration('--scheduler-config', wrong), (error: Error) =>
    error.message.startsWith(`--scheduler-config ${wrong}: `),
  )
})

test('a store is chosen by its name', () => {
  deepEqual(storeChoiceOf({}), { kind: 'sqlite' })
  deepEqual(storeChoiceOf({ store: 'memory' }), { kind: 'memory' })
  deepEqual(storeChoiceOf({ store: 'etcd=https://10.0.0.1:2379,http://localhost:2379', 'etcd-cafile': 'ca' }), {
    kind: 'etcd',
    endpoints: ['https://10.0.0.1:2379', 'http://localhost:2379'],
    tlsPaths: { authority: 'ca', certificate: undefined, key: undefined },
  })
})

const wrongStores: readonly (readonly [flags: Parameters<typeof storeChoiceOf>[0], message: string])[] = [
  [{ store: 'files' }, '--store files is none of memory, sqlite, etcd=<urls>'],
  [{ store: 'etcd=https://a:1', 'etcd-certfile': 'c' }, '--etcd-certfile and --etcd-keyfile belong together'],
  [{ store: 'etcd=10.0.0.1:2379' }, '--store etcd: "10.0.0.1:2379" is not like https://10.0.0.1:2379'],
  [{ store: 'etcd=https://a:1/x' }, '--store etcd: "https://a:1/x" is not like https://10.0.0.1:2379'],
  [
    { store: 'etcd=http://10.0.0.1:2379' },
    '--store etcd: http://10.0.0.1:2379: without TLS only an etcd on this machine is used',
  ],
]
for (const [flags, message] of wrongStores)
  test(`the store ${JSON.stringify(flags)} is rejected`, () => throws(() => storeChoiceOf(flags), { message }))
