// Starts and stops of a cluster in this process: its ports, and its flow record.
import { equal, match, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { flowRecordFile } from '../data-directory/directory-contents.ts'
import { up } from './up.ts'

test('the flow record is kept when a cluster stops; a port that is in use is reported with its flag', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'coxswain-up-'))
  await using ended = new AsyncDisposableStack()
  ended.defer(() => rm(dataDirectory, { recursive: true, force: true }))
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  ended.defer(() => void other.close())
  const { port: taken } = other.address() as AddressInfo
  const options = {
    dataDirectory,
    kubeconfigPath: join(dataDirectory, 'admin.kubeconfig'),
    store: { kind: 'sqlite' },
    host: '127.0.0.1',
    port: 0,
    nodes: 0,
    flowKept: 50,
    log: silentLog,
  } as const
  await (await up({ ...options, uiPort: 0 }))[Symbol.asyncDispose]()
  const [header, ...kept] = (await readFile(join(dataDirectory, flowRecordFile), 'utf8')).trim().split('\n')
  match(header ?? '', /^coxswain flow record /)
  equal(kept.length, 50)
  await rejects(up({ ...options, port: taken }), {
    message: `cannot listen on 127.0.0.1:${taken}; use --bind and --port for another address, --port 0 for any port`,
  })
  await rejects(up({ ...options, uiPort: taken }), {
    message: `cannot listen on 127.0.0.1:${taken} for the web UI; use --ui-port and --ui-bind`,
  })
})
