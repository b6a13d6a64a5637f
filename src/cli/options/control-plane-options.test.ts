import { deepEqual, equal, rejects } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { controlPlaneChoicesOf } from './control-plane-options.ts'

test('without flags, no further kinds are installed, and the scheduler has its own configuration', async () => {
  const { hasGatewayApi, hasVolumeSnapshots, schedulerConfiguration } = await controlPlaneChoicesOf({})
  deepEqual([hasGatewayApi, hasVolumeSnapshots, schedulerConfiguration], [false, false, {}])
})

test('flags are passed on', async () => {
  const options = { 'gateway-api': true, 'volume-snapshots': true, 'cluster-signing-duration': '1h' }
  const { hasGatewayApi, hasVolumeSnapshots, signingDuration } = await controlPlaneChoicesOf(options)
  deepEqual([hasGatewayApi, hasVolumeSnapshots, signingDuration], [true, true, '1h'])
})

test('a configuration of the scheduler that cannot be read is named', () =>
  rejects(controlPlaneChoicesOf({ 'scheduler-config': '/none' }), /^UsageError: --scheduler-config \/none: ENOENT/))

const folder = await mkdtemp(join(tmpdir(), 'coxswain-options-'))
after(() => rm(folder, { recursive: true, force: true }))
const phrase = join(folder, 'phrase')
await writeFile(phrase, 'correct horse\n')
const short = join(folder, 'short')
await writeFile(short, 'horse\n')

test('without an interval no snapshots are taken', async () =>
  equal((await controlPlaneChoicesOf({})).snapshots, undefined))

test('scheduled snapshots have an interval, a number, a folder and a passphrase', async () => {
  const options = { 'snapshot-every': '12h' }
  const defaults = { everyMs: 43_200_000, keep: 5, folder: undefined, passphrase: undefined }
  deepEqual((await controlPlaneChoicesOf(options)).snapshots, defaults)
  const all = { ...options, 'snapshot-keep': '2', 'snapshot-dir': folder, 'snapshot-passphrase-file': phrase }
  deepEqual((await controlPlaneChoicesOf(all)).snapshots, {
    ...defaults,
    ...{ keep: 2, folder, passphrase: 'correct horse' },
  })
})

const every = { 'snapshot-every': '12h' }
const refusals: readonly [options: Readonly<Record<string, string>>, message: RegExp][] = [
  [{ 'snapshot-every': 'daily' }, /^UsageError: --snapshot-every "daily" is not a duration from 1m to 8784h/],
  [{ 'snapshot-every': '59s' }, /--snapshot-every "59s" is not a duration from 1m/],
  [{ 'snapshot-every': '8785h' }, /--snapshot-every "8785h" is not a duration from 1m to 8784h/],
  [{ 'snapshot-keep': '3' }, /^UsageError: --snapshot-keep needs --snapshot-every/],
  [{ 'snapshot-dir': folder }, /^UsageError: --snapshot-dir needs --snapshot-every/],
  [{ 'snapshot-passphrase-file': phrase }, /^UsageError: --snapshot-passphrase-file needs --snapshot-every/],
  [{ ...every, 'snapshot-keep': '0' }, /^UsageError: --snapshot-keep "0" is not a number from 1 to 1000/],
  [{ ...every, 'snapshot-passphrase-file': '/none' }, /--snapshot-passphrase-file \/none cannot be read: ENOENT/],
  [{ ...every, 'snapshot-passphrase-file': short }, /--snapshot-passphrase-file \S+short: the passphrase must have at/],
]
for (const [options, message] of refusals)
  test(`${JSON.stringify(options)} is refused`, () => rejects(controlPlaneChoicesOf(options), message))
