// `coxswain etcd` as a process: no acknowledged write is lost when it is killed, its flags, TLS with client certificates.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemRandom } from '../../src/base/random/random.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { Authority } from '../../src/pki/authority.ts'
import { nodeCrypto } from '../../src/platform/node/crypto.ts'
import { nodeHttp2 } from '../../src/platform/node/http/http2-client.ts'
import { EtcdStore } from '../../src/store/etcd/etcd-store.ts'
import { StoreUnavailable } from '../../src/store/store.ts'

const { signal } = new AbortController()
const root = fileURLToPath(new URL('../..', import.meta.url))
const directory = await mkdtemp(join(tmpdir(), 'coxswain-etcd-command-'))
after(() => rm(directory, { recursive: true, force: true }))

/** Starts the command and waits for its address. */
async function start(...flags: string[]): Promise<{ readonly child: ChildProcess; readonly address: string }> {
  const child = spawn(join(root, 'bin/coxswain'), ['etcd', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
  after(() => child.kill('SIGKILL'))
  let printed = ''
  const ready = Promise.withResolvers<string>()
  const take = (piece: Buffer) => {
    printed += piece.toString()
    const address = /^ready to serve client requests on (\S+)$/m.exec(printed)?.[1]
    if (address !== undefined) ready.resolve(address)
  }
  child.stdout?.on('data', take)
  child.stderr?.on('data', take)
  child.once('exit', () => ready.reject(new Error(`it ended: ${printed}`)))
  return { child, address: await ready.promise }
}

const deps = { http2: nodeHttp2, clock: realClock, random: systemRandom }
const open = (endpoint: string) => EtcdStore.open({ ...deps, endpoints: [endpoint] }, signal)
const anyPort = '--listen-client-urls=http://127.0.0.1:0'

test('no acknowledged write is lost when the process is killed', async () => {
  const data = join(directory, 'killed')
  const acknowledged = new Map<string, number>()
  const rounds = process.env['COXSWAIN_LONG'] === '1' ? 1_000 : 3
  for (let round = 0; round < rounds; round++) {
    const { child, address } = await start('--data-dir', data, anyPort)
    const store = await open(`http://${address}`)
    for (const [key, revision] of acknowledged) equal((await store.get(key, signal))?.modRevision, revision, key)
    const writesMax = 100 + systemRandom.below(400)
    let writes = 0
    const writer = async (name: number): Promise<void> => {
      for (let index = 0; ; index++) {
        const key = `/${round}/${name}/${index}`
        const operations = [{ kind: 'put', key, value: new Uint8Array(100) }] as const
        try {
          acknowledged.set(key, (await store.commit({ conditions: [], operations }, signal)).revision)
        } catch (error) {
          ok(error instanceof StoreUnavailable, String(error))
          return
        }
        if (++writes === writesMax) child.kill('SIGKILL')
      }
    }
    await Promise.all([writer(1), writer(2), writer(3), writer(4)])
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await store.close()
    // Later rounds check a sample.
    for (const key of [...acknowledged.keys()].slice(0, -500)) acknowledged.delete(key)
  }
})

test('it stops on SIGTERM, and continues with the same data and ids', async () => {
  const data = join(directory, 'stopped')
  const flags = ['--data-dir', data, anyPort, '--unsafe-no-fsync=true', '--listen-peer-urls=http://127.0.0.1:1']
  const first = await start(...flags)
  const store = await open(`http://${first.address}`)
  await store.commit({ conditions: [], operations: [{ kind: 'put', key: '/a', value: new Uint8Array() }] }, signal)
  await store.close()
  first.child.kill('SIGTERM')
  deepEqual(await once(first.child, 'exit'), [0, null])
  const second = await start(...flags)
  const again = await open(`http://${second.address}`)
  equal((await again.get('/a', signal))?.modRevision, 2)
  await again.close()
  second.child.kill('SIGKILL')
})

test('clients need a certificate of the trusted authority', async () => {
  const pki = { clock: realClock, random: systemRandom, crypto: nodeCrypto }
  const [authority, other] = [Authority.create('etcd-ca', pki), Authority.create('other-ca', pki)]
  const subject = { commonName: 'x', organizations: [] }
  const server = authority.issue({ subject, uses: ['server'], addresses: ['127.0.0.1'], dnsNames: [] })
  const files = { ca: authority.certificate, cert: server.certificate, key: server.key }
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content, { mode: 0o600 })
  const file = (name: string) => join(directory, name)
  const { child, address } = await start(
    '--store=memory',
    '--listen-client-urls=https://127.0.0.1:0',
    `--cert-file=${file('cert')}`,
    `--key-file=${file('key')}`,
    `--trusted-ca-file=${file('ca')}`,
    '--client-cert-auth',
  )
  const endpoints = [`https://${address}`]
  const opened = (issuer: Authority | undefined) => {
    const client = issuer?.issue({ subject, uses: ['client'] })
    const own = client === undefined ? {} : { certificate: client.certificate, key: client.key }
    return EtcdStore.open({ ...deps, endpoints, tls: { authority: authority.certificate, ...own } }, signal)
  }
  const store = await opened(authority)
  equal(await store.freshRevision(signal), 1)
  await store.close()
  await rejects(opened(undefined), /UNAUTHENTICATED: a client certificate of the trusted authority is required/)
  await rejects(opened(other), /UNAUTHENTICATED: a client certificate of the trusted authority is required/)
  child.kill('SIGKILL')
})
