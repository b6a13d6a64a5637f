// coxswain registry as it is typed: what it prints, and what it publishes in the cluster of its data directory.
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import { silentLog } from '../../base/observability/log.ts'
import { connect } from '../../cluster/client/connect.ts'
import { up } from '../../cluster/run/up.ts'
import { typed } from './typed.harness.ts'

/** Runs until a part of its output appears. */
async function runUntil(args: readonly string[], expected: RegExp) {
  const interrupt = new AbortController()
  const onOutput = (printed: string) => expected.test(printed) && interrupt.abort(new Error('interrupted'))
  return typed(['registry', ...args], {}, onOutput, interrupt.signal)
}

test('it publishes its address in the cluster of the data directory, and in no other', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-registry-'))
  const data = join(directory, 'data')
  try {
    const alone = await runUntil(['--port', '0', '--data-dir', data], /^ready at/)
    equal(alone.code, 0)
    match(alone.printed, /^ready at http:\/\/localhost:\d+, until Ctrl-C\. Images are in \S+\/data\/registry\.\n/)
    await using _ = await up({
      dataDirectory: data,
      kubeconfigPath: join(data, 'admin.kubeconfig'),
      store: { kind: 'memory' },
      host: '127.0.0.1',
      port: 0,
      log: silentLog,
      nodes: 0,
      isAlone: true,
    })
    // Twice: another start replaces the address of an earlier one.
    for (const _start of [1, 2]) {
      const { code, printed, complained } = await runUntil(
        ['--port', '0', '--data-dir', data],
        /local-registry-hosting/,
      )
      deepEqual([code, complained], [0, ''])
      const [, host = ''] = /^ready at http:\/\/(localhost:\d+),/.exec(printed) ?? []
      await using connection = await connect(join(data, 'admin.kubeconfig'))
      const published = await connection.client.of(configMap).get('local-registry-hosting', 'kube-public')
      deepEqual(published.data, { 'localRegistryHosting.v1': `host: "${host}"\n` })
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

const mistakes: [args: string[], message: RegExp][] = [
  [['--port', 'http'], /--port "http" is not a number from 0 to 65535/],
  [['--max-gigabytes', '0'], /--max-gigabytes "0" is not a number above 0/],
  [['--max-gigabytes', 'all'], /--max-gigabytes "all" is not a number above 0/],
  [['serve'], /unexpected argument "serve"/],
]
for (const [args, message] of mistakes)
  test(`registry ${args.join(' ')} is an error`, async () => {
    const { code, complained } = await typed(['registry', ...args], {})
    equal(code, 2)
    match(complained, message)
  })
